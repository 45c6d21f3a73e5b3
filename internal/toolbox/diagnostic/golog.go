package diagnostic

import (
	"fmt"
	"strings"
)

// A goLog is what a test printed by its methods: a line with a position and what
// is indented under it are one entry.
type goLog struct {
	first, last    goEntry
	n              int
	parent, within bool // for its test, as in a goCase
}

type goEntry struct {
	file   string
	line   int
	indent int
	text   lines
}

func (l *goLog) add(s string) {
	in := indent(s)
	text := s[in:]
	if file, rest, ok := strings.Cut(text, ".go:"); ok && !strings.ContainsAny(file, " \t:") {
		digits, said, _ := strings.Cut(rest, ":")
		if n, ok := number(digits); ok {
			e := goEntry{file: file + ".go", line: n, indent: in}
			e.text.add(strings.TrimPrefix(said, " "))
			if l.last = e; l.n == 0 {
				l.first = e
			}
			l.n++
			return
		}
	}
	if l.n > 0 && in > l.last.indent {
		l.last.text.add(strings.TrimSpace(text))
		if l.n == 1 {
			l.first.text = lines{}
			l.first.text.add(l.last.text.String())
		}
	}
}

// fill puts into c where and why it failed: most likely by what it said last.
func (l *goLog) fill(c *Case) {
	if l.n == 0 {
		return
	}
	c.File, c.Line = l.last.file, l.last.line
	c.Message = l.last.text.String()
	if l.n == 1 {
		return
	}
	c.Message = fmt.Sprintf("%s:%d: %s\n", l.first.file, l.first.line, clip(l.first.text.String(), maxMessage/3))
	if l.n > 2 {
		c.Message += fmt.Sprintf("(%d more)\n", l.n-2)
	}
	c.Message += fmt.Sprintf("%s:%d: %s", l.last.file, l.last.line, clip(l.last.text.String(), maxMessage/3))
}
