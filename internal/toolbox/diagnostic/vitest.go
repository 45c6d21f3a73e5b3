package diagnostic

import (
	"strings"
)

// A vitest reads what vitest prints: one heading or several, for tests that
// failed alike, then the error and the places that it came from.
type vitest struct {
	found
	known bool
	heads []Case
	suite bool // the headings are of files that were not loaded
	text  lines
	over  bool // the message is at its end
	place Case
}

var vitestEnd = lazy(`^⎯+(\[\d+/\d+\])?⎯*$`)

func (p *vitest) line(s string) {
	text := strings.TrimSpace(s)
	switch {
	case strings.HasPrefix(s, " RUN  v"), strings.HasPrefix(s, " DEV  v"), strings.HasPrefix(s, " Test Files  "):
		p.flush()
		p.known = true
	case strings.HasPrefix(s, "No test files found"):
		p.count()
	case strings.HasPrefix(s, "      Tests  "):
		p.flush()
		p.total(text)
	case strings.HasPrefix(s, " FAIL  "):
		p.head(strings.TrimPrefix(s, " FAIL  "))
	case len(p.heads) == 0:
	case strings.HasPrefix(s, "⎯"):
		if vitestEnd().MatchString(s) {
			p.flush()
		}
	default:
		p.detail(s, text)
	}
}

// total takes "Tests  3 failed | 2 passed | 1 skipped (6)".
func (p *vitest) total(s string) {
	s = strings.TrimSpace(strings.TrimPrefix(s, "Tests"))
	if i := strings.LastIndex(s, " ("); i >= 0 {
		s = s[:i]
	}
	if s == "no tests" {
		p.count()
		return
	}
	if n, ok := tally(s, " | "); ok {
		c := p.count()
		c.Passed += n["passed"]
		c.Failed += n["failed"]
		c.Skipped += n["skipped"] + n["todo"]
	}
}

// head takes "more.test.js > total > of two", or "more.test.js [ more.test.js ]".
func (p *vitest) head(s string) {
	if len(p.heads) > 0 && (p.text.n > 0 || p.over) {
		p.flush()
	}
	if strings.HasPrefix(s, "|") {
		if _, rest, ok := strings.Cut(s[1:], "| "); ok { // a project
			s = rest
		}
	}
	file, name, ok := strings.Cut(s, " > ")
	if !ok {
		p.suite = true
		file, _, _ = strings.Cut(s, " [ ")
	}
	if len(p.heads) < maxCases {
		p.heads = append(p.heads, Case{Name: clip(name, maxName), Suite: clip(file, maxName)})
	}
}

func (p *vitest) detail(s, text string) {
	at, isPlace := strings.CutPrefix(text, "❯ ")
	if f, ok := strings.CutPrefix(text, "File: "); ok && p.suite {
		isPlace, at = true, f
	}
	switch {
	case isPlace:
		p.over = true
		file, line, column, ok := position(at)
		if !ok || p.place.File != "" || strings.Contains(file, "node_modules/") {
			return
		}
		if i := strings.LastIndex(file, " "); i >= 0 && !p.isFile(file) { // the function comes first
			file = file[i+1:]
		}
		p.place = Case{File: strings.TrimPrefix(file, "./"), Line: line, Column: column}
	case p.over, text == "":
	case jestGutter(text):
		p.over = true
	default:
		p.text.add(s)
	}
}

// isFile reports whether name is a file of the headings, whose name may have
// spaces.
func (p *vitest) isFile(name string) bool {
	for _, h := range p.heads {
		if h.Suite == name {
			return true
		}
	}
	return false
}

func (p *vitest) flush() {
	for _, c := range p.heads {
		c.File, c.Line, c.Column = p.place.File, p.place.Line, p.place.Column
		c.Message = p.text.String()
		switch {
		case !p.suite:
			p.fail(c)
		default:
			if c.File == "" || c.File == "/"+c.Suite {
				c.File = c.Suite
			}
			p.report.Broken = true
			p.problem(Problem{File: c.File, Line: c.Line, Column: c.Column, Severity: Error, Message: c.Message})
		}
	}
	p.heads, p.suite, p.text, p.over, p.place = nil, false, lines{}, false, Case{}
}

func (p *vitest) end() (Report, bool) {
	p.flush()
	return p.found.end("vitest"), p.known
}
