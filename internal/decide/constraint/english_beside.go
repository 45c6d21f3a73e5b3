package constraint

import "strings"

// pathsOnly reports whether a clause does no more than name files.
func pathsOnly(c []word) bool {
	n := 0
	for _, w := range c {
		switch {
		case looksLikePath(w.low) || w.low[0] == code:
			n++
		case !among(w.low, "and", "or", "the", "file", "files"):
			return false
		}
	}
	return n > 0
}

// insteadOf reports whether c only says which files are not meant by what the
// clause before asks to be changed.
func insteadOf(before, c []word) bool {
	if len(c) < 2 || c[0].low != "not" || !pathsOnly(c[1:]) {
		return false
	}
	for i, w := range before {
		if among(w.low, "edit", "change", "modify", "touch", "update", "rewrite", "fix", "refactor") {
			return i == lead(before) || among(before[i-1].low, "may", "can", "should", "must", "please", "only", "just") && among(before[lead(before)].low, "you", "please", "only", "just")
		}
	}
	return false
}

// mayBe reports whether a clause says what may be done to something.
func mayBe(c []word) bool {
	for i, w := range c {
		if among(w.low, "may", "can", "should", "must") && low(c, i+1) == "be" && isGuarded(low(c, i+2)) {
			return true
		}
	}
	return false
}

// written reports whether what follows the clauses is text that is to be written
// somewhere: add to the README: ...
func written(before [][]word) bool {
	for _, b := range before {
		b = b[lead(b):]
		if len(b) < 2 || !among(b[0].low, "add", "write", "put", "insert", "append", "document", "mention", "include") {
			continue
		}
		if last := b[len(b)-1]; last.colon && among(last.low, "rule", "rules", "line", "note", "section", "sentence", "paragraph", "readme", "readme.md", "docs", "heading", "agents.md", "claude.md", "guide", "policy", "notice", "entry", "documentation", "changelog", "contributing.md") {
			return true
		}
	}
	return false
}

// untouched reports whether a clause says of a file that nothing was done to it.
func untouched(c []word) bool {
	for i, w := range c {
		if i == 0 || i > 4 {
			continue
		}
		if among(w.low, "isn't", "aren't") && isGuarded(low(c, i+1)) || among(w.low, "is", "are", "gets") && low(c, i+1) == "not" && isGuarded(low(c, i+2)) || among(w.low, "is", "are") && asIs(c[i:]) {
			return pathsOnly(c[:i])
		}
	}
	return false
}

// onlyFile is for "a.go is the only file you may change" and "you may change a.go and
// nothing else".
func onlyFile(c []word) bool {
	if !scopedTo(c) || has(c, "you") < 0 && has(c, "you're") < 0 {
		return false
	}
	if has(c, "may") < 0 && has(c, "can") < 0 && has(c, "should") < 0 && has(c, "allowed") < 0 {
		return false
	}
	for _, verb := range []string{"change", "edit", "touch", "modify"} {
		if has(c, verb) >= 0 {
			return has(c, "the", "only", "file") >= 0 || has(c, "the", "only", "files") >= 0 || has(c, "and", "nothing", "else") > 0
		}
	}
	return false
}

// printed reports whether what follows the clauses is what a program printed.
func printed(before [][]word) bool {
	if len(before) == 0 || len(before[0]) == 0 {
		return false
	}
	first := before[0][len(before[0])-1]
	return first.colon && len(before[0]) < 4 && (among(first.low, "fatal", "panic", "traceback", "failed", "failure", "stderr", "lint", "error") ||
		strings.HasSuffix(first.low, "error") || strings.HasSuffix(first.low, "exception"))
}

// spares reports whether a clause only says what is not meant by the one beside it.
func spares(c []word) bool {
	c = c[lead(c):]
	return len(c) > 0 && scopedTo(c) && (among(c[0].low, "except", "excepting", "apart", "aside", "outside", "save") || starts(c, "other", "than") || starts(c, "with", "the", "exception"))
}
