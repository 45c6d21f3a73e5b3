package constraint

// promised reports whether what is to be kept is what others rely on: keep the JSON
// field names.
func promised(c []word) bool {
	return len(c) < 8 && among(last(c), "names", "signatures", "signature", "api", "apis", "interface", "interfaces", "behaviour", "behavior", "semantics", "layout", "schema", "format", "contract", "defaults")
}

// wished is for what stands behind "it would be great if you": could avoid, did not.
func wished(c []word) (Kind, bool) {
	for len(c) > 0 && among(c[0].low, "could", "can", "would", "will", "please", "just") {
		c = c[1:]
	}
	if len(c) < 2 {
		return "", false
	}
	if among(c[0].low, "didn't", "didnt", "don't", "dont", "not", "never", "wouldn't") {
		return Forbid, acts(c, 1)
	}
	if among(c[0].low, "avoid", "refrain", "leave", "keep", "stay", "ask", "check") {
		return opens(c, false)
	}
	return "", false
}

func fileLast(c []word) bool {
	return among(last(c), "file", "files", "package", "module", "commit", "function", "directory", "folder")
}

// forNew reports whether a clause is about all that will be written.
func forNew(c []word) bool {
	for _, all := range []string{"all", "every", "any", "each"} {
		if has(c, "in", all, "new") > 0 || has(c, "for", all, "new") > 0 {
			return true
		}
	}
	return false
}

// harm reports whether what is to be avoided is a fault of the program: to avoid it
// is a task.
func harm(c []word) bool {
	for _, w := range c[:min(len(c), 4)] {
		if among(w.low, "crash", "crashes", "crashing", "bug", "bugs", "error", "errors", "panic", "panicking", "deadlock", "deadlocks", "race", "races", "leak", "leaks", "copy", "copies", "flicker", "overflow", "duplicates", "collision", "collisions", "conflict", "conflicts", "timeout", "timeouts", "slowdown", "regression", "lag") {
			return true
		}
	}
	return false
}

// doubts reports whether a clause says: when you are not sure.
func doubts(c []word) bool {
	return among(c[0].low, "if", "when", "whenever") && (has(c, "doubt") > 0 || has(c, "unsure") > 0 || has(c, "unclear") > 0 || has(c, "not", "sure") > 0 || has(c, "uncertain") > 0 || has(c, "aren't", "sure") > 0)
}

// spared reports whether clause c excepts something from what the clauses before
// ask for: refactor parser.go, not lexer.go.
func spared(before [][]word, c []word) bool {
	if c[0].low != "not" || len(c) < 2 {
		return false
	}
	if n := len(before); n > 0 {
		b := before[n-1]
		if b = b[lead(b):]; len(b) > 0 && !asked(b) {
			return false
		}
	}
	if c[1].low == "on" {
		return len(c) < 5 && among(last(c), "main", "master", "trunk", "develop", "prod", "production")
	}
	if among(c[1].low, "in", "inside", "under", "within") && len(c) > 2 {
		return scopedTo(c) || among(last(c), "directory", "folder", "dir", "tree", "package", "module")
	}
	return len(c) == 2 && looksLikePath(c[1].low)
}
