package constraint

import "strings"

// chosen returns where a choice ends that clause c, the first of rest, begins: use
// pnpm, not npm; prefer rg over grep. It is 0 if there is none. Only tools and what
// is said to hold everywhere are chosen for good; "use a map, not a slice" is how
// one task is done.
func chosen(rest [][]word, c []word) int {
	if !among(c[0].low, "use", "prefer", "choose", "take") && !starts(c, "go", "with") && !starts(c, "stick", "to") && !starts(c, "stick", "with") {
		return 0
	}
	other := -1
	for i := range c {
		switch {
		case i > 1 && among(c[i].low, "not", "never", "over"):
			other = i + 1
		case i > 1 && (starts(c[i:], "instead", "of") || starts(c[i:], "rather", "than") || starts(c[i:], "and", "not")):
			other = i + 2
		}
	}
	last := c
	switch {
	case other > 0 && other < len(c):
		if isTool(c[other].low) && toolAmong(c[:other]) || everywhere(c) {
			return c[len(c)-1].end
		}
		return 0
	case len(rest) > 1 && len(rest[1]) > 1 && among(rest[1][0].low, "not", "never"):
		last = rest[1]
		if among(last[1].low, "the", "a", "for", "in", "to") && !everywhere(last) {
			return 0
		}
	default:
		return 0
	}
	if isTool(last[1].low) && toolAmong(c) || everywhere(last) {
		return last[len(last)-1].end
	}
	return 0
}

// isTool knows what one works with: programs, packages, and what is between
// backticks.
func isTool(word string) bool {
	switch word {
	case "bun", "deno", "node", "rg", "ripgrep", "grep", "ag", "fd", "find", "uv", "conda", "maven", "gradle", "bazel", "just", "ninja", "vitest",
		"jest", "mocha", "pytest", "unittest", "tox", "cargo", "git", "svn", "vim", "bash", "zsh", "fish", "powershell", "tabs", "spaces",
		"python3", "python2", "python", "composer", "bundler", "rake", "sbt", "swiftpm", "cocoapods", "biome", "rome", "tsc", "swc", "vite":
		return true
	}
	return isProgram(word) || isKnownPackage(word) || strings.HasPrefix(word, string(rune(code)))
}

func toolAmong(c []word) bool {
	for _, w := range c[:min(len(c), 4)] {
		if isTool(w.low) {
			return true
		}
	}
	return false
}

// everywhere reports whether a clause says that it holds beyond one place.
func everywhere(c []word) bool {
	return has(c, "everywhere") > 0 || has(c, "throughout") > 0 || has(c, "for", "everything") > 0 || has(c, "for", "anything") > 0 ||
		has(c, "in", "this", "repo") > 0 || has(c, "in", "this", "project") > 0 || has(c, "in", "this", "codebase") > 0
}

// madeOf reports whether a clause says of the work what it must not be made of: it
// must not be written in Perl.
func madeOf(c []word) bool {
	for i := 1; i < len(c) && i < 5; i++ {
		n := forbidding(c[i:])
		if n == 0 || among(c[i].low, "is", "are", "isn't", "aren't") {
			continue
		}
		verb := low(c, i+n)
		if verb == "be" {
			return among(low(c, i+n+1), "written", "implemented", "built", "done", "coded", "based", "made") && among(low(c, i+n+2), "in", "with", "using", "on", "as")
		}
		return among(verb, "use", "need", "require", "import", "pull") && isTool(low(c, i+n+1))
	}
	return false
}

// puzzles reports whether clause c only says how things are, for what comes behind
// it finds that strange: we never use the network here, so it is odd that ...
func puzzles(c []word, behind [][]word) bool {
	if !among(c[0].low, "we", "nobody", "nothing", "no", "never", "it") {
		return false
	}
	for _, b := range behind {
		if b[0].low == "since" && c[0].low == "no" { // no changes since Monday
			return true
		}
		for _, w := range b {
			if among(w.low, "strange", "odd", "weird", "surprising", "surprised", "puzzled", "puzzling", "confusing", "confused", "unexpected", "wonder", "wondering", "suspicious", "yet") {
				return true
			}
		}
	}
	return false
}
