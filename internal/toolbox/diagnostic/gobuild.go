package diagnostic

import "strings"

// A goBuild reads the compiler's and vet's lines.
type goBuild struct {
	all   *goTool
	under bool // a header that names a package
	last  Problem
	text  lines
	count int       // of lines of last
	bare  []Problem // under no header: tests may print the like
}

// complaints begin what the go command itself has to say.
var complaints = []string{
	"go: cannot ", "go: errors ", "go: updates ", "go: inconsistent ", "go: module ", "go: no ",
	"malformed import path ", "no required module provides package ", "package command-line-arguments is not ",
}

// line takes a line, if it is of a build.
func (b *goBuild) line(s string) bool {
	if b.count > 0 && strings.HasPrefix(s, "\t") { // more of the same
		b.text.add(strings.TrimSpace(s))
		return true
	}
	if strings.HasPrefix(s, "# ") && (strings.HasSuffix(s, "]") || !strings.Contains(s[2:], " ")) {
		b.flush()
		b.under = true
		return true
	}
	s = strings.TrimPrefix(s, "vet: ")
	if p, ok := goPosition(s); ok {
		b.flush()
		b.begin(p)
		return true
	}
	for _, c := range complaints {
		if strings.HasPrefix(s, c) {
			b.flush()
			b.begin(Problem{Severity: Error, Message: s})
			return true
		}
	}
	b.flush()
	b.under = false
	return false
}

func (b *goBuild) begin(p Problem) {
	b.last, b.text, b.count = p, lines{}, 1
	b.text.add(p.Message)
}

func (b *goBuild) flush() {
	if b.count == 0 {
		return
	}
	b.count = 0
	b.last.Message = b.text.String()
	if b.under {
		b.take(b.last)
	} else if len(b.bare) < maxProblems {
		b.bare = append(b.bare, b.last)
	}
}

func (b *goBuild) take(p Problem) {
	b.all.known, b.all.report.Broken = true, true
	b.all.problem(p)
}

// end takes the lines without a header, unless tests ran and nothing was wrong
// with what they were built of: then they printed them.
func (b *goBuild) end() {
	b.flush()
	if b.all.tested && !b.all.report.Broken {
		return
	}
	for _, p := range b.bare {
		b.take(p)
	}
}

// goPosition splits "file.go:3:5: message", which begins the line.
func goPosition(s string) (Problem, bool) {
	i := strings.Index(s, ".go:")
	if i <= 0 || s[0] == ' ' || s[0] == '\t' {
		return Problem{}, false
	}
	rest := s[i+len(".go:"):]
	l, rest, _ := strings.Cut(rest, ":")
	c, text, ok := strings.Cut(rest, ": ")
	line, isLine := number(l)
	column, isColumn := number(c)
	if !ok || !isLine || !isColumn {
		return Problem{}, false
	}
	return Problem{File: s[:i+len(".go")], Line: line, Column: column, Severity: Error, Message: text}, true
}
