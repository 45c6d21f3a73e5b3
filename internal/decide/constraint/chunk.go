package constraint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A chunk is a part of a sentence between two marks, or before a word that joins it
// to another: what the reader weighs as a whole.
type chunk struct {
	start, end int      // bytes of the text
	mark       string   // or joining word, that it stands behind; a stop begins a sentence
	sentence   int      // which of the text's it belongs to
	asks       bool     // that one is a question
	chinese    bool     // that one has Chinese characters
	lists      bool     // lines that name files follow, and are part of it
	tokens     []string // its words, or Chinese characters, as tokenOf gives them
}

// joins are words before which an English sentence is cut.
var joins = []string{"but", "and", "so", "because", "since", "without", "while", "although", "though", "then", "plus"}

// chunksOf cuts a masked text.
func chunksOf(masked string) (all []chunk) {
	for n, s := range sentences(masked) {
		c := cutter{sentence: s, n: n, mark: ".", chinese: strings.ContainsFunc(s.text, isHan)}
		before := rune(0)
		for at := 0; at < len(s.text); {
			r, size := utf8.DecodeRuneInString(s.text[at:])
			if isBoundary(s.text[c.from:at]) {
				c.cut(at, at, "，")
			}
			if mark := c.endsAt(before, r, at, size); mark != "" {
				c.cut(at, at+size, mark)
			}
			before, at = r, at+size
		}
		c.cut(len(s.text), len(s.text), "")
		for _, next := range c.out {
			if last := len(all) - 1; last >= 0 && all[last].goesOn(masked, next) {
				all[last].lists, all[last].end = true, next.end
			} else {
				all = append(all, next)
			}
		}
	}
	return all
}

// goesOn reports whether next is one more line of a list of files that c begins, or has
// a line of already.
func (c chunk) goesOn(masked string, next chunk) bool {
	gap := masked[c.end:next.start]
	return strings.Count(gap, "\n") == 1 && (c.lists || strings.ContainsAny(gap, ":：")) && onlyPlaces(masked[next.start:next.end])
}

// courtesy is what a chunk may be that says nothing.
var courtesy = []string{"please", "pls", "plz", "thanks", "thank you", "thx", "ok", "okay", "no", "yes", "hi", "hello", "谢谢", "谢了", "多谢", "辛苦了", "拜托", "拜托了", "麻烦了", "谢谢啦", "感谢", "好", "好的", "嗯", "不行", "对", "你好"}

func isHan(r rune) bool { return r >= utf8.RuneSelf && unicode.Is(unicode.Han, r) }

// A cutter cuts one sentence.
type cutter struct {
	sentence
	n       int
	chinese bool
	from    int
	mark    string
	out     []chunk
}

// endsAt returns the mark that the character r at that place is between two chunks,
// "" if it is none.
func (c *cutter) endsAt(before, r rune, at, size int) string {
	next, _ := utf8.DecodeRuneInString(c.text[at+size:])
	last := at+size == len(c.text)
	switch r {
	case '，', '：', '（', '）', '—', '–', '～':
		return string(r)
	case ',', ':':
		if last || next == ' ' || isHan(next) {
			return string(r)
		}
	case '-', '(':
		if before == ' ' && (next == ' ' || r == '(') {
			return string(r)
		}
	case ' ':
		word, _, _ := strings.Cut(c.text[at+size:], " ")
		if isHan(before) && isHan(next) && !strings.ContainsAny(word, "/.") {
			return " "
		}
		word = strings.ToLower(strings.TrimRight(word, ","))
		if tasks := c.text[at+size:]; beginsTask(c.text[c.from:at], tasks) {
			return ","
		}
		if word == "but" && besides(c.text[c.from:at]) {
			return ""
		}
		if strings.TrimRight(word, ".!)") == "so" && endsAny(strings.ToLower(c.text[c.from:at]), []string{" say", " said", " do", " think"}) {
			return "" // unless I say so
		}
		if among(word, joins...) {
			return word
		}
	}
	return ""
}

// isBoundary reports whether words are what a task is to be done without, as Chinese says
// it: 在不改 a.go 的前提下.
func isBoundary(words string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimLeft(words, " "), "在"), "不")
	verb, _ := utf8.DecodeRuneInString(rest)
	return ok && endsAny(words, []string{"的前提下", "的情况下"}) && !strings.ContainsRune("得要能许准可应", verb)
}

// beginsTask reports whether rest is what is to be done without what stands before it,
// with no mark between them: without changing a.go fix b.go.
func beginsTask(before, rest string) bool {
	if !startsAny(before, []string{"without "}) {
		return false
	}
	done, next := tokensOf(before), tokensOf(rest[:min(len(rest), nearby)])
	if len(done) < 3 || len(next) < 2 || !isGerund(done[1]) || !imperative(next[0]) && !among(next[0], "fix", "get", "let", "find", "port", "speed", "tidy") {
		return false
	}
	last := done[len(done)-1]
	return among(last, "<path>", "<code>", "it", "them", "anything") ||
		!among(last, "the", "a", "an", "any", "my", "our", "its") && among(next[1], "<path>", "<code>", "the", "a", "an", "my", "our", "this", "that", "all", "every", "it")
}

// cut ends a chunk at end and begins the next one behind its mark.
func (c *cutter) cut(end, next int, mark string) {
	text := c.text[c.from:end]
	from := c.from + len(text)
	text = strings.TrimLeft(text, " \t-*•()\"'")
	from -= len(text)
	text = strings.TrimRight(text, " \t-*•()\"'")
	if text != "" && !among(strings.ToLower(strings.TrimRight(text, ".!~")), courtesy...) {
		c.out = append(c.out, chunk{
			start: c.start + from, end: c.start + from + len(text), mark: c.mark,
			sentence: c.n, asks: c.asks, chinese: c.chinese, tokens: tokensOf(text),
		})
		c.mark = mark
	}
	c.from = next
}

// tokensOf returns the words of a text in lower case; a Chinese character is one of
// itself.
func tokensOf(text string) (out []string) {
	text = strings.ToLower(text)
	from := 0
	end := func(at int) {
		if word := strings.Trim(text[from:at], ".!?,;:()"); word != "" {
			out = append(out, tokenOf(word))
		}
	}
	for at, r := range text {
		switch {
		case isHan(r):
			end(at)
			from = at + utf8.RuneLen(r)
			out = append(out, text[at:from])
		case r <= ' ' && r != blank || r == '，' || r == '、':
			end(at)
			from = at + utf8.RuneLen(r)
		}
	}
	end(len(text))
	return out
}

// tokenOf returns a word, or what stands for all of its form: a name that no two
// texts share says no more than its form does.
func tokenOf(word string) string {
	switch {
	case among(word, "dont", "don’t", "donot", "dnt"):
		return "don't"
	case among(word, "pls", "plz"):
		return "please"
	case strings.IndexByte(word, code) >= 0:
		return "<code>"
	case strings.Trim(word, "0123456789.%") == "":
		return "<number>"
	case looksLikePath(word):
		return "<path>"
	case strings.ContainsAny(word, "0123456789"):
		return "<version>"
	}
	return word
}
