package constraint

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A word is one of a sentence, in lower case and without the marks around it.
type word struct {
	low        string
	start, end int  // in the sentence
	stop       bool // a clause ends behind it
	colon      bool // with a colon
}

// readWords splits a masked sentence at white space. Chinese is one word as long
// as it is written together.
func readWords(text string) []word {
	words := make([]word, 0, len(text)/5+1) // words of prose are longer than four bytes, with their blank
	for i := 0; i < len(text); {
		if text[i] <= ' ' {
			i++
			continue
		}
		from := i
		for i < len(text) && text[i] > ' ' {
			i++
		}
		raw := text[from:i]
		if !latinLetter(raw[0]) && strings.Trim(raw, "-–—*•") == "" { // a dash between clauses
			if n := len(words); n > 0 {
				words[n-1].stop = true
			}
			continue
		}
		if n := len(words); n > 0 && raw[0] == '(' {
			words[n-1].stop = true
		}
		words = readWord(words, raw, from)
	}
	return words
}

// dashes end a clause though no blank is beside them.
var dashes = []string{"—", "–", "，", "：", "（", "）"}

// marks may stand around a word; what closes behind one may end a clause.
const (
	openMarks  = "(\"'[{" + string(rune(blank))
	closeMarks = ".,;:!?)\"'…]}" + string(rune(blank))
)

func latinLetter(b byte) bool { return b|' ' >= 'a' && b|' ' <= 'z' }

// plain reports whether a text has nothing but small letters, and one letter at least.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < 'a' || text[i] > 'z' {
			return false
		}
	}
	return text != ""
}

// readWord adds what stands between two blanks to words: a word or, where a clause
// ends inside it, several.
func readWord(words []word, raw string, at int) []word {
	if plain(raw) {
		return append(words, word{low: raw, start: at, end: at + len(raw)})
	}
	ascii := !strings.ContainsFunc(raw, func(r rune) bool { return r >= utf8.RuneSelf })
	for _, dash := range dashes {
		if ascii {
			break
		}
		if before, after, ok := strings.Cut(raw, dash); ok {
			known := len(words)
			words = readWord(words, before, at)
			if n := len(words); n > known {
				words[n-1].stop = true
			}
			return readWord(words, after, at+len(before)+len(dash))
		}
	}
	body := strings.TrimLeft(raw, openMarks)
	at += len(raw) - len(body)
	inner := strings.TrimRight(body, closeMarks)
	if inner == "" {
		if body == "" {
			return words
		}
		return append(words, word{low: string(rune(blank)), start: at, end: at, stop: true})
	}
	low := strings.ToLower(inner)
	if low == "w/o" {
		low = "without"
	}
	if !ascii {
		low = strings.ReplaceAll(low, "’", "'")
	}
	stop := strings.ContainsAny(body[len(inner):], ",;:)!?…") || strings.HasSuffix(body, ".")
	return append(words, word{low: low, start: at, end: at + len(inner), stop: stop, colon: strings.HasPrefix(body[len(inner):], ":")})
}

// clauses cuts words where a clause ends, and before what begins another one.
func clauses(words []word) (out [][]word) {
	from := 0
	for i, w := range words {
		if i > from && begins(words, from, i) {
			out = append(out, words[from:i])
			from = i
		}
		if w.stop {
			out = append(out, words[from:i+1])
			from = i + 1
		}
	}
	if from < len(words) {
		out = append(out, words[from:])
	}
	return out
}

// begins reports whether a clause begins at words[i], in one that began at from.
func begins(words []word, from, i int) bool {
	next := func(n int) string {
		if i+n < len(words) {
			return words[i+n].low
		}
		return ""
	}
	switch words[i].low {
	case "but":
		if i > 1 && among(words[i-1].low, "file", "files") && among(words[i-2].low, "any", "other", "all", "no") && looksLikePath(next(1)) {
			return false
		}
		return !among(words[i-1].low, "nothing", "anything", "everything", "all", "any") || among(next(1), "only", "don't", "dont", "do", "never", "please", "leave", "you", "not")
	case "because", "since", "however", "although", "though":
		return true
	case "so":
		return next(1) != "that" || i-from > 2
	case "and", "then":
		if next(1) == "nothing" && next(2) == "else" && i+3 == len(words) {
			return false
		}
		if among(next(1), "don't", "dont", "never", "not", "also", "please", "always", "leave", "keep", "avoid", "no", "you", "i", "we", "it", "they", "that", "this", "only", "stay", "stop", "ask", "do", "then", "without", "under", "instead", "just", "make", "if", "when", "before", "errors", "all", "every", "refrain", "be", "you're", "youre", "i'd", "stick", "steer", "treat", "limit", "restrict", "hands", "nothing", "nobody", "must", "it's", "try", "do", "u") {
			return true
		}
		if asksMe(words[i+1:]) {
			return true
		}
		if isGerund(next(1)) && (has(words[i+1:], "forbidden") > 0 || has(words[i+1:], "not", "allowed") > 0 || has(words[i+1:], "prohibited") > 0) {
			return true
		}
		return i-from > 3 && imperative(next(1)) && !among(words[from].low, "never", "you") && objected(words[from:i])
	}
	return false
}

// objected reports whether a clause has more than verbs: "do not commit" has not,
// "do not touch api/" has.
func objected(words []word) bool {
	n := 0
	for _, w := range words {
		if !imperative(w.low) && !among(w.low, "and", "but", "also", "please", "do", "not", "don't", "dont", "never", "ever", "or") {
			n++
		}
	}
	return n > 0
}

func among(w string, of ...string) bool { return slices.Contains(of, w) }

// low returns the words in lower case, from the i-th on.
func low(words []word, i int) string {
	if i >= len(words) {
		return ""
	}
	return words[i].low
}

func last(words []word) string { return words[len(words)-1].low }

// has reports whether words have seq somewhere, and where.
func has(words []word, seq ...string) int {
	for i := 0; i+len(seq) <= len(words); i++ {
		if starts(words[i:], seq...) {
			return i
		}
	}
	return -1
}

// starts reports whether words begin with seq.
func starts(words []word, seq ...string) bool {
	if len(words) < len(seq) {
		return false
	}
	for i, s := range seq {
		if words[i].low != s {
			return false
		}
	}
	return true
}

func endsAny(text string, of ...string) bool {
	return slices.ContainsFunc(of, func(end string) bool { return strings.HasSuffix(text, end) })
}
