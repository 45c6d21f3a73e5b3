package edit

import (
	"bytes"
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Between returns the regions that turn base into result. They are whole lines,
// as few as it finds in about n log n steps: lines that occur once on both
// sides hold the two together, and only what lies between them is compared.
func Between(base, result []byte) []Region {
	a, b := string(base), string(result)
	var regions []Region
	for _, p := range pieces(a, b) {
		for _, e := range udiff.Lines(a[p.a:p.aEnd], b[p.b:p.bEnd]) {
			start, end := p.a+e.Start, p.a+e.End
			regions = append(regions, Region{
				Start: start, End: end, Len: len(e.New),
				Old: bytes.Clone(base[start:end]), New: []byte(e.New),
			})
		}
	}
	return join(regions)
}

// join makes one region of those that touch.
func join(regions []Region) []Region {
	var out []Region
	for _, r := range regions {
		if n := len(out); n > 0 && out[n-1].End == r.Start {
			last := &out[n-1]
			last.End, last.Len = r.End, last.Len+r.Len
			last.Old, last.New = append(last.Old, r.Old...), append(last.New, r.New...)
			continue
		}
		out = append(out, r)
	}
	return out
}

// A piece is a range of a and the range of b to compare it with.
type piece struct{ a, aEnd, b, bEnd int }

// A line is a line's text and where it is.
type line struct {
	text  string
	start int
}

// pieces cuts a and b at the lines that occur once in each of them and stand in
// the same order in both. What both begin and end with is left out first: a
// small change in a large file costs little more than finding it.
func pieces(a, b string) []piece {
	start, end := alike(a, b)
	out := cut(a[start:len(a)-end], b[start:len(b)-end])
	for i := range out {
		p := &out[i]
		p.a, p.aEnd, p.b, p.bEnd = p.a+start, p.aEnd+start, p.b+start, p.bEnd+start
	}
	return out
}

// alike returns how long the whole lines are that a and b both begin with, and
// those after them that both end with.
func alike(a, b string) (start, end int) {
	n := min(len(a), len(b))
	for start < n && a[start] == b[start] {
		start++
	}
	start = strings.LastIndexByte(a[:start], '\n') + 1
	a, b = a[start:], b[start:]
	n = min(len(a), len(b))
	for end < n && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if begins(a, end) && begins(b, end) {
		return start, end
	}
	if i := strings.IndexByte(a[len(a)-end:], '\n'); i >= 0 {
		return start, end - i - 1
	}
	return start, 0
}

// begins reports whether a line of s begins n bytes before its end.
func begins(s string, n int) bool { return n == len(s) || s[len(s)-n-1] == '\n' }

func cut(a, b string) []piece {
	left, right := lines(a), lines(b)
	var out []piece
	last := piece{}
	for _, m := range increasing(unique(left, right)) {
		l, r := left[m.left], right[m.right]
		if l.start > last.a || r.start > last.b {
			out = append(out, piece{last.a, l.start, last.b, r.start})
		}
		last.a, last.b = l.start+len(l.text), r.start+len(r.text)
	}
	if last.a < len(a) || last.b < len(b) {
		out = append(out, piece{last.a, len(a), last.b, len(b)})
	}
	return out
}

func lines(s string) []line {
	var out []line
	at := 0
	for text := range strings.Lines(s) {
		out = append(out, line{text, at})
		at += len(text)
	}
	return out
}

// A match says that a line on the left is one on the right, by their numbers.
type match struct{ left, right int }

// unique returns the lines that occur once on either side, in order of the left.
func unique(left, right []line) []match {
	type count struct{ left, right, at int }
	counts := make(map[string]count, len(left))
	for _, l := range left {
		c := counts[l.text]
		c.left++
		counts[l.text] = c
	}
	for i, r := range right {
		if c, ok := counts[r.text]; ok {
			c.right++
			c.at = i
			counts[r.text] = c
		}
	}
	var out []match
	for i, l := range left {
		if c := counts[l.text]; c.left == 1 && c.right == 1 {
			out = append(out, match{i, c.at})
		}
	}
	return out
}

// increasing returns a longest part of matches whose right sides go up.
func increasing(matches []match) []match {
	tails := []int{}                    // tails[n] ends the best sequence of n+1
	before := make([]int, len(matches)) // the one before each in its sequence
	for i, m := range matches {
		n := sort.Search(len(tails), func(n int) bool { return matches[tails[n]].right > m.right })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	out := make([]match, len(tails))
	if len(tails) == 0 {
		return out
	}
	for n, i := len(tails)-1, tails[len(tails)-1]; n >= 0; n, i = n-1, before[i] {
		out[n] = matches[i]
	}
	return out
}
