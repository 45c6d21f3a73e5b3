package constraint

import "strings"

// isVerb knows what the user may forbid or ask for, in the form that an imperative
// has.
func isVerb(word string) bool {
	switch word {
	case "touch", "modify", "change", "edit", "alter", "update", "rewrite", "refactor", "reformat", "format", "overwrite", "replace",
		"adjust", "tweak", "delete", "remove", "drop", "truncate", "erase", "wipe", "purge", "clear", "clean", "unlink", "trash",
		"discard", "run", "execute", "call", "invoke", "start", "launch", "restart", "stop", "kill", "trigger", "use", "apply", "push",
		"commit", "merge", "rebase", "squash", "amend", "revert", "reset", "stash", "tag", "release", "publish", "deploy", "ship",
		"force-push", "switch", "checkout", "cherry-pick", "pull", "fetch", "clone", "branch", "add", "introduce", "install", "import",
		"include", "require", "upgrade", "downgrade", "bump", "vendor", "pin", "rename", "move", "copy", "create", "write", "generate",
		"make", "open", "read", "look", "view", "access", "inspect", "print", "log", "show", "expose", "leak", "send", "upload",
		"download", "connect", "contact", "query", "break", "bypass", "skip", "disable", "enable", "ignore", "mock", "stub",
		"hardcode", "hard-code", "inline", "extract", "invent", "guess", "assume", "rely", "depend", "mess", "fiddle", "comit", "tuch",
		"modifiy", "chnage", "delte", "isntall", "instal", "edti", "rm", "sudo", "migrate", "test", "lint", "build", "compile":
		return true
	}
	return isRareVerb(word)
}

// isRareVerb knows verbs that users forbid now and then. None is a noun that often
// follows "and".
func isRareVerb(word string) bool {
	switch word {
	case "restructure", "reorganize", "reorganise", "rearrange", "reorder", "reindent", "rewire", "rework", "redo", "restyle", "modernize",
		"modernise", "simplify", "optimize", "optimise", "convert", "translate", "split", "combine", "consolidate", "deduplicate", "strip",
		"uncomment", "suppress", "silence", "mute", "override", "circumvent", "weaken", "loosen", "relax", "tamper", "meddle", "interfere",
		"disturb", "clobber", "manipulate", "mutate", "patch", "hack", "undo", "restore", "recreate", "regenerate", "reinstall", "rebuild",
		"recompile", "rerun", "re-run", "uninstall", "terminate", "cancel", "abort", "prune", "nuke", "destroy", "corrupt", "relocate",
		"transfer", "archive", "store", "save", "persist", "dump", "export", "share", "disclose", "reveal", "post", "submit", "email",
		"scrape", "crawl", "ping", "authenticate", "provision", "spawn", "fork", "implement", "develop", "document", "annotate", "cast",
		"swallow", "hide", "fake", "simulate", "fabricate", "toggle", "swap", "redirect", "expand", "extend", "insert", "append", "embed",
		"paste", "duplicate", "sync", "register", "deprecate", "populate", "allocate", "exceed", "lower", "retry", "rotate",
		"encrypt", "decrypt", "cat", "peek", "untrack", "unstage", "redeploy", "promote":
		return true
	}
	return false
}

// isGerund reports whether a word is one of the verbs with -ing.
func isGerund(word string) bool { return stem(word, "ing") != "" }

// isParticiple reports whether a word is one of the verbs as what was done to
// something.
func isParticiple(word string) bool {
	switch word {
	case "written", "rewritten", "overwritten", "run", "made", "broken", "sent", "read", "reset", "shown", "built", "hidden", "taken", "given",
		"put", "done", "left", "cut", "kept":
		return true
	}
	return stem(word, "ed") != ""
}

// infinitive returns the verb that a word is a form of, "" if it is of none.
func infinitive(word string) string {
	if isVerb(word) {
		return word
	}
	if verb := stem(word, "ing"); verb != "" {
		return verb
	}
	return stem(word, "ed")
}

// stem returns the verb that has an ending, by the rules of spelling: running,
// using, copied.
func stem(word, ending string) string {
	body, ok := strings.CutSuffix(word, ending)
	if !ok || len(body) < 2 {
		return ""
	}
	if isVerb(body) {
		return body
	}
	if isVerb(body + "e") {
		return body + "e"
	}
	n := len(body)
	if body[n-1] == body[n-2] && isVerb(body[:n-1]) {
		return body[:n-1]
	}
	if verb := strings.TrimSuffix(body, "i") + "y"; ending == "ed" && body[n-1] == 'i' && isVerb(verb) {
		return verb
	}
	return ""
}

func imperative(w string) bool { return isVerb(w) }

// isIdle knows the verbs that, negated, calm or remind the reader, or say how things
// are, rather than forbid.
func isIdle(word string) bool {
	switch word {
	case "worry", "forget", "hesitate", "bother", "mind", "panic", "fret", "think", "know", "need", "have", "want", "care", "feel",
		"get", "be", "see", "believe", "expect", "understand", "remember", "mean", "seem", "feed", "track", "matter", "exist", "blame",
		"stress", "sweat", "wait", "you", "we", "i", "they", "it", "he", "she", "the", "a", "an", "give", "ask", "tell", "help", "try",
		"appear", "belong", "cost", "fit", "happen", "hear", "hold", "last", "look-like", "love", "hate", "like", "prefer", "own",
		"recall", "recognise", "recognize", "remain", "sound", "suffer", "suppose", "wonder", "wish", "work", "return", "returns",
		"throws", "fail", "fails", "too", "so", "to", "any", "all", "only", "just", "that", "this", "there", "has", "had", "is", "are",
		"was", "were", "been", "being", "can", "could", "will", "would", "should", "shall", "may", "might", "must", "doubt", "hurry",
		"thank", "stop", "listen", "overthink":
		return true
	}
	return false
}

// isAdverb knows what may stand between a negation and its verb.
func isAdverb(word string) bool {
	switch word {
	case "ever", "also", "just", "even", "yet", "simply", "please", "actually", "directly", "automatically", "blindly", "accidentally",
		"silently", "manually", "under", "any", "circumstances", "by", "accident", "again", "still", "really", "absolutely", "ever,",
		"in", "case":
		return true
	}
	return false
}
