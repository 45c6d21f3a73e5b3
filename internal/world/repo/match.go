package repo

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A line longer than maxLine bytes is not shown whole: a window of maxLine bytes,
// of which lead come before the match, stands for it.
const (
	maxLine = 300
	lead    = 100
)

// A BadRegexp says what is wrong with a search's pattern, and where.
type BadRegexp struct {
	Offset int // in bytes
	Reason string
}

func (e *BadRegexp) Error() string {
	return fmt.Sprintf("bad regular expression: %s, at offset %d", e.Reason, e.Offset)
}

// A matcher finds the lines of a text that a pattern matches.
type matcher struct {
	re      *regexp.Regexp // matches within a line only, so that it can be run over a whole text
	literal string         // that each match contains; "" if there is none
	context int
}

// newMatcher compiles pattern.
func newMatcher(pattern string, context int) (*matcher, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return nil, &BadRegexp{max(strings.Index(pattern, e.Expr), 0), fmt.Sprintf("%s: %q", e.Code, e.Expr)}
	} else if err != nil {
		return nil, &BadRegexp{0, err.Error()}
	}
	if strings.Contains(required(parsed), "\n") {
		return nil, &BadRegexp{max(strings.Index(pattern, `\n`), 0), "a match must lie within one line"}
	}
	withinLine(parsed)
	re, err := regexp.Compile(parsed.String())
	if err != nil {
		return nil, &BadRegexp{0, err.Error()}
	}
	return &matcher{re: re, literal: required(parsed.Simplify()), context: context}, nil
}

// search returns the first want hits in text, and how many there are.
func (m *matcher) search(text string, want int) (hits []Hit, total int) {
	line, counted := 1, 0 // the number of the line at offset counted
	for at := 0; at < len(text); {
		start, end, ok := m.candidate(text, at)
		if !ok {
			break
		}
		at = end + 1
		for _, w := range m.windows(text[start:end]) {
			if total++; total > want {
				continue
			}
			line += strings.Count(text[counted:start], "\n")
			counted = start
			hits = append(hits, m.hit(text, start, end, line, w))
		}
	}
	return hits, total
}

// candidate returns the next line from at on, where a line starts, that may
// match.
func (m *matcher) candidate(text string, at int) (start, end int, ok bool) {
	var i int
	if m.literal != "" {
		i = strings.Index(text[at:], m.literal)
	} else if loc := m.re.FindStringIndex(text[at:]); loc != nil {
		i = loc[0]
	} else {
		i = -1
	}
	if i += at; i < at || i == len(text) && text[i-1] == '\n' {
		return 0, 0, false
	}
	start = at + strings.LastIndexByte(text[at:i], '\n') + 1
	end = len(text)
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		end = i + n
	}
	return start, end, true
}

// A window is the part of a line that is shown; the whole if it is short.
type window struct{ start, end int }

// windows returns what to show of a line: nothing if it does not match.
func (m *matcher) windows(line string) []window {
	if len(line) <= maxLine {
		if m.re.MatchString(line) {
			return []window{{0, len(line)}}
		}
		return nil
	}
	var all []window
	for _, loc := range m.re.FindAllStringIndex(line, -1) {
		if n := len(all); n > 0 && loc[0] < all[n-1].end {
			continue
		}
		start := boundary(line, max(loc[0]-lead, 0))
		all = append(all, window{start, boundary(line, min(start+maxLine, len(line)))})
	}
	return all
}

// boundary returns the start of the character that offset i of s is in.
func boundary(s string, i int) int {
	for back := 0; back < utf8.UTFMax && i-back > 0 && i < len(s); back++ {
		if utf8.RuneStart(s[i-back]) {
			return i - back
		}
	}
	return i
}

// hit describes a match in text[start:end], a line.
func (m *matcher) hit(text string, start, end, number int, w window) Hit {
	h := Hit{Line: number, Text: strings.Clone(text[start+w.start : start+w.end])}
	if w.start > 0 || w.end < end-start {
		h.Column = w.start + 1
	}
	for from := start; len(h.Before) < m.context && from > 0; {
		to := from - 1
		from = strings.LastIndexByte(text[:to], '\n') + 1
		h.Before = append([]string{short(text[from:to])}, h.Before...)
	}
	for to := end; len(h.After) < m.context && to+1 < len(text); {
		from := to + 1
		to = len(text)
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n
		}
		h.After = append(h.After, short(text[from:to]))
	}
	return h
}

// short returns the start of a line that is too long to be shown whole.
func short(line string) string {
	return strings.Clone(line[:boundary(line, min(len(line), maxLine))])
}
