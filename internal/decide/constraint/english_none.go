package constraint

// isNoun knows what "no ..." may forbid.
func isNoun(word string) bool {
	switch word {
	case "new", "extra", "additional", "further", "other", "unnecessary", "unrelated", "dependencies", "dependency", "deps", "packages",
		"package", "libraries", "library", "network", "internet", "access", "calls", "changes", "change", "commits", "commit",
		"pushes", "push", "edits", "modifications", "refactoring", "refactorings", "refactors", "renames", "generics", "cgo", "mocks",
		"mocking", "globals", "reflection", "migrations", "migration", "deletions", "deletes", "sudo", "force-push", "force-pushes",
		"comments", "regex", "regexes", "regexps", "unsafe", "panics", "todo", "todos", "hacks", "workarounds", "shortcuts",
		"frameworks", "framework", "downloads", "installs", "macros", "exceptions", "rewrites", "sql", "orm", "javascript",
		"typescript", "python", "cdn", "http", "https", "web", "online", "external", "third-party", "breaking", "behavior",
		"behaviour", "api", "style", "formatting", "whitespace", "drive-by", "casts", "goroutines", "threads", "async", "singletons",
		"inheritance", "classes", "inline", "placeholder", "placeholders", "stubs", "deploys", "deployments", "releases", "merges",
		"rebases", "squashing", "amending", "branches", "plugins", "upgrades", "bumps", "eval", "exec", "shell", "scripts", "secrets",
		"credentials", "print", "prints", "statements", "recursion", "abstractions", "abstraction", "loops", "lambdas", "decorators", "emojis", "emoji",
		"metaprogramming", "magic", "tricks", "boilerplate", "wrappers", "helpers", "semicolons", "logging", "sleeps", "subprocesses", "polyfills",
		"side-effects", "overengineering", "over-engineering", "cleverness", "pointers", "closures", "streams", "hooks":
		return true
	}
	return false
}

// nothingOf reports whether a clause that begins with "no" forbids.
func nothingOf(c []word) bool {
	if isGerund(low(c, 1)) && len(c) > 2 {
		return true
	}
	if has(c, "since") > 0 || has(c, "so", "far") > 0 {
		return false
	}
	if low(c, 1) == "more" && low(c, 2) == "than" {
		return fileLast(c) || has(c, "commits") > 0 || has(c, "lines") > 0 || small(c)
	}
	for i, w := range c[1:] {
		if among(w.low, "is", "are", "was", "were", "has", "have", "do", "does", "did", "can", "will", "i", "we", "need", "problem", "idea", "worries", "longer", "matter", "one", "doubt", "reason", "rush", "hurry", "way", "wonder", "thanks", "tests", "luck") {
			return i > 1 && among(w.low, "is", "are", "can", "may") && allowedAt(c, i+1)
		}
	}
	for i, w := range c {
		switch {
		case i > 0 && i < 5 && (isNoun(w.low) || isGerund(w.low) || isKnownPackage(w.low) || isTool(w.low) || w.low[0] == code):
			return true
		case i > 1 && among(w.low, "allowed", "permitted", "whatsoever", "please"):
			return true
		}
	}
	return false
}

// allowedAt reports whether the words from c[i] on say that something is allowed.
func allowedAt(c []word, i int) bool {
	for _, w := range c[min(i, len(c)):] {
		if among(w.low, "allowed", "permitted", "changed", "touched", "modified", "added", "edited", "deleted", "removed", "introduced", "used", "acceptable") {
			return true
		}
	}
	return false
}
