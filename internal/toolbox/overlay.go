package toolbox

import "strings"

// An overlay is a text with changes over it: pieces of the text, and what was
// put between them.
type overlay struct {
	base   string
	pieces []piece
}

// A piece is base[start:end], or new text.
type piece struct {
	start, end int
	text       string // new, if fresh
	fresh      bool
}

func (p piece) len() int {
	if p.fresh {
		return len(p.text)
	}
	return p.end - p.start
}

// cut returns p in two parts, the first of n bytes.
func (p piece) cut(n int) (head, tail piece) {
	if p.fresh {
		return piece{text: p.text[:n], fresh: true}, piece{text: p.text[n:], fresh: true}
	}
	return piece{start: p.start, end: p.start + n}, piece{start: p.start + n, end: p.end}
}

// over returns base without changes.
func over(base string) overlay {
	return overlay{base: base, pieces: []piece{{end: len(base)}}}
}

// replace puts text in the place of n bytes at each of the offsets, which
// ascend, do not overlap, and count in the text as it is now.
func (o *overlay) replace(offsets []int, n int, text string) {
	var out []piece
	at, rest := 0, o.pieces
	advance := func(to int, keep bool) {
		for at < to {
			p := rest[0]
			if take := to - at; take < p.len() {
				p, rest[0] = p.cut(take)
			} else {
				rest = rest[1:]
			}
			if at += p.len(); keep {
				out = append(out, p)
			}
		}
	}
	for _, offset := range offsets {
		advance(offset, true)
		advance(offset+n, false)
		out = append(out, piece{text: text, fresh: true})
	}
	o.pieces = append(out, rest...)
}

// String returns the text as it is now.
func (o *overlay) String() string {
	var b strings.Builder
	for _, p := range o.pieces {
		if p.fresh {
			b.WriteString(p.text)
		} else {
			b.WriteString(o.base[p.start:p.end])
		}
	}
	return b.String()
}

// A splice puts text in the place of base[start:end].
type splice struct {
	start, end int
	text       string
}

// splices returns what leads from the base to the text as it is now, in order.
func (o *overlay) splices() []splice {
	var all []splice
	var b strings.Builder
	at, changed := 0, false
	flush := func(to int) {
		if changed || to > at {
			all = append(all, splice{at, to, b.String()})
		}
		b.Reset()
		changed = false
	}
	for _, p := range o.pieces {
		if p.fresh {
			b.WriteString(p.text)
			changed = true
			continue
		}
		flush(p.start)
		at = p.end
	}
	flush(len(o.base))
	return all
}
