package toolbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// land returns what the hunks of p come to in text, on which rungs of the ladder
// they were found, and what to tell of that. Hunks follow one another.
func (p filePatch) land(text string) (splices []splice, rungs, notes []string, failure *tool.Failure) {
	s, from := sheetOf(text), 0
	for n, h := range p.hunks {
		which := ""
		if len(p.hunks) > 1 {
			which = fmt.Sprintf("hunk %d of %d: ", n+1, len(p.hunks))
		}
		at, f := h.land(s, from)
		if f != nil {
			f.Message = which + f.Message
			return nil, nil, nil, f
		}
		splices = append(splices, at.splices...)
		from = at.line + h.through()
		if at.rung == "" {
			continue
		}
		if !slices.Contains(rungs, at.rung) {
			rungs = append(rungs, at.rung)
		}
		notes = append(notes, fmt.Sprintf("%s: %sinexact match at line %d: %s", p.path, which, at.line+1, at.rung))
	}
	return splices, rungs, notes, nil
}

// through returns how many lines of h.old there are up to its last change: what
// follows may be context of the next hunk too.
func (h patchHunk) through() int {
	if len(h.swaps) == 0 {
		return 0
	}
	return h.swaps[len(h.swaps)-1].to
}

// land finds the one place of h from a line on: the line it names, else the only
// one where its lines are, else the only one on the first rung of the ladder
// that has any.
func (h patchHunk) land(s sheet, from int) (landing, *tool.Failure) {
	if len(h.old) == 0 {
		return h.append(s)
	}
	if n := h.line - 1; n >= from && s.has(h.old, n) && h.fits(s, n) {
		return landing{line: n, splices: h.splices(s, n)}, nil
	}
	areas, failure := h.areas(s, from)
	if failure != nil {
		return landing{}, failure
	}
	var alike []landing
	for _, find := range []func(sheet, int) []landing{h.exactly, h.loosely} {
		found := slices.DeleteFunc(find(s, from), func(l landing) bool { return !h.fits(s, l.line) })
		for _, a := range areas {
			in := slices.DeleteFunc(slices.Clone(found), func(l landing) bool { return !a.holds(l.line) })
			if len(in) == 1 {
				return in[0], nil
			}
			if len(in) > 1 {
				alike = in
				break
			}
		}
		if len(alike) > 0 {
			break
		}
	}
	if len(alike) > 0 {
		how := ""
		if alike[0].rung != "" {
			how = ", but that " + alike[0].rung
		}
		return landing{}, &tool.Failure{
			Kind: tool.Ambiguous, Message: fmt.Sprintf("its lines occur %d times%s, at lines %s", len(alike), how, linesOf(alike)),
			Hint: "add lines of context until they occur once",
		}
	}
	return landing{}, h.missing(s, from)
}

// has reports whether lines stand in s from line n on.
func (s sheet) has(lines []string, n int) bool {
	if n < 0 || n+len(lines) > s.len() {
		return false
	}
	for k, l := range lines {
		if s.line(n+k) != l {
			return false
		}
	}
	return true
}

// fits reports whether h may be at line n: at the end, if it speaks of the end.
func (h patchHunk) fits(s sheet, n int) bool {
	return !h.marked && !h.atEnd || n+len(h.old) == s.len()
}

// append is a hunk that only adds lines and has no context: it makes an empty
// file, or, in a format that knows no line numbers, adds to the end.
func (h patchHunk) append(s sheet) (landing, *tool.Failure) {
	if s.len() > 0 && (!h.anyLine || len(h.anchors) > 0) {
		return landing{}, invalid("repeat the lines around those to add, each after a blank", "it has no lines of context, so its place is not known for sure")
	}
	return landing{line: s.len(), splices: h.splices(s, s.len())}, nil
}

// An area is lines where a hunk may be.
type area struct{ from, to int }

func (a area) holds(line int) bool { return a.from <= line && line < a.to }

// areas returns where h is to be looked for: in the blocks that begin with the
// last of its anchors, then after the first of those.
func (h patchHunk) areas(s sheet, from int) ([]area, *tool.Failure) {
	if len(h.anchors) == 0 {
		return []area{{from, s.len()}}, nil
	}
	var starts []int
	for _, a := range h.anchors {
		starts = s.starts(a, from)
		if len(starts) == 0 {
			return nil, &tool.Failure{
				Kind: tool.NoMatch, Message: fmt.Sprintf("no line is %q, which its @@ names", oneLine(a)),
				Hint: "copy a whole line of the file after @@, or leave it out",
			}
		}
		from = starts[0]
	}
	if len(starts) == 1 {
		return []area{{from, s.block(from)}, {from, s.len()}}, nil
	}
	return []area{{from, s.len()}}, nil // the anchor is none
}

// starts returns the lines from one on that are text, blanks at the ends aside.
func (s sheet) starts(text string, from int) []int {
	var out []int
	text = strings.TrimSpace(text)
	for n := from; n < s.len(); n++ {
		if strings.TrimSpace(s.line(n)) == text {
			out = append(out, n)
		}
	}
	return out
}

// block returns where what begins at line n ends: before the next line that is
// indented no more, unless that only closes it.
func (s sheet) block(n int) int {
	depth := len(indent(s.line(n)))
	for k := n + 1; k < s.len(); k++ {
		l := s.line(k)
		if strings.TrimSpace(l) != "" && len(indent(l)) <= depth && !strings.ContainsAny(strings.TrimSpace(l)[:1], "})]") {
			return k
		}
	}
	return s.len()
}

// missing says what in s is nearest to h.
func (h patchHunk) missing(s sheet, from int) *tool.Failure {
	old := strings.Join(h.old, "\n") + "\n"
	if f := markedOld(s.text, old); f != nil {
		return f
	}
	f := noMatch(s.text, old)
	f.Message = fmt.Sprintf("its %d lines of context and removal are not in the file", len(h.old))
	if n := slices.IndexFunc(h.exactly(s, 0), func(l landing) bool { return l.line < from }); n >= 0 {
		f.Hint = "they stand before an earlier hunk: put hunks in the order of the file"
	}
	return f
}
