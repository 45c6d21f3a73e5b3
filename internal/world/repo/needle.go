package repo

import (
	"bytes"
	"slices"
	"strings"
)

// Needles are texts of which every match of a pattern contains one. A nil
// *needles is no knowledge.
type needles struct {
	texts  [][]byte
	fold   bool // the texts have small letters and stand for either case
	rare   []int
	kelvin bool // a letter has a third case, which is not ASCII
}

// common lists the bytes that are frequent in source code, the most frequent
// first.
const common = " \tetanrisoludcpmfh.,()g_\"b=0v1yxw:/k;*-2[]{}S'TEACRINPDOLFMB3&45q68Uz97G>WHV<j|XK+!YJQ#@Z\\$%?^`~"

// maxShort is how many needles of one or two bytes are worth to be searched for.
const maxShort = 3

// newNeedles returns nil if texts rule nothing out, or next to nothing.
func newNeedles(texts []string, fold bool) *needles {
	if w := weight(texts); w == 0 || w <= 2 && len(texts) > maxShort {
		return nil
	}
	n := &needles{fold: fold}
	for _, s := range texts {
		rare, rank := 0, -1
		for i := range len(s) {
			r := strings.IndexByte(common, s[i])
			if r < 0 {
				r = len(common)
			}
			if r > rank {
				rare, rank = i, r
			}
		}
		n.texts, n.rare = append(n.texts, []byte(s)), append(n.rare, rare)
		n.kelvin = n.kelvin || fold && strings.ContainsAny(s, "ks")
	}
	return n
}

// weak reports whether n rules out little.
func (n *needles) weak() bool {
	return n == nil || slices.ContainsFunc(n.texts, func(text []byte) bool { return len(text) == 1 })
}

// A finder finds needles in one text, from its start to its end.
type finder struct {
	*needles
	text []byte
	next []int    // where each needle is found next; len(text) if nowhere
	seen [][2]int // with fold: where the rare byte of each is next, in either case
}

// in returns a finder for text, or nil if n is, or cannot be relied on there.
func (n *needles) in(text []byte) *finder {
	if n == nil || n.kelvin && (bytes.Contains(text, []byte("\u212A")) || bytes.Contains(text, []byte("\u017F"))) {
		return nil
	}
	f := &finder{needles: n, text: text, next: slices.Repeat([]int{-1}, len(n.texts))}
	if n.fold {
		f.seen = slices.Repeat([][2]int{{-1, -1}}, len(n.texts))
	}
	return f
}

// find returns where the first needle from offset at on begins, or -1. Offsets
// must not go back.
func (f *finder) find(at int) int {
	first := len(f.text)
	for i, next := range f.next {
		if next < at {
			next = f.after(i, at)
			f.next[i] = next
		}
		first = min(first, next)
	}
	if first == len(f.text) {
		return -1
	}
	return first
}

// after returns where needle i is found from at on, or the length of the text.
func (f *finder) after(i, at int) int {
	needle := f.texts[i]
	if !f.fold {
		if n := bytes.Index(f.text[at:], needle); n >= 0 {
			return at + n
		}
		return len(f.text)
	}
	for {
		hit := f.rareFrom(i, at+f.rare[i])
		start := hit - f.rare[i]
		if hit == len(f.text) || start+len(needle) > len(f.text) {
			return len(f.text)
		}
		if equalFold(f.text[start:start+len(needle)], needle) {
			return start
		}
		at = start + 1
	}
}

// rareFrom returns where the rare byte of needle i is from at on, in either
// case, or the length of the text.
func (f *finder) rareFrom(i, at int) int {
	if at >= len(f.text) {
		return len(f.text)
	}
	small := f.texts[i][f.rare[i]]
	seen := &f.seen[i]
	for k, c := range [2]byte{small, upper(small)} {
		if k == 1 && c == small {
			return seen[0]
		}
		if seen[k] >= at {
			continue
		}
		seen[k] = len(f.text)
		if n := bytes.IndexByte(f.text[at:], c); n >= 0 {
			seen[k] = at + n
		}
	}
	return min(seen[0], seen[1])
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// equalFold reports whether b is small, but for the case of ASCII letters.
func equalFold(b, small []byte) bool {
	for i, c := range b {
		if c != small[i] && (c < 'A' || c > 'Z' || c+'a'-'A' != small[i]) {
			return false
		}
	}
	return true
}
