package toolbox

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// The rungs of the ladder, as a result and an intent name them.
const (
	byTrailing = "trailing blanks differ"
	byIndent   = "indentation differs"
	byShape    = "look-alike characters differ"
)

// A sheet is a text cut into lines.
type sheet struct {
	text string
	at   []int // where each line starts, and the end of the text
}

func sheetOf(text string) sheet {
	p := sheet{text: text}
	for start := 0; start < len(text); {
		p.at = append(p.at, start)
		n := strings.IndexByte(text[start:], '\n')
		if n < 0 {
			break
		}
		start += n + 1
	}
	p.at = append(p.at, len(text))
	return p
}

func (p sheet) len() int { return len(p.at) - 1 }

// line returns a line without its ending.
func (p sheet) line(n int) string { return strings.TrimSuffix(p.text[p.at[n]:p.at[n+1]], "\n") }

// lineOf returns the number, from 0, of the line that holds offset.
func (p sheet) lineOf(offset int) int {
	return sort.Search(p.len(), func(n int) bool { return p.at[n+1] > offset })
}

// A hunk is lines that a text should have in a row, and what is to become of
// them. The lines of old that no swap names stay as the text has them.
type hunk struct {
	old    []string
	swaps  []swap
	marked bool // it says how the text ends: it is at the end of it
	open   bool // then: without a newline
}

// A swap puts fresh in the place of old[from:to].
type swap struct {
	from, to int
	fresh    []string
}

// hunkOf returns the hunk that old and fresh are when they are taken as whole
// lines, and whether they can be.
func hunkOf(old, fresh string) (hunk, bool) {
	if strings.HasSuffix(old, "\n") != strings.HasSuffix(fresh, "\n") {
		if fresh != "" {
			return hunk{}, false
		}
	} else if !strings.HasSuffix(old, "\n") {
		old, fresh = old+"\n", fresh+"\n"
	}
	h := hunk{old: lines(old)}
	for _, r := range edit.Between([]byte(old), []byte(fresh)) {
		from := strings.Count(old[:r.Start], "\n")
		h.swaps = append(h.swaps, swap{from, from + strings.Count(string(r.Old), "\n"), lines(string(r.New))})
	}
	return h, true
}

// lines returns the lines of s without their endings.
func lines(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
	return out
}

// blank reports whether no line of h.old has more than blanks.
func (h hunk) blank() bool {
	for _, l := range h.old {
		if strings.TrimSpace(l) != "" {
			return false
		}
	}
	return true
}

// A landing is where a hunk was found: from which line on, or, of one that
// begins within a line, at which byte; on what rung; and what it comes to there.
type landing struct {
	line    int
	rung    string // "" if it is there exactly
	splices []splice
}

// maxLandings is how many places are told apart: more are as many.
const maxLandings = 10

// exactly returns where the lines of h are, from a line on.
func (h hunk) exactly(p sheet, from int) []landing {
	var out []landing
	for _, n := range p.find(h.old, from, func(s string) string { return s }) {
		out = append(out, landing{line: n, splices: h.splices(p, n)})
	}
	return out
}

// loosely climbs the ladder and returns the places on the first rung that has
// any. A place has as many lines as h.old.
func (h hunk) loosely(p sheet, from int) []landing {
	if h.blank() {
		return nil
	}
	trimmed := func(s string) string { return strings.TrimRight(s, " \t\r") }
	var out []landing
	for _, n := range p.find(h.old, from, trimmed) {
		out = append(out, landing{n, byTrailing, h.splices(p, n)})
	}
	if len(out) > 0 {
		return out
	}
	for _, n := range p.find(h.old, from, strings.TrimSpace) {
		if shifted, ok := h.shift(p, n); ok {
			out = append(out, landing{n, byIndent, shifted.splices(p, n)})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, n := range p.find(h.old, from, fold) {
		out = append(out, landing{n, byShape, h.shaped(p, n).splices(p, n)})
	}
	return out
}

// find returns the lines, from a line on, where those of old begin when both
// are seen through form.
func (p sheet) find(old []string, from int, form func(string) string) []int {
	if len(old) == 0 || from+len(old) > p.len() {
		return nil
	}
	var text, wanted strings.Builder
	at := make([]int, 0, p.len()-from)
	for n := from; n < p.len(); n++ {
		at = append(at, text.Len())
		text.WriteString("\n" + form(p.line(n)))
	}
	text.WriteByte('\n')
	for _, l := range old {
		wanted.WriteString("\n" + form(l))
	}
	wanted.WriteByte('\n')
	var out []int
	hay, needle := text.String(), wanted.String()
	for start := 0; len(out) < maxLandings; {
		n := strings.Index(hay[start:], needle)
		if n < 0 {
			break
		}
		start += n
		out = append(out, from+sort.SearchInts(at, start))
		start++
	}
	return out
}

// splices returns what h comes to where its lines begin at a line of p. A text
// that ends without a newline goes on to, unless h says otherwise.
func (h hunk) splices(p sheet, at int) []splice {
	var out []splice
	open := p.text != "" && !strings.HasSuffix(p.text, "\n")
	for _, s := range h.swaps {
		fresh, last := strings.Join(s.fresh, "\n"), at+s.to == p.len()
		if len(s.fresh) > 0 {
			if last && s.from == s.to && open {
				fresh = "\n" + fresh
			}
			if ends := last && (h.marked && h.open || !h.marked && open); !ends {
				fresh += "\n"
			}
		}
		out = append(out, splice{p.at[at+s.from], p.at[at+s.to], fresh})
	}
	return out
}

// fold returns s with each character that looks like another put as that one.
// It has as many characters as s.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(plainer, s)
		}
	}
	return s
}

// plainer returns what r looks like: the character of ASCII that a model, or a
// word processor, puts in its place.
func plainer(r rune) rune {
	switch {
	case r >= '\u2018' && r <= '\u201B', r == '\u2032', r == '\u00B4':
		return '\''
	case r >= '\u201C' && r <= '\u201F', r == '\u2033', r == '\u00AB', r == '\u00BB':
		return '"'
	case r >= '\u2010' && r <= '\u2015', r == '\u2212', r == '\uFE58', r == '\uFE63':
		return '-'
	case r == '\u00A0', r >= '\u2000' && r <= '\u200A', r == '\u202F', r == '\u205F', r == '\u3000':
		return ' '
	case r >= '\uFF01' && r <= '\uFF5E': // full-width forms
		return r - '\uFF01' + '!'
	}
	return r
}

// shaped returns h with what its swaps leave of their lines as p has it, where
// the lines are at a line of p but for look-alikes.
func (h hunk) shaped(p sheet, at int) hunk {
	out := h
	out.swaps = nil
	for _, s := range h.swaps {
		if len(s.fresh) > 0 && s.to > s.from {
			var have []string
			for n := s.from; n < s.to; n++ {
				have = append(have, p.line(at+n))
			}
			was := strings.Join(h.old[s.from:s.to], "\n")
			s.fresh = strings.Split(keepShape(strings.Join(have, "\n"), was, strings.Join(s.fresh, "\n")), "\n")
		}
		out.swaps = append(out.swaps, s)
	}
	return out
}

// keepShape returns fresh, which replaces old, with the characters that the two
// have in common at their ends as have has them: it is old but for look-alikes,
// character by character.
func keepShape(have, old, fresh string) string {
	h, o, f := []rune(have), []rune(old), []rune(fresh)
	head, tail := 0, 0
	for head < len(o) && head < len(f) && o[head] == f[head] {
		head++
	}
	for tail < len(o)-head && tail < len(f)-head && o[len(o)-1-tail] == f[len(f)-1-tail] {
		tail++
	}
	return string(h[:head]) + string(f[head:len(f)-tail]) + string(h[len(h)-tail:])
}

// among returns the places where old is but for look-alikes, also in the middle
// of lines, and what putting fresh there comes to.
func among(p sheet, old, fresh string) []landing {
	if strings.TrimSpace(old) == "" {
		return nil
	}
	hay, needle := fold(p.text), fold(old)
	if hay == p.text && needle == old {
		return nil
	}
	var out []landing
	count := utf8.RuneCountInString(old)
	seen, at := 0, 0 // bytes of hay, and of p.text: the same characters
	for start := 0; len(out) < maxLandings; {
		n := strings.Index(hay[start:], needle)
		if n < 0 {
			break
		}
		start += n
		at += runes(p.text[at:], utf8.RuneCountInString(hay[seen:start]))
		seen = start
		end := at + runes(p.text[at:], count)
		out = append(out, landing{p.lineOf(at), byShape, []splice{{at, end, keepShape(p.text[at:end], old, fresh)}}})
		start += len(needle)
	}
	return out
}

// runes returns how many bytes the first n characters of s take.
func runes(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}
