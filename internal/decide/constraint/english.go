package constraint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// english returns the constraints in a sentence that its English words make.
func english(s sentence) (found []span) {
	if !strings.ContainsFunc(s.text, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }) {
		return nil
	}
	words := readWords(s.text)
	if len(words) == 0 {
		return nil
	}
	polite := s.asks
	if polite {
		if words = request(words); words == nil {
			return nil
		}
	}
	all := clauses(words)
	for i := 0; i < len(all); i++ {
		c := all[i][lead(all[i]):]
		if len(c) == 1 && among(c[0].low, "nobody", "nothing", "none") && i+2 < len(all) { // nobody, you included, runs ...
			c = slices.Concat(c, all[i+1], all[i+2])
			i += 2
		}
		if len(c) == 0 || told(all[:i], c) || written(all[:i]) || printed(all[:i]) {
			continue
		}
		if i > 0 && insteadOf(all[i-1], c) { // edit b.go, not a.go
			found = append(found, span{s.start + c[0].start, s.start + c[len(c)-1].end, Forbid})
			continue
		}
		for onlyNegates(c) && i+1 < len(all) { // do not, under any circumstances, push
			i++
			c = slices.Concat(c, all[i])
		}
		if c[0].low == "ask" && len(c) < 4 && i > 0 && (doubts(all[i-1]) || i > 1 && last(all[i-1]) == "stop" && among(all[i-2][0].low, "if", "when", "before")) {
			found = append(found, span{s.start + all[i-1][0].start, s.start + c[len(c)-1].end, Ask})
			continue
		}
		if c[0].low == "without" && isGerund(low(c, 1)) && (i+1 < len(all) && instructs(all[i+1]) || i > 0 && instructs(all[i-1])) || spared(all[:i], c) || i == 0 && starts(c, "nothing", "else") && (len(c) == 2 || last(c) == "please") {
			found = append(found, span{s.start + c[0].start, s.start + c[len(c)-1].end, Forbid})
			continue
		}
		if to := chosen(all[i:], c); to > 0 && !polite {
			found = append(found, span{s.start + c[0].start, s.start + to, Require})
			continue
		}
		at, kind := binds(c, polite)
		if at < 0 || polite && kind == Require || puzzles(c, all[i+1:]) {
			continue
		}
		from, to := c[at].start, c[len(c)-1].end
		if i > 0 && at == 0 && len(c) < 5 && pathsOnly(all[i-1]) { // a.go: hands off
			from = all[i-1][0].start
		}
		switch { // but for a.go, touch nothing
		case kind == pending || scopedTo(c):
		case i > 0 && spares(all[i-1]):
			from = all[i-1][0].start
		case i+1 < len(all) && spares(all[i+1]):
			to = all[i+1][len(all[i+1])-1].end
		}
		switch {
		case kind == pending && i+1 < len(all): // before you drop a table, ask me
			next := all[i+1]
			if next = next[lead(next):]; len(next) == 0 || !asksMe(next) {
				continue
			}
			to, kind = next[len(next)-1].end, Ask
		case kind == pending:
			continue
		case kind == Forbid && asksLater(all, i):
			kind = Ask
		}
		found = append(found, span{s.start + from, s.start + to, kind})
	}
	return found
}

// onlyNegates reports whether a clause is cut behind its negation.
func onlyNegates(c []word) bool {
	for i, w := range c {
		if i == 0 && !among(w.low, "do", "don't", "dont", "never") || i > 0 && !among(w.low, "not", "ever") && !isAdverb(w.low) && w.low != "no" {
			return false
		}
	}
	return len(c) > 1 || c[0].low != "do"
}

// pending is what a clause says that needs another one: before something is done.
const pending Kind = "pending"

// request returns what is asked for in a question that is a request, nil if it is
// a question: could you please not ..., can you mend it without ...
func request(words []word) []word {
	w := words[lead(words):]
	switch {
	case len(w) > 3 && among(w[0].low, "can", "could", "would", "will") && w[1].low == "you":
		w = w[2:]
		if starts(w, "mind") {
			w = w[1:]
		}
		return w
	}
	for i := range words { // the build is broken, can you fix it without ...
		if i > 0 && words[i-1].stop && i+3 < len(words) && among(words[i].low, "can", "could", "would", "will") && words[i+1].low == "you" {
			return words[i+2:]
		}
	}
	return nil
}

// told reports whether clause c is not the user's will: somebody else's words that
// are reported, or what a product is to do under some condition.
func told(before [][]word, c []word) bool {
	for _, b := range before {
		first := low(b, lead(b))
		if among(first, "if", "when", "whenever", "once", "unless", "where") && product(b[lead(b)+1:]) {
			return true
		}
		for i, w := range b {
			switch {
			case i == len(b)-1 && w.stop && endsAny(w.low, "翻译", "翻译一下", "翻译下", "这句话", "这段话", "写着", "提示", "报错"):
				return true
			case among(w.low, "says", "said", "say", "tells", "told", "wrote", "writes", "reads", "states", "stated", "claims", "claimed", "complains", "called", "titled", "warns", "warned", "prints", "printed", "shows", "suggests", "suggested", "recommends", "recommended", "asks", "asked"):
				if i == 0 || !among(b[i-1].low, "i", "i've", "already", "we") {
					return true
				}
			case among(w.low, "message", "error", "warning", "text", "string", "comment", "docs", "documentation", "label", "header", "title", "linter", "sign") && b[len(b)-1].stop && i >= len(b)-2 && i > 0 && (b[len(b)-1].colon || !instructs(b) && !among(first, "you", "i", "we")):
				return true
			}
		}
	}
	return false
}

// product reports whether a condition is about how a program behaves, rather than
// about the work.
func product(words []word) bool {
	return !among(low(words, 0), "you", "you're", "i", "i'm", "we", "something", "anything", "it", "it's", "that", "this", "there", "possible", "in", "necessary", "needed", "any", "tests", "unsure", "not", "asked", "done", "working", "fixing", "refactoring", "editing", "changing") &&
		!among(low(words, 1), "test", "tests", "build", "lint", "linter", "ci", "fix", "change", "refactoring", "task")
}

// binds returns where in a clause a constraint begins, and its kind; -1 if there
// is none. In a polite request "not" stands for "do not".
func binds(c []word, polite bool) (at int, kind Kind) {
	if kind, ok := opens(c, polite); ok {
		return 0, kind
	}
	return inside(c)
}

// opens reports whether a clause is a constraint by its first words.
func opens(c []word, polite bool) (Kind, bool) {
	first, second := c[0].low, low(c, 1)
	switch first {
	case "don't", "dont", "do", "don", "never", "not", "nor", "donot", "dnt", "do'nt", "don;t", "nver", "nevr", "neevr", "don´t", "don`t":
		if starts(c, "not", "a", "single") {
			return Forbid, untouchable(c)
		}
		return Forbid, negated(c, polite)
	case "you", "we", "u":
		return subject(c)
	case "you're", "youre", "we're":
		return subject(append([]word{{low: strings.TrimRight(first, "re'")}, {low: "are"}}, c[1:]...))
	case "you'd":
		return Forbid, starts(c[1:], "better", "not") && len(c) > 3
	case "i'm", "im":
		if second == "asking" || second == "telling" {
			return Forbid, low(c, 2) == "you" && among(low(c, 3), "not", "never") && acts(c, 5)
		}
		return Forbid, second == "not" && among(low(c, 2), "ok", "okay", "comfortable", "fine", "happy") && has(c, "you") > 0
	case "there":
		return Forbid, among(second, "must", "should", "shall", "may") && (low(c, 2) == "not" || low(c, 3) == "no" || low(c, 2) == "no") && len(c) > 4
	case "hold":
		if starts(c, "hold", "off") {
			return Forbid, true
		}
		return Require, asIs(c)
	case "let's", "lets":
		if second == "not" {
			return Forbid, acts(c, 2)
		}
		if among(second, "keep", "leave", "avoid", "stick", "stay") {
			return opens(c[1:], polite)
		}
	case "i", "i'd", "id", "i'll":
		return wish(c[1:], first)
	case "must", "may", "should", "shall", "cannot", "can't", "mustn't", "shouldn't":
		return Forbid, forbidding(c) > 0 && isVerb(low(c, forbidding(c)))
	case "leave":
		if has(c, "alone") > 1 || has(c, "be") > 1 {
			return Forbid, true
		}
		return Require, asIs(c)
	case "keep":
		switch {
		case has(c, "hands", "off") > 0, has(c, "fingers", "off") > 0, second == "away", second == "out", second == "off", second == "clear", second == "from" && len(c) > 2 && strings.HasSuffix(c[2].low, "ing"):
			return Forbid, true
		case has(c, "changes", "to") > 0, has(c, "edits", "to") > 0, has(c, "yourself", "to") > 0, has(c, "within") > 0, has(c, "inside") > 0, has(c, "to", "one") > 0 && fileLast(c), has(c, "to", "a", "single") > 0, has(c, "limited", "to") > 0, has(c, "confined", "to") > 0:
			return Forbid, true
		case has(c, "free", "of") > 0 && about(c):
			return Forbid, true
		case has(c, "compatible") > 0, has(c, "compatibility") > 0:
			return Require, true
		}
		return Require, asIs(c) || small(c) || promised(c)
	case "stay", "steer", "hands", "lay", "back":
		switch {
		case starts(c, "hands", "off"), starts(c, "stay", "away"), starts(c, "stay", "out"), starts(c, "stay", "off"), starts(c, "stay", "clear"), starts(c, "stay", "the"), starts(c, "steer", "clear"), starts(c, "lay", "off"):
			return Forbid, true
		case first == "stay":
			return Forbid, among(second, "within", "inside", "in") || second == "on" && has(c, "branch") > 0
		}
	case "avoid":
		return Forbid, len(c) > 1 && !harm(c[1:])
	case "refrain", "abstain", "desist":
		return Forbid, second == "from"
	case "stop", "quit", "cease":
		return Forbid, isGerund(second) && !isOutput(second)
	case "no", "zero":
		return Forbid, nothingOf(c) || asksLaterIn(c)
	case "nothing", "none", "nobody":
		if first == "nothing" && among(second, "that", "which", "with", "requiring", "needing") && len(c) > 2 {
			return Forbid, true
		}
		return Forbid, untouchable(c) || asIs(c) || first == "nobody" && runsBy(c)
	case "under", "at", "in", "by", "on":
		for _, l := range [][]string{{"under", "no", "circumstances"}, {"under", "no", "circumstance"}, {"under", "no", "condition"}, {"under", "no", "conditions"}, {"on", "no", "condition"}, {"in", "no", "event"}, {"in", "no", "way"}, {"at", "no", "point"}, {"at", "no", "time"}, {"in", "no", "case"}, {"by", "no", "means"}, {"on", "no", "account"}} {
			if starts(c, l...) {
				return Forbid, len(c) > len(l)
			}
		}
		if starts(c, "under", "any", "circumstances") && len(c) > 3 {
			return opens(c[3:], polite)
		}
	case "only", "solely", "exclusively":
		if scopedTo(c) && mayBe(c) {
			return Forbid, true
		}
		if among(second, "change", "edit", "touch", "modify", "alter", "work", "use", "run", "fix", "refactor", "rewrite", "commit", "read", "look", "make", "apply") {
			return Forbid, second != "make" && second != "apply" && second != "look" && second != "read" || has(c, "changes") > 0 || scoped(c)
		}
		return Forbid, imperative(second) && scoped(c) && scopedTo(c)
	case "limit", "restrict", "confine":
		return Forbid, has(c, "to") > 0 && !product(append([]word{{low: "you"}}, c...)) && among(second, "yourself", "your", "changes", "edits", "the", "all", "any", "it", "this", "modifications", "work") && (!among(second, "the", "all", "any") || about(c[1:]) || has(c, "scope") > 0 || has(c, "modifications") > 0)
	case "stick":
		return Require, second == "to" || second == "with"
	case "treat", "consider":
		return Forbid, has(c, "read-only") > 0 || has(c, "readonly") > 0 || has(c, "immutable") > 0 || has(c, "frozen") > 0 || has(c, "off-limits") > 0 || has(c, "off", "limits") > 0 || has(c, "untouchable") > 0
	case "ask", "check", "confirm", "consult", "tell", "ping", "notify", "inform", "warn", "get", "seek", "request", "obtain", "wait", "let", "show", "prompt", "verify", "clear", "run", "talk", "alert", "discuss", "pause":
		if asks(c) {
			return Ask, true
		}
	case "always":
		if asks(c[1:]) {
			return Ask, true
		}
		return Require, len(c) > 1 && !among(second, "happy", "glad", "good", "here", "fun", "possible", "better", "welcome", "nice", "the", "a", "has", "have", "been", "on", "off", "true", "false") && !strings.HasSuffix(second, "s")
	case "before", "prior":
		if asksLaterIn(c) {
			return Ask, true
		}
		return pending, len(c) > 1
	case "it'd":
		if n := has(c, "if", "you"); n > 1 {
			return wished(c[n+2:])
		}
	case "it's", "it", "its":
		if n := important(c); n > 0 {
			if among(low(c, n), "not", "never") {
				return Forbid, len(c) > n+2
			}
			if among(low(c, n), "the", "tests", "your", "all") {
				return Forbid, (about(c[n:]) || has(c, "tests") > 0) && (has(c[n:], "don't") > 0 || has(c[n:], "do", "not") > 0 || has(c[n:], "never") > 0)
			}
			if low(c, n) == "you" {
				n++
			}
			return opens(c[min(n, len(c)-1):], polite)
		}
		if n := has(c, "if", "you"); n > 1 && low(c, 1) == "would" {
			return wished(c[n+2:])
		}
		return Forbid, impersonal(c) || madeOf(c)
	case "this", "that", "they", "the":
		if madeOf(c) || among(second, "one", "only") && low(c, 2) == "thing" && low(c, 3) == "you" && forbidding(c[4:]) > 0 {
			return Forbid, true
		}
	case "work":
		if last(c) == "only" && len(c) > 2 {
			return Forbid, true
		}
	case "make", "ensure", "be", "take", "try", "mind", "see", "promise":
		if first == "make" && second == "no" {
			return Forbid, among(low(c, 2), "changes", "edits", "modifications", "commits", "further", "other", "new", "assumptions")
		}
		return assured(c)
	case "forbidden", "prohibited", "off-limits", "verboten":
		return Forbid, len(c) > 1 && has(c, "should") < 0
	case "everything", "anything":
		if second == "except" || second == "but" || starts(c[1:], "apart", "from") || starts(c[1:], "other", "than") {
			return Forbid, has(c, "may") > 0 || has(c, "can") > 0 || has(c, "is") > 0
		}
		if second == "you" && among(low(c, 2), "write", "add", "produce", "change", "create") {
			return Require, has(c, "must") > 0 || has(c, "has", "to") > 0
		}
	case "every", "all", "each", "any", "new":
		if kind, ok := everyOne(c); ok {
			return kind, true
		}
	}
	if imperative(first) && len(c) > 2 && (last(c) == "only" || finally(c)) || first == "use" && forNew(c) {
		return Require, true
	}
	if second == "nothing" && among(first, "touch", "change", "modify", "edit", "delete", "remove", "add", "install", "commit", "push", "run") {
		return Forbid, true
	}
	if (second == "no" || second == "nothing") && (imperative(first) || first == "do") {
		return Forbid, len(c) > 2
	}
	if among(second, "only", "exclusively", "solely", "strictly") && imperative(first) || first == "work" && among(second, "only", "exclusively", "solely", "strictly") {
		return Forbid, len(c) > 2
	}
	if polite && (first == "please" || first == "not" || gerundRequest(c)) {
		return Forbid, true
	}
	return "", false
}

// small reports whether a clause says how large the work may be.
func small(c []word) bool {
	if has(c, "diff") < 0 && has(c, "change") < 0 && has(c, "changes") < 0 && has(c, "patch") < 0 && has(c, "pr") < 0 && has(c, "commits") < 0 && has(c, "functions") < 0 && has(c, "lines") < 0 {
		return false
	}
	for i, w := range c {
		if i > 1 && among(w.low, "under", "below", "small", "short", "minimal", "minimum", "most", "tiny", "focused", "separate") {
			return true
		}
	}
	return false
}

// finally reports whether a clause says what comes at the end of the work, or
// with each piece of it.
func finally(c []word) bool {
	for i, w := range c {
		if i < 2 {
			continue
		}
		switch w.low {
		case "when":
			return among(low(c, i+1), "you're", "you", "done", "finished") && (has(c, "done") > 0 || has(c, "finished") > 0 || has(c, "finish") > 0 || has(c, "ready") > 0)
		case "after", "before":
			return among(low(c, i+1), "each", "every") || among(low(c, i+1), "you") && (has(c, "finish") > 0 || has(c, "report") > 0 || has(c, "answer") > 0 || has(c, "commit") > 0 || has(c, "finished") > 0 || has(c, "done") > 0) || among(low(c, i+1), "committing", "pushing", "reporting", "finishing")
		}
	}
	return false
}

// runsBy reports whether a clause about nobody says that something is not done.
func runsBy(c []word) bool {
	for i, w := range c {
		if i > 0 && i < 6 && strings.HasSuffix(w.low, "s") && !among(low(c, i+1), "it", "them", "this", "that", "these", "those", "anymore", "any", "here", "now", "") && (isVerb(strings.TrimSuffix(w.low, "s")) || isVerb(strings.TrimSuffix(w.low, "es"))) {
			return true
		}
	}
	return false
}

// gerundRequest is for "would you mind not pushing".
func gerundRequest(c []word) bool { return c[0].low == "not" && isGerund(low(c, 1)) }

// negated reports whether a clause that begins with a negation forbids.
func negated(c []word, polite bool) bool {
	i := 1
	switch c[0].low {
	case "do", "don":
		if !among(low(c, 1), "not", "t", "nothing", "never") {
			return false
		}
		if low(c, 1) == "nothing" {
			return len(c) > 2
		}
		i = 2
	case "not":
		if !polite && !among(low(c, 1), "allowed", "to") {
			return false
		}
	}
	for isAdverb(low(c, i)) {
		i++
	}
	switch {
	case low(c, i) == "you" && (among(low(c, i+1), "dare", "ever") || isVerb(low(c, i+1)) && !polite), low(c, i) == "dare":
		return len(c) > i+2
	case low(c, i) == "think" && low(c, i+1) == "about":
		return isGerund(low(c, i+2))
	case c[0].low == "never" && (strings.HasSuffix(low(c, i), "ed") && !isVerb(low(c, i)) || among(low(c, i), "seen", "had", "done", "gone", "heard", "got", "used", "knew", "saw", "came", "went", "thought", "made", "written", "understood", "actually")):
		return false
	}
	return acts(c, i)
}

// acts reports whether the verb at c[i] is one that is done.
func acts(c []word, i int) bool {
	verb := low(c, i)
	if verb == "" || isIdle(verb) || strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz-'/") != "" && verb[0] != '`' {
		return verb != "" && verb[0] == code
	}
	switch verb {
	case "do":
		return !among(low(c, i+1), "it", "this", "that") || len(c) > i+2
	case "take":
		return !among(low(c, i+1), "it", "this", "that", "your", "long", "too", "my")
	case "go":
		return !among(low(c, i+1), "easy", "there", "crazy", "home")
	case "let":
		return !among(low(c, i+1), "me", "it", "that", "this")
	}
	return isVerb(verb) || !strings.HasSuffix(verb, "s") || strings.HasSuffix(verb, "ss")
}

// forbidding returns how many words of c say that something must not be done: must
// not, may not, are not allowed to; 0 if they say nothing of that.
func forbidding(c []word) int {
	first := low(c, 0)
	switch first {
	case "must", "may", "can", "should", "shall", "will", "could", "need":
		if low(c, 1) == "not" || low(c, 1) == "never" {
			return skip(c, 2)
		}
		if starts(c[1:], "under", "no") || starts(c[1:], "in", "no", "case") || starts(c[1:], "by", "no", "means") || starts(c[1:], "at", "no") {
			return skip(c, 4)
		}
	case "cannot", "can't", "mustn't", "shouldn't", "cant", "mustnt", "shouldnt", "shan't", "won't", "never":
		return skip(c, 1)
	case "are", "is":
		if low(c, 1) == "not" || low(c, 1) == "strictly" || low(c, 1) == "never" {
			if among(low(c, 2), "allowed", "permitted", "supposed", "authorized", "authorised", "to", "forbidden", "prohibited") {
				n := 3
				if low(c, n) == "to" {
					n++
				}
				return n
			}
		}
		if among(low(c, 1), "forbidden", "prohibited", "barred") {
			return 3
		}
	case "aren't", "isn't":
		if among(low(c, 1), "allowed", "permitted", "supposed", "authorized", "to") {
			n := 2
			if low(c, n) == "to" {
				n++
			}
			return n
		}
	case "do", "don't", "had", "better":
		if starts(c, "had", "better", "not") || starts(c, "better", "not") {
			return has(c, "not") + 1
		}
	}
	return 0
}

func skip(c []word, i int) int {
	for isAdverb(low(c, i)) {
		i++
	}
	return i
}

// changed reports whether something is done to something, as in "any file
// touched".
func changed(c []word) bool {
	for i, w := range c {
		if i > 0 && isParticiple(w.low) {
			return true
		}
	}
	return false
}

// asIs reports whether a clause says that something stays what it is.
func asIs(c []word) bool {
	for i, w := range c {
		switch w.low {
		case "unchanged", "untouched", "intact", "unmodified", "unaltered", "as-is", "stable", "frozen", "backwards-compatible", "backward-compatible", "byte-identical":
			return i > 0
		case "as":
			if i > 0 && (among(low(c, i+1), "is") || starts(c[i+1:], "it", "is") || starts(c[i+1:], "they", "are") || starts(c[i+1:], "it", "was") || starts(c[i+1:], "they", "were") || starts(c[i+1:], "it's") || starts(c[i+1:], "they're") || starts(c[i+1:], "you", "found")) {
				return true
			}
		case "where":
			if i > 1 && (starts(c[i+1:], "it", "is") || starts(c[i+1:], "they", "are")) {
				return true
			}
		case "the", "exactly":
			if i > 0 && among(low(c, i+1), "same") && i+2 == len(c) {
				return true
			}
		}
	}
	return false
}
