package constraint

// inside returns where in a clause a constraint begins that its first words do not
// show, and its kind; -1 if there is none.
func inside(c []word) (at int, kind Kind) {
	for i, w := range c {
		switch w.low {
		case "without", "w/o":
			if i > 0 && (isGerund(low(c, i+1)) || isShunned(low(c, i+1)) || among(low(c, i+1), "any", "new", "a", "using") && isShunned(low(c, i+2))) && asked(c[:i]) {
				return i, Forbid
			}
		case "except", "besides", "apart":
			if i > 1 && isGerund(low(c, i+1)) && (has(c[:i], "anything") > 0 || has(c[:i], "whatever") > 0 || has(c[:i], "everything") > 0) && among(c[0].low, "do", "you", "feel", "change") {
				return i, Forbid
			}
			if i > 1 && among(c[i-1].low, "anything", "everything", "all", "files", "code") && (asked(c[:i]) && !among(c[0].low, "move", "copy", "run", "delete", "remove", "rename", "rebuild", "build") || among(c[0].low, "you", "feel", "free")) {
				return i, Forbid
			}
		case "with":
			if low(c, i+1) == "no" && among(low(c, i+2), "edits", "changes", "modifications", "new", "additional", "extra", "further", "refactoring", "renames", "breaking") && (i == 0 || asked(c[:i]) || among(c[0].low, "i", "i'd")) {
				return i, Forbid
			}
		case "nothing":
			if i > 1 && among(c[0].low, "in", "under", "inside", "within") && scopedTo(c[:i]) && untouchable(c[i:]) {
				return 0, Forbid
			}
			if i > 1 && asked(c[:i]) && (low(c, i+1) == "else" || low(c, i+1) == "outside") && len(c) > i+2 {
				return i, Forbid
			}
		}
	}
	if onlyFile(c) {
		return 0, Forbid
	}
	switch {
	case approved(c):
		return 0, Ask
	case untouchable(c):
		return 0, Forbid
	case stays(c):
		return 0, Require
	case scopedFix(c):
		return 0, Forbid
	case required(c):
		return 0, Require
	}
	if i := has(c, "standard", "library", "only"); i > 0 {
		return withBefore(c, i), Require
	}
	if i := has(c, "stdlib", "only"); i > 0 {
		return withBefore(c, i), Require
	}
	if i := has(c, "only", "the", "standard", "library"); i > 0 {
		return i, Require
	}
	if asks(c) && before(c) > 0 && has(c, "me") >= 0 && among(c[0].low, "and", "then", "first") {
		return 0, Ask
	}
	return -1, ""
}

func withBefore(c []word, i int) int {
	for j := i; j >= 0 && j > i-4; j-- {
		if c[j].low == "with" || c[j].low == "using" || c[j].low == "use" {
			return j
		}
	}
	return i
}

// asked reports whether a clause asks for something rather than says how things
// are.
func asked(c []word) bool {
	first := c[0].low
	if imperative(first) || among(first, "fix", "solve", "implement", "speed", "find", "get", "improve", "do", "work", "mend", "repair", "build", "simplify", "clean", "port", "handle", "support", "address", "resolve", "optimize", "optimise", "reduce", "try", "please", "i", "you", "this", "that", "it", "all", "everything", "split", "convert", "extend", "finish", "complete", "achieve", "bring", "turn", "let's", "debug", "replace", "set", "put", "extract", "document", "cover", "help", "migrate", "continue", "go") {
		return !among(first, "this", "that", "it", "i", "you", "all", "everything") || will(c)
	}
	return false
}

// instructs is asked, of a whole clause.
func instructs(c []word) bool {
	c = c[lead(c):]
	return len(c) > 0 && asked(c)
}

// will reports whether a statement says what is wanted.
func will(c []word) bool {
	for _, w := range c {
		if among(w.low, "want", "need", "should", "must", "has", "like") {
			return true
		}
	}
	return false
}

// isGuarded knows what must not be done to files and code, where nobody is named who
// would do it.
func isGuarded(word string) bool {
	switch word {
	case "changed", "touched", "modified", "edited", "altered", "renamed", "moved", "reformatted", "refactored", "rewritten",
		"committed", "pushed", "merged", "deleted", "removed", "upgraded", "broken", "overwritten", "replaced", "deployed", "released",
		"published", "bumped":
		return true
	}
	return false
}

// approved reports whether a clause says that something needs my word.
func approved(c []word) bool {
	for i, w := range c {
		if i > 0 && w.low == "only" && among(low(c, i+1), "when", "if", "after", "once") && saysSo(c[i+2:]) {
			return !among(c[0].low, "it", "i", "he", "she", "they")
		}
		if i > 0 && w.low == "only" && among(c[i-1].low, "may", "can", "must", "should") && low(c, i+1) == "be" && isParticiple(low(c, i+2)) {
			return (has(c, "after") > 0 || has(c, "once") > 0 || has(c, "with", "my") > 0 || has(c, "when") > 0) && (has(c, "i") > 0 || has(c, "my") > 0)
		}
		if i > 0 && among(w.low, "require", "requires", "need", "needs") && (low(c, i+1) == "my" || among(low(c, i+1), "explicit", "prior") && has(c, "me") > 0) {
			return among(c[len(c)-1].low, "approval", "ok", "okay", "confirmation", "consent", "permission", "go-ahead", "sign-off", "review", "first", "me", "agreement", "blessing") && !among(c[0].low, "i", "it")
		}
	}
	return false
}

// untouchable reports whether a clause says of something that it must not be
// changed, used or done.
func untouchable(c []word) bool {
	if has(c, "off", "limits") > 0 || has(c, "off-limits") > 0 || has(c, "out", "of", "bounds") > 0 || has(c, "taboo") > 0 || has(c, "no-go") > 0 || has(c, "hands-off") > 0 || has(c, "out", "of", "scope") > 0 {
		return among(c[0].low, "nothing") || !among(c[0].low, "it", "why", "if")
	}
	if c[0].low == "no" && isShown(low(c, 1)) {
		return false
	}
	if at := has(c, "leave"); at > 1 && forbidding(c[at-2:]) == 2 {
		return has(c, "machine") > 0 || has(c, "network") > 0 || has(c, "repo") > 0 || has(c, "computer") > 0 || has(c, "laptop") > 0 || has(c, "server") > 0
	}
	if at := max(has(c, "change"), has(c, "break")); at > 2 && at == len(c)-1 && at < 7 && among(c[at-2].low, "must", "should", "may") && c[at-1].low == "not" {
		return among(c[at-3].low, "behaviour", "behavior", "api", "apis", "format", "interface", "schema", "output", "signatures", "signature", "semantics", "tests", "contract", "layout", "names")
	}
	none := among(c[0].low, "nothing", "none", "nobody", "no") || starts(c, "not", "a", "single")
	for i := 1; i < len(c); i++ {
		rest := c[i:]
		n := 0
		switch {
		case none && among(rest[0].low, "may", "should", "must", "can", "shall", "is", "gets", "will"):
			n = 1
			if low(rest, 1) == "to" || low(rest, 1) == "ever" {
				n = 2
			}
		case among(rest[0].low, "must", "may", "should", "can", "shall", "cannot", "can't", "mustn't", "shouldn't", "is", "are", "aren't", "isn't"):
			n = forbidding(rest)
		}
		if n == 0 || i > 9 {
			continue
		}
		verb := n
		if low(rest, verb) == "be" || low(rest, verb) == "get" {
			verb++
		}
		if (isGuarded(low(rest, verb)) || has(rest, "by", "you") > 0) && verb > n || verb > n && isParticiple(low(rest, verb)) && among(c[0].low, "test", "tests", "checks", "hooks", "lint", "reviews") || none && isParticiple(low(rest, verb)) {
			return (has(rest, "by") < 0 || has(rest, "by", "hand") > 0 || has(rest, "by", "you") > 0 || none) && !among(c[0].low, "it", "why", "if", "when", "he", "she", "they", "that", "which")
		}
		if among(rest[0].low, "is", "are", "isn't", "aren't") && verb == n && verb >= len(rest) {
			return isGerund(c[0].low) || among(c[0].low, "use", "usage") || isNoun(c[0].low) || isNoun(low(c, 1)) || c[0].low[0] == code
		}
		if none && among(rest[0].low, "may", "should", "must", "can") && among(low(rest, 1), "change", "touch", "break") {
			return true
		}
	}
	if has(c, "is", "frozen") > 0 || has(c, "are", "frozen") > 0 {
		return has(c, "schema") >= 0 || has(c, "api") >= 0 || has(c, "interface") >= 0 || has(c, "format") >= 0 || has(c, "contract") >= 0 || has(c, "protocol") >= 0
	}
	if isGerund(c[0].low) {
		if has(c, "not", "an", "option") > 0 || has(c, "out", "of", "the", "question") > 0 || has(c, "off", "the", "table") > 0 {
			return true
		}
		last := c[len(c)-1].low
		return among(last, "forbidden", "prohibited", "disallowed") || last == "allowed" && has(c, "not", "allowed") > 0
	}
	return among(c[len(c)-1].low, "forbidden", "prohibited") && len(c) > 2 && len(c) < 9 && !among(c[0].low, "it", "why", "http", "403", "error")
}

// stays reports whether a clause says of something that it must stay what it is.
func stays(c []word) bool {
	if isKnownPackage(c[0].low) && among(low(c, 1), "stays", "remains") && among(low(c, 2), "at", "on") {
		return true
	}
	for i, w := range c {
		if i == 0 || i > 8 || !among(w.low, "stay", "stays", "remain", "remains", "be", "continue", "keep") {
			continue
		}
		if among(c[i-1].low, "must", "should", "to", "shall", "need", "needs") || among(w.low, "stays", "remains") {
			return !among(c[0].low, "if", "why", "it's") && (asIs(c[i:]) || has(c[i:], "compatible") > 0 || has(c[i:], "left", "alone") > 0 || has(c[i:], "untouched") > 0)
		}
	}
	return false
}

// isShunned knows what something may be done without.
func isShunned(word string) bool {
	return isKnownPackage(word) || among(word, "recursion", "generics", "dependencies", "dependency", "frameworks", "framework", "libraries", "library", "packages", "sudo", "docker", "regex", "regexes", "reflection", "cgo", "globals", "loops", "eval", "changes", "mocks", "macros", "javascript", "inheritance")
}

// isShown knows what a program shows or gives: that there is none is a report.
func isShown(word string) bool {
	return among(word, "error", "errors", "message", "messages", "warning", "warnings", "output", "result", "results", "response", "toast", "email", "emails", "notification", "notifications", "event", "events", "row", "rows", "log", "logs", "icon", "data")
}

// scopedFix is for "the fix may only touch ...", "changes only in ...".
func scopedFix(c []word) bool {
	for _, to := range []string{"limited", "restricted", "confined"} {
		if at := has(c, "be", to, "to"); at > 0 && at < 6 {
			return about(c[:at])
		}
	}
	for i, w := range c {
		if i == 0 || i > 6 || w.low != "only" {
			continue
		}
		if among(c[i-1].low, "may", "must", "should", "can", "shall") {
			return imperative(low(c, i+1)) && about(c[:i])
		}
	}
	return false
}

// about reports whether the words before a verb are about the work.
func about(c []word) bool {
	for _, w := range c {
		if among(w.low, "fix", "change", "changes", "you", "edits", "patch", "pr", "commit", "this", "work", "refactoring", "solution", "diff", "code", "implementation") {
			return true
		}
	}
	return false
}

// required reports whether a clause says how work has to be done: "errors must be
// wrapped".
func required(c []word) bool {
	for i, w := range c {
		if i == 0 || i > 6 {
			continue
		}
		must := w.low == "must" || w.low == "have" && low(c, i+1) == "to" || w.low == "has" && low(c, i+1) == "to"
		if !must || low(c, i+1) == "not" || last(c) == "again" {
			continue
		}
		return among(c[i-1].low, "errors", "commits", "code", "changes", "comments", "functions", "messages", "tests", "names") && i < 3
	}
	return false
}

// scoped reports whether what follows "only" is where to work.
func scoped(c []word) bool {
	return scopedTo(c) || has(c, "in") > 0 || has(c, "to") > 0 || has(c, "within") > 0
}

// scopedTo reports whether a clause names a path.
func scopedTo(c []word) bool {
	for _, w := range c {
		if looksLikePath(w.low) || w.low[0] == code {
			return true
		}
	}
	return false
}

// before returns where a clause says before what, or that something comes first;
// 0 if it does not.
func before(c []word) int {
	for i, w := range c {
		if i > 0 && (among(w.low, "before", "first", "beforehand", "prior", "until") || w.low == "whenever" || w.low == "every" && low(c, i+1) == "time") {
			return i
		}
	}
	return 0
}

// asks reports whether a clause, an imperative, says to ask me before something.
func asks(c []word) bool {
	if !asksMe(c) {
		return false
	}
	at := before(c)
	switch low(c, 0) {
	case "tell", "show", "let", "run":
		if starts(c, "let", "me") && among(low(c, 2), "approve", "confirm", "decide", "authorize") {
			return true
		}
		next := low(c, at+1)
		return at > 0 && (isGerund(next) || among(next, "you", "anything", "any", "to") || low(c, 0) == "run" || starts(c, "let", "me", "know", "first"))
	case "get", "wait", "seek", "request", "obtain":
		return at > 0 || has(c, "my") > 0
	}
	return at > 0
}

// asksMe reports whether a clause, an imperative, turns to me.
func asksMe(c []word) bool {
	switch second := low(c, 1); low(c, 0) {
	case "ask":
		return !among(second, "the", "a", "users", "for", "user", "him", "her", "them") || starts(c, "ask", "for", "my") || starts(c, "ask", "for", "permission") || starts(c, "ask", "for", "confirmation") || starts(c, "ask", "for", "approval")
	case "check", "confirm", "verify", "discuss", "clear", "talk", "run":
		return has(c, "with", "me") > 0 || has(c, "by", "me") > 0 || has(c, "to", "me") > 0 || has(c, "past", "me") > 0 || has(c, "with", "us") > 0
	case "consult", "tell", "ping", "notify", "inform", "warn", "show", "prompt", "alert":
		return second == "me" || second == "us"
	case "get", "seek", "request", "obtain", "wait", "pause", "hold", "await":
		for _, w := range []string{"ok", "okay", "approval", "permission", "confirmation", "consent", "go-ahead", "sign-off", "blessing", "green", "review", "word", "me", "confirm", "approve"} {
			if has(c, w) > 0 && (has(c, "my") > 0 || has(c, "me") > 0 || has(c, "for", "approval") > 0 || has(c, "for", "confirmation") > 0 || has(c, "our") > 0 || has(c, "until", "i") > 0) {
				return true
			}
		}
	case "let":
		return starts(c, "let", "me")
	case "i":
		return among(second, "want", "need", "must", "have", "approve", "confirm", "decide")
	case "please", "always", "you":
		return len(c) > 1 && asksMe(c[1:])
	case "must", "should", "need", "have":
		return len(c) > 2 && asksMe(c[1+lenTo(c):])
	}
	return false
}

func lenTo(c []word) int {
	if low(c, 1) == "to" {
		return 1
	}
	return 0
}

// asksLater reports whether a clause that forbids, or one behind it, says that I
// may be asked: do not merge without my approval, unless I say so.
func asksLater(all [][]word, i int) bool {
	if asksLaterIn(all[i]) {
		return true
	}
	return i+1 < len(all) && len(all[i+1]) > 0 && among(all[i+1][0].low, "unless", "without") && asksLaterIn(all[i+1])
}

func asksLaterIn(c []word) bool {
	for i, w := range c {
		switch w.low {
		case "without":
			for _, x := range c[i+1:] {
				if among(x.low, "asking", "my", "telling", "consulting", "permission", "approval", "confirmation", "consent", "checking", "confirming", "me") {
					return true
				}
			}
		case "until", "till", "before":
			if i > 0 && saysSo(c[i+1:]) {
				return true
			}
		case "unless":
			for _, x := range c[i+1:] {
				if among(x.low, "i", "told", "asked", "approved", "explicitly") {
					return true
				}
			}
		case "ask", "confirm", "tell", "get", "wait", "let", "check", "talk", "consult", "discuss", "notify", "inform", "ping", "seek", "obtain", "request":
			if i > 1 && among(c[0].low, "before", "prior") && asksMe(c[i:]) {
				return true
			}
		}
	}
	return false
}

// saysSo reports whether words say that I have given mine: I have reviewed it, my
// approval, you hear from me.
func saysSo(c []word) bool {
	switch low(c, 0) {
	case "i", "i've", "ive", "my", "we've":
	case "you":
		return has(c, "my") > 0 || has(c, "from", "me") > 0 || has(c, "asked", "me") > 0
	default:
		return has(c, "by", "me") > 0
	}
	for _, w := range c {
		if among(w.low, "review", "reviewed", "approve", "approved", "confirm", "confirmed", "agree", "agreed", "say", "said", "tell", "told", "ok", "okay", "ok'd", "okayed", "look", "looked", "see", "seen", "saw", "read", "checked", "check", "approval", "permission", "consent", "confirmation", "go-ahead", "sign", "signed", "word", "answer", "answered", "decide", "decided", "allow", "allowed", "had") {
			return true
		}
	}
	return false
}
