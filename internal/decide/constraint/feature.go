package constraint

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A message is a text as the reader weighs it.
type message struct {
	chunks []chunk
	task   int // the first chunk that is one
}

// weighed cuts a text.
func weighed(text string) message {
	m := message{chunks: chunksOf(mask(text))}
	m.task = slices.IndexFunc(m.chunks, func(c chunk) bool {
		return imperative(c.first()) || among(c.first(), "can", "could", "please")
	})
	return m
}

// features calls see with each feature of the i-th chunk, some of them more than
// once: what stands in it and where, what stands in the ones beside it, and how it
// lies. What see is given it must not keep.
func (m message) features(i int, see func(feature []byte)) {
	f := features{see: see}
	c := m.chunks[i]
	f.words(c)
	f.place(m, i)
	f.beside("before", m, i, i-1)
	f.beside("after", m, i, i+1)
	if i > 1 {
		f.runs("first", m.chunks[0].tokens, 2, true)
	}
}

// features makes the names of features in one buffer.
type features struct {
	see   func([]byte)
	buf   []byte
	names []string // words, of which each name is "A"
}

// add makes one of a kind and the words that it is of.
func (f *features) add(kind string, words ...string) {
	f.buf = append(f.buf[:0], kind...)
	for _, w := range words {
		f.buf = append(f.buf, ' ')
		f.buf = append(f.buf, w...)
	}
	f.see(f.buf)
}

// runs adds each run of up to n words, or only those at the beginning.
func (f *features) runs(kind string, words []string, n int, begin bool) {
	for from := range words {
		for to := from + 1; to <= min(from+n, len(words)); to++ {
			f.add(kind, words[from:to]...)
		}
		if begin {
			return
		}
	}
}

// words adds what stands in a chunk.
func (f *features) words(c chunk) {
	n := 3
	if c.chinese {
		n = 4
	}
	words := c.tokens
	f.runs("has", words, n, false)
	f.runs("begins", words, n, true)
	for k := 1; k <= min(2, len(words)); k++ {
		f.add("ends", words[len(words)-k:]...)
	}
	for i := 2; i < len(words); i++ {
		f.add("apart", words[i-2], words[i])
	}
	if c.chinese {
		f.form(words)
	}
	for i, w := range words {
		f.word(c, i, w)
	}
	if n := prohibits(words); n > 0 {
		f.add("prohibits")
		f.add("prohibits behind", c.mark)
		f.runs("prohibits what", words[n:], 2, true)
	}
}

// form adds what Chinese words say of a name, whatever it is.
func (f *features) form(words []string) {
	f.names = f.names[:0]
	for _, w := range words {
		if w[0] < utf8.RuneSelf {
			w = "A"
			if n := len(f.names); n > 0 && f.names[n-1] == w {
				continue
			}
		}
		f.names = append(f.names, w)
	}
	if len(f.names) == len(words) && !slices.Contains(f.names, "A") {
		return
	}
	f.runs("form", f.names, 4, false)
	f.runs("form begins", f.names, 3, true)
	for k := 2; k <= min(3, len(f.names)); k++ {
		f.add("form ends", f.names[len(f.names)-k:]...)
	}
}

// prohibits returns how many words from the beginning on say that something is not to
// be done, 0 if none do.
func prohibits(words []string) int {
	for i, w := range words {
		switch {
		case among(w, "please", "but", "and", "also", "just", "so", "you", "请", "千", "万", "也", "绝", "对", "都"):
			continue
		case among(w, "don't", "dont", "never", "avoid", "no", "别", "勿"):
			return i + 1
		case i+1 < len(words) && (among(w, "do", "must", "should", "may", "can") && words[i+1] == "not" ||
			w == "不" && among(words[i+1], "要", "能", "得", "许", "准", "可", "允") || among(w, "禁", "严") && among(words[i+1], "止", "禁") || w == "切" && words[i+1] == "勿" || w == "避" && words[i+1] == "免"):
			return i + 2
		}
		return 0
	}
	return 0
}

// word adds what is known of a word by its form.
func (f *features) word(c chunk, i int, w string) {
	if w[0] >= 0x80 {
		return
	}
	before, after := "", ""
	if i > 0 {
		before = c.tokens[i-1]
	}
	if i+1 < len(c.tokens) {
		after = c.tokens[i+1]
	}
	if c.chinese { // a name, most often
		f.add("latin")
		f.add("latin behind", before)
		f.add("latin before", after)
		if i > 1 {
			f.add("latin behind", c.tokens[i-2], before)
		}
		return
	}
	root := rootOf(w)
	f.add("root", root)
	if after != "" {
		f.add("root", root, rootOf(after))
	}
	if i == 0 {
		f.add("root begins", root)
	}
	if i < 2 {
		if imperative(w) {
			f.add("verb", strconv.Itoa(i))
		}
		if isGerund(w) {
			f.add("gerund", strconv.Itoa(i))
		}
	}
	if isParticiple(w) {
		f.add("participle")
	}
	if isProgram(w) || isKnownPackage(w) {
		f.add("tool")
		f.add("tool behind", before)
		f.add("tool", strconv.Itoa(min(i, 3)))
	}
	for from := 0; len(w) > 3 && from+4 <= len(w)+2; from++ {
		f.letters(w, from)
	}
}

// letters adds four letters of a word, of which each end is one.
func (f *features) letters(w string, from int) {
	f.buf = append(f.buf[:0], "letters "...)
	for i := from; i < from+4; i++ {
		switch {
		case i == 0:
			f.buf = append(f.buf, '<')
		case i == len(w)+1:
			f.buf = append(f.buf, '>')
		default:
			f.buf = append(f.buf, w[i-1])
		}
	}
	f.see(f.buf)
}

// rootOf returns a word without its ending.
func rootOf(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s", "e"} {
		if body, ok := strings.CutSuffix(w, end); ok && len(body) > 2 {
			return body
		}
	}
	return w
}

// place adds where in the text a chunk stands, and whether a task stands before it.
func (f *features) place(m message, i int) {
	c := m.chunks[i]
	f.add("mark", c.mark)
	f.add("length", strconv.Itoa(min(len(c.tokens)/2, 6)))
	switch i {
	case 0:
		f.add("first")
	case len(m.chunks) - 1:
		f.add("last")
	}
	if c.sentence == 0 {
		f.add("first sentence")
	}
	if m.chunks[len(m.chunks)-1].sentence == 0 {
		f.add("only sentence")
	}
	if c.asks {
		f.add("asks")
	}
	if c.lists {
		f.add("lists")
	}
	task := "no task"
	if m.task >= 0 && m.task < i {
		task = "task"
	}
	f.add(task)
	if len(c.tokens) > 0 {
		f.add(task, c.tokens[0])
	}
}

func (c chunk) first() string {
	if len(c.tokens) == 0 {
		return ""
	}
	return c.tokens[0]
}

// beside adds what stands in the j-th chunk, beside the i-th.
func (f *features) beside(kind string, m message, i, j int) {
	if j < 0 || j >= len(m.chunks) {
		f.add(kind)
		return
	}
	c, b := m.chunks[i], m.chunks[j]
	if b.sentence != c.sentence {
		kind += "/"
	}
	n := 2
	if c.chinese {
		n = 3
	}
	f.runs(kind+" begins", b.tokens, n, true)
	for k := 1; k <= min(2, len(b.tokens)); k++ {
		f.add(kind+" ends", b.tokens[len(b.tokens)-k:]...)
	}
	f.runs(kind, b.tokens, 1, false)
	if imperative(b.first()) {
		f.add(kind + " verb")
	}
	f.add(kind+" both", b.first(), c.first())
	if prohibits(b.tokens) > 0 {
		f.add(kind + " prohibits")
	}
}
