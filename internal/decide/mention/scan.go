package mention

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/pattern"
)

// maxCuts is how many ends of one candidate are tried.
const maxCuts = 64

// linesRE is a range of lines behind a path, as editors, compilers and GitHub
// write it: ":10", ":10-20", ":10:5", "#L10", "#L10-L20".
var linesRE = pattern.Later(`^(?::(\d{1,7})(?:-(\d{1,7})|:\d{1,7})?|#L(\d{1,7})(?:-L?(\d{1,7}))?)`)

// lastRE finds where a path ends that is followed by lines.
var lastRE = pattern.Later(`(?::\d{1,7}(?:-\d{1,7}|:\d{1,7})?|#L\d{1,7}(?:-L?\d{1,7})?)$`)

// ranged parts a path from the lines behind it; first is 0 if there are none.
func ranged(s string) (path string, first, last int) {
	span := lastRE().FindStringIndex(s)
	if span == nil || span[0] == 0 {
		return s, 0, 0
	}
	m := linesRE().FindStringSubmatch(s[span[0]:])
	for _, n := range m[1:] {
		switch v, _ := strconv.Atoi(n); {
		case v == 0:
		case first == 0:
			first = v
		default:
			last = v
		}
	}
	if last == 0 {
		last = first
	}
	return s[:span[0]], min(first, last), max(first, last)
}

// cuts returns where the path at the start of s may end, the longest first: at
// its end, or before what people write right behind a path. A stop or a colon
// belongs to the path unless the sentence ends with it.
func cuts(s string) []int {
	ends := []int{len(s)}
	for i, r := range s {
		if i == 0 {
			continue
		}
		rest := strings.TrimLeft(s[i:], ".:?")
		switch {
		case east(r), strings.ContainsRune(",;()[]{}'!=&", r):
			ends = append(ends, i)
		case strings.ContainsRune(".:?", r) && (rest == "" || stops(rest)):
			ends = append(ends, i)
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	slices.Reverse(ends)
	if len(ends) > maxCuts { // the shortest are the likeliest where so much follows
		ends = ends[len(ends)-maxCuts:]
	}
	return ends
}

// stops reports whether s begins with what ends a path.
func stops(s string) bool {
	for _, r := range s {
		return r == '@' || east(r) || strings.ContainsRune(",;()[]{}'!=&", r)
	}
	return false
}

// ends reports the characters that no path without quotes goes on behind.
func ends(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"<>|*`“”", r)
}

// east reports letters of scripts that put no space between words, and the
// punctuation that goes with them.
func east(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) ||
		0x3000 <= r && r <= 0x303f || 0xff00 <= r && r <= 0xffef || 0x2013 <= r && r <= 0x2027
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
