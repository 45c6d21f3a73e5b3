package constraint

// important returns how many words of a clause only say that it matters: it is
// important that; 0 if none do.
func important(c []word) int {
	n := 1
	if low(c, 1) == "is" {
		n = 2
	}
	for among(low(c, n), "very", "really", "extremely", "absolutely", "super") {
		n++
	}
	if !among(low(c, n), "important", "crucial", "essential", "vital", "critical", "imperative", "paramount", "mandatory") {
		return 0
	}
	n++
	if low(c, n) == "that" {
		n++
	}
	return n
}

// subject is for clauses that say what you, or we, must or must not do.
func subject(c []word) (Kind, bool) {
	rest := c[1:]
	if len(rest) == 0 {
		return "", false
	}
	if c[0].low == "we" && (starts(rest, "don't", "want") || starts(rest, "do", "not", "want") || starts(rest, "dont", "want")) {
		return wish(rest, "we")
	}
	if n := forbidding(rest); n > 0 {
		weak := among(rest[0].low, "can", "cannot", "can't", "cant", "could", "will", "won't", "may")
		if weak && (c[0].low == "we" || !isVerb(low(rest, n)) && !among(low(rest, n), "do", "take", "rely")) {
			return "", false
		}
		return Forbid, acts(rest, n) && !(rest[0].low == "never" && isPast(low(rest, n)))
	}
	switch {
	case among(rest[0].low, "may", "can", "should", "must", "are") && among(low(rest, 1), "only"):
		return Forbid, true
	case starts(rest, "only", "may"), starts(rest, "only", "get", "to"):
		return Forbid, true
	case starts(rest, "must"), starts(rest, "have", "to"), starts(rest, "should", "always"), starts(rest, "need", "to", "always"), starts(rest, "always"):
		n := 1
		if rest[0].low == "have" {
			n = 2
		}
		if asks(rest[skip(rest, n):]) {
			return Ask, true
		}
		return Require, c[0].low != "we" && (has(rest, "always") > 0 || rest[0].low == "must" && !among(low(rest, 1), "be", "have")) && len(rest) > 2
	case starts(rest, "should", "ask"), starts(rest, "need", "to", "ask"), starts(rest, "need", "my"), starts(rest, "shall", "ask"):
		return Ask, true
	}
	return "", false
}

// wish is for clauses that say what I want, or do not.
func wish(rest []word, first string) (Kind, bool) {
	switch {
	case starts(rest, "don't", "want"), starts(rest, "dont", "want"), starts(rest, "do", "not", "want"), starts(rest, "never", "want"), starts(rest, "don't", "wanna"):
		after := rest[has(rest, "want")+1:]
		if starts(after, "to") {
			return Forbid, starts(after, "to", "see") && len(after) > 2
		}
		if starts(after, "you") {
			return Forbid, true
		}
		if among(low(after, 0), "this", "it", "that") && (has(after, "end", "up") > 0 || has(after, "appear") > 0 || has(after, "land") > 0) {
			return Forbid, true
		}
		return Forbid, len(after) > 1 && (among(low(after, 0), "any", "new") || changed(after) || isGerund(low(after, 0)))
	case first == "i'd" && (starts(rest, "rather", "you") || starts(rest, "prefer", "you") || starts(rest, "prefer", "if", "you") || starts(rest, "prefer", "that", "you") || starts(rest, "like", "you")),
		starts(rest, "would", "rather", "you"), starts(rest, "would", "prefer"), starts(rest, "would", "like", "you"), starts(rest, "want", "you"), starts(rest, "need", "you"), starts(rest, "expect", "you"),
		starts(rest, "appreciate", "it"), starts(rest, "would", "appreciate"), starts(rest, "ask", "you"):
		if has(rest, "without") > 0 {
			return Forbid, false // by the words behind it
		}
		for _, no := range []string{"not", "didn't", "don't", "didnt", "never", "wouldn't", "no"} {
			if has(rest, no) > 0 {
				return Forbid, true
			}
		}
		if at := has(rest, "to", "ask"); at > 0 && len(rest) > at+2 {
			return Ask, has(rest, "before") > 0 || has(rest, "first") > 0
		}
		return "", false
	case (starts(rest, "want") || starts(rest, "need") || first == "i'd" && starts(rest, "like")) && asIs(rest):
		return Require, true
	case first == "i'd" && starts(rest, "rather", "not") || starts(rest, "would", "rather", "not"):
		after := rest[has(rest, "not")+1:]
		return Forbid, among(low(after, 0), "have", "see", "get", "add", "introduce", "bring", "use", "touch", "change") && len(after) > 1 && !among(low(after, 1), "to")
	case starts(rest, "want", "no"):
		return Forbid, len(rest) > 2
	case starts(rest, "want", "to"), starts(rest, "need", "to"), starts(rest, "have", "to"), starts(rest, "must"), starts(rest, "insist"), starts(rest, "like", "to"), starts(rest, "would", "like", "to"), first == "i'd" && starts(rest, "like", "to"):
		return Ask, before(rest) > 0 && (has(rest, "approve") > 0 || has(rest, "review") > 0 || has(rest, "confirm") > 0 || has(rest, "asked") > 0 || has(rest, "sign", "off") > 0 || has(rest, "know") > 0 || has(rest, "see") > 0 || has(rest, "check") > 0)
	case starts(rest, "forbid"), starts(rest, "prohibit"):
		return Forbid, true
	}
	return "", false
}

// impersonal is for "it is forbidden to ...".
func impersonal(c []word) bool {
	for i, w := range c[:min(len(c), 6)] {
		if among(w.low, "forbidden", "prohibited", "disallowed", "verboten", "unacceptable") || among(w.low, "allowed", "permitted", "ok", "okay", "acceptable") && (low(c, i-1+0) != "" && i > 0 && among(c[i-1].low, "not", "isn't", "never")) {
			return low(c, i+1) == "to" && !among(low(c, i+2), "be", "have")
		}
	}
	return false
}

// assured is for "make sure that you do not ...", "be careful not to ...".
func assured(c []word) (Kind, bool) {
	n := 0
	for _, l := range [][]string{{"make", "sure", "that"}, {"make", "sure"}, {"make", "certain"}, {"ensure", "that"}, {"ensure"}, {"be", "sure"}, {"be", "careful"}, {"be", "very", "careful"}, {"take", "care"}, {"take", "care", "that"}, {"try"}, {"mind"}, {"see", "to", "it", "that"}, {"see", "that"}, {"promise"}, {"promise", "me"}, {"be", "advised"}, {"be", "aware"}} {
		if starts(c, l...) {
			n = max(n, len(l))
		}
	}
	rest := c[n:]
	switch {
	case n == 0 || len(rest) < 2:
		return "", false
	case starts(rest, "not", "to"), starts(rest, "to", "not"):
		return Forbid, acts(rest, 2)
	case starts(rest, "to", "never"), starts(rest, "to", "avoid"):
		return Forbid, true
	case starts(rest, "you"):
		if starts(rest[1:], "don't") || starts(rest[1:], "dont") || starts(rest[1:], "do", "not") || starts(rest[1:], "never") {
			return Forbid, negated(rest[1:], false)
		}
		if starts(rest[1:], "only") {
			return Forbid, true
		}
		if asks(rest[1:]) {
			return Ask, true
		}
	case finally(rest) && (starts(rest, "to") || starts(rest, "you")) && !asks(rest[1:]):
		return Require, true
	case starts(rest, "to", "ask"), starts(rest, "to", "check", "with"), starts(rest, "to", "get"):
		return Ask, asks(rest[1:])
	case len(rest) < 9 && scopedTo(rest) && (untouchable(rest) || stays(rest) || untouched(rest)):
		return Forbid, has(rest, "if") < 0 && has(rest, "when") < 0 && has(rest, "while") < 0 && has(rest, "after") < 0
	case among(rest[0].low, "nothing", "no"):
		return Forbid, untouchable(rest) || changed(rest) || allowedAt(rest, 1) || among(last(rest), "changes", "breaks")
	}
	return "", false
}

// everyOne is for rules about all of something: "all new code has to be covered by
// tests".
func everyOne(c []word) (Kind, bool) {
	if among(c[0].low, "any", "new") && has(c, "code") < 0 && has(c, "change") < 0 && has(c, "changes") < 0 {
		return "", false
	}
	for i, w := range c {
		if i > 0 && (w.low == "must" || w.low == "needs" || w.low == "should" || among(w.low, "has", "have", "need") && low(c, i+1) == "to") {
			if low(c, i+1) == "not" {
				return Forbid, untouchable(c) || among(low(c, 1), "code", "changes", "files", "commits", "errors")
			}
			return Require, last(c) != "again" && among(low(c, 1), "new", "code", "changes", "change", "commit", "commits", "errors", "error", "function", "functions", "test", "tests", "comment", "comments", "file", "files", "exported", "public", "pr", "message", "messages", "variable", "variables", "fix", "added", "edits")
		}
	}
	return "", false
}
