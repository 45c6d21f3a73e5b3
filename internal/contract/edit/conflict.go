package edit

import (
	"bytes"
	"fmt"
)

// A Conflict is a place that two sides changed in different ways: whole lines,
// as few as hold what both did there.
type Conflict struct {
	Start, End         int // in theirs
	Base, Mine, Theirs []byte
}

// Resolve carries i over to a file that changed from base to theirs, as Merge
// does, and lets settle say what is to stand in each place of conflict, in
// order. It takes back nothing of theirs outside those places. What both sides
// changed in the same way is no conflict, and no region of what is returned.
// Errors are those of Apply; a removal is ErrInvalid.
func (i Intent) Resolve(base, theirs []byte, settle func(Conflict) []byte) (Intent, error) {
	if err := i.check(base); err != nil {
		return Intent{}, err
	}
	if i.Remove {
		return Intent{}, fmt.Errorf("%w: a removal has nothing to resolve", ErrInvalid)
	}
	if bytes.Equal(base, theirs) {
		return i, nil
	}
	out := i
	out.Base, out.Result, out.Regions = Digest(theirs), "", nil
	shift := 0
	for _, g := range groups(base, i.Regions, Between(base, theirs)) {
		start, end := g.start+shift, g.end+shift
		for _, c := range g.theirs {
			end += c.Len - (c.End - c.Start)
		}
		switch {
		case len(g.theirs) == 0:
			for _, r := range g.mine {
				r.Start, r.End = r.Start+shift, r.End+shift
				out.Regions = append(out.Regions, r)
			}
		case len(g.mine) > 0:
			c := Conflict{Start: start, End: end, Base: base[g.start:g.end], Theirs: theirs[start:end]}
			c.Mine = splice(c.Base, g.start, g.mine)
			if bytes.Equal(c.Mine, c.Theirs) {
				break
			}
			if chosen := settle(c); !bytes.Equal(chosen, c.Theirs) {
				out.Regions = append(out.Regions, Region{
					Start: start, End: end, Len: len(chosen),
					Old: bytes.Clone(c.Theirs), New: bytes.Clone(chosen),
				})
			}
		}
		shift += end - start - (g.end - g.start)
	}
	if err := out.check(theirs); err != nil {
		return Intent{}, fmt.Errorf("resolve %s: %w", i.Path, err)
	}
	return out, nil
}

// splice returns piece, which begins at offset at of its base, with regions
// replaced that lie in it.
func splice(piece []byte, at int, regions []Region) []byte {
	var out []byte
	from := 0
	for _, r := range regions {
		out = append(out, piece[from:r.Start-at]...)
		out = append(out, r.New...)
		from = r.End - at
	}
	return append(out, piece[from:]...)
}

// A group is changes of the two sides that touch one another, and the range of
// the base that they are in. Where both sides are in it, it is whole lines.
type group struct {
	start, end   int
	mine, theirs []Region
}

func (g *group) add(r Region, mine bool) {
	if len(g.mine)+len(g.theirs) == 0 {
		g.start, g.end = r.Start, r.End
	}
	g.start, g.end = min(g.start, r.Start), max(g.end, r.End)
	if mine {
		g.mine = append(g.mine, r)
	} else {
		g.theirs = append(g.theirs, r)
	}
}

// groups puts together what touches: regions of mine with changes of theirs,
// and those with further ones. Two regions of one side do not bind by
// themselves, unless they share a line of a conflict.
func groups(base []byte, mine, theirs []Region) []group {
	var out []group
	for len(mine) > 0 || len(theirs) > 0 {
		var g group
		if len(theirs) == 0 || len(mine) > 0 && mine[0].Start <= theirs[0].Start {
			g.add(mine[0], true)
			mine = mine[1:]
		} else {
			g.add(theirs[0], false)
			theirs = theirs[1:]
		}
		for again := true; again; {
			again = false
			if len(theirs) > 0 && len(g.mine) > 0 && theirs[0].Start <= g.end {
				g.add(theirs[0], false)
				theirs, again = theirs[1:], true
			}
			if len(mine) > 0 && len(g.theirs) > 0 && mine[0].Start <= g.end {
				g.add(mine[0], true)
				mine, again = mine[1:], true
			}
			if len(g.mine) > 0 && len(g.theirs) > 0 {
				again = g.wholeLines(base) || again
			}
		}
		for n := len(out); n > 0 && out[n-1].end > g.start; n-- {
			g.mine = append(out[n-1].mine, g.mine...)
			out = out[:n-1]
		}
		out = append(out, g)
	}
	return out
}

// wholeLines widens g to whole lines of base, and reports whether it reaches
// further than before.
func (g *group) wholeLines(base []byte) bool {
	g.start = bytes.LastIndexByte(base[:g.start], '\n') + 1
	end := g.end
	if end == g.start || base[end-1] == '\n' {
		return false
	}
	if n := bytes.IndexByte(base[end:], '\n'); n >= 0 {
		g.end = end + n + 1
	} else {
		g.end = len(base)
	}
	return g.end > end
}
