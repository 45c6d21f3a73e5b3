package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A line longer than maxLine bytes is not shown whole: a window of maxLine bytes,
// of which lead come before the match, stands for it.
const (
	maxLine = 300
	lead    = 100
)

const (
	// stretch is how many bytes are searched at most by the regular expression engine
	// before ctx is asked again.
	stretch = 64 << 10

	// piece is how many bytes, with a line break in them, the regular expression
	// engine is given at once: it is two to four times slower on long texts.
	piece = 1 << 10
)

// A BadRegexp says what is wrong with a search's pattern, and where.
type BadRegexp struct {
	Offset int // in bytes
	Reason string
	cause  error
}

// Unwrap returns ErrManyLines or nil.
func (e *BadRegexp) Unwrap() error { return e.cause }

func (e *BadRegexp) Error() string {
	return fmt.Sprintf("bad regular expression: %s, at offset %d", e.Reason, e.Offset)
}

// A matcher finds the lines of a text that a pattern matches.
type matcher struct {
	re      *regexp.Regexp // matches within a line only, so that it can be run over many
	later   *regexp.Regexp // its group is the first match of re that does not begin with the text
	needles *needles       // each match contains one; nil if that is not known
	plain   bool           // each needle is a match
	context int
}

// parse reads a pattern of which each match lies within one line.
func parse(pattern string) (*syntax.Regexp, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return nil, &BadRegexp{max(strings.Index(pattern, e.Expr), 0), fmt.Sprintf("%s: %q", e.Code, e.Expr), nil}
	} else if err != nil {
		return nil, &BadRegexp{0, err.Error(), nil}
	}
	simple := parsed.Simplify()
	if needs := literals(simple, false).best(); len(needs) > 0 && !slices.ContainsFunc(needs, func(s string) bool { return !strings.Contains(s, "\n") }) {
		return nil, &BadRegexp{max(strings.Index(pattern, `\n`), 0), ErrManyLines.Error(), ErrManyLines}
	}
	withinLine(simple)
	return simple, nil
}

// ErrManyLines reports a pattern that only several lines could match.
var ErrManyLines = errors.New("a match must lie within one line")

// newMatcher compiles pattern.
func newMatcher(pattern string, context int) (*matcher, error) {
	parsed, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	m := &matcher{context: context}
	if m.re, err = regexp.Compile(parsed.String()); err == nil {
		m.later, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + parsed.String() + `)`)
	}
	if err != nil { // of what the pattern was made into, which can be a hundred times as long
		reason := "it is too complex"
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			reason = e.Code.String()
		}
		return nil, &BadRegexp{0, reason, nil}
	}
	fold := folds(parsed)
	known := literals(parsed, fold)
	m.needles = newNeedles(known.best(), fold)
	m.plain = !fold && weight(known.all) > 0 && !asserts(parsed)
	return m, nil
}

// asserts reports whether re looks at what is around a match.
func asserts(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, asserts)
}

// search returns the first want hits in text, and how many there are. When ctx
// ends, it returns what it has found so far with the error of ctx.
func (m *matcher) search(ctx context.Context, text []byte, want int) (hits []Hit, total int, err error) {
	line, counted := 1, 0 // the number of the line at offset counted
	err = m.each(ctx, text, func(start, end int, w window) {
		if total++; total > want {
			return
		}
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		hits = append(hits, m.hit(text, start, end, line, w))
	})
	return hits, total, err
}

// each calls found with each line, text[start:end], that matches, and what to
// show of it: with a long line for each part that is shown.
func (m *matcher) each(ctx context.Context, text []byte, found func(start, end int, w window)) error {
	f := m.needles.in(text)
	asked := 0
	for at := 0; at < len(text); {
		if at >= asked {
			if err := ctx.Err(); err != nil {
				return err
			}
			asked = at + stretch
		}
		i, next := m.candidate(f, text, at)
		if i < 0 {
			at = next
			continue
		}
		start, end := lineAround(text, at, i)
		at = end + 1
		switch {
		case end-start > maxLine:
			if err := m.windows(ctx, f, text, start, end, found); err != nil {
				return err
			}
		case f == nil || m.plain || m.re.Match(text[start:end]):
			found(start, end, window{0, end - start})
		}
	}
	return nil
}

// candidate returns an offset in the first line from at on, where a line starts,
// that may match; without a finder a short line does match. It is -1 if
// there is none before next, where a line starts as well.
func (m *matcher) candidate(f *finder, text []byte, at int) (i, next int) {
	if f != nil {
		return f.find(at), len(text)
	}
	end := len(text)
	if end > at+piece {
		end = at + piece
		if n := bytes.LastIndexByte(text[at:end], '\n'); n >= 0 {
			end = at + n
		} else {
			return at, 0
		}
	} else if text[end-1] == '\n' {
		end--
	}
	if loc := m.re.FindIndex(text[at:end]); loc != nil {
		return at + loc[0], 0
	}
	return -1, end + 1
}

// lineAround returns the line that offset i is in, and which starts no earlier
// than at.
func lineAround(text []byte, at, i int) (start, end int) {
	start = at + bytes.LastIndexByte(text[at:i], '\n') + 1
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return start, i + n
	}
	return start, len(text)
}

// A window is the part of a line that is shown; the whole if it is short.
type window struct{ start, end int }

// windows calls found with what to show of a long line: with nothing if it does
// not match. A match that begins in a window has no other.
func (m *matcher) windows(ctx context.Context, f *finder, text []byte, start, end int, found func(start, end int, w window)) error {
	line := text[start:end]
	for at := 0; at < len(line); {
		i := m.next(ctx, f, text, start, end, at)
		if err := ctx.Err(); err != nil {
			return err
		}
		if i < 0 {
			break
		}
		from := boundary(line, max(i-lead, 0))
		at = boundary(line, min(from+maxLine, len(line)))
		found(start, end, window{from, at})
	}
	return nil
}

// next returns where in the line text[start:end] the first match from at on
// begins, or -1. It stops when ctx ends.
func (m *matcher) next(ctx context.Context, f *finder, text []byte, start, end, at int) int {
	if f != nil {
		i := f.find(start + at)
		if i < 0 || i >= end {
			return -1
		}
		if m.plain {
			return i - start
		}
	}
	if at == 0 {
		var loc []int
		if line := text[start:end]; len(line) <= stretch {
			loc = m.re.FindIndex(line)
		} else {
			loc = m.re.FindReaderIndex(&characters{ctx: ctx, rest: line})
		}
		if loc == nil {
			return -1
		}
		return loc[0]
	}
	_, size := utf8.DecodeLastRune(text[start : start+at])
	at -= size // what is before a match can matter
	var loc []int
	if rest := text[start+at : end]; len(rest) <= stretch {
		loc = m.later.FindSubmatchIndex(rest)
	} else {
		loc = m.later.FindReaderSubmatchIndex(&characters{ctx: ctx, rest: rest})
	}
	if loc == nil {
		return -1
	}
	return at + loc[2]
}

// Characters are read until ctx ends.
type characters struct {
	ctx  context.Context
	rest []byte
	read int
}

func (c *characters) ReadRune() (r rune, size int, err error) {
	if c.read++; len(c.rest) == 0 || c.read%stretch == 0 && c.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRune(c.rest)
	c.rest = c.rest[size:]
	return r, size, nil
}

// boundary returns the start of the character that offset i of b is in.
func boundary(b []byte, i int) int {
	for back := 0; back < utf8.UTFMax && i-back > 0 && i < len(b); back++ {
		if utf8.RuneStart(b[i-back]) {
			return i - back
		}
	}
	return i
}

// hit describes a match in text[start:end], a line.
func (m *matcher) hit(text []byte, start, end, number int, w window) Hit {
	h := Hit{Line: number, Text: string(text[start+w.start : start+w.end])}
	if w.start > 0 || w.end < end-start {
		h.Column = w.start + 1
	}
	for from := start; len(h.Before) < m.context && from > 0; {
		to := from - 1
		from = bytes.LastIndexByte(text[:to], '\n') + 1
		h.Before = append(h.Before, short(text[from:to]))
	}
	slices.Reverse(h.Before)
	for to := end; len(h.After) < m.context && to+1 < len(text); {
		from := to + 1
		to = len(text)
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n
		}
		h.After = append(h.After, short(text[from:to]))
	}
	return h
}

// short returns the start of a line that is too long to be shown whole.
func short(line []byte) string {
	return string(line[:boundary(line, min(len(line), maxLine))])
}
