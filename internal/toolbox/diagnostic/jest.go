package diagnostic

import (
	"strings"
)

// A jest reads what jest prints: a block for each failure, under the file that
// it is in.
type jest struct {
	found
	known bool
	file  string
	now   *jestBlock
	told  map[string]bool // failures that are repeated at the end
}

type jestBlock struct {
	Case
	suite bool // the file was not loaded
	text  lines
	over  bool // the message is at its end
}

var (
	jestFile  = lazy(`^ ?(PASS|FAIL) +(\S.*?)(?: \([0-9.]+ m?s\))?$`)
	jestError = lazy(`^\w*Error: (\S.*\.\w+): (.*) \(([0-9]+):([0-9]+)\)$`)
)

func (p *jest) line(s string) {
	switch {
	case strings.HasPrefix(s, "Tests: ") && p.total(s):
	case strings.HasPrefix(s, "Test Suites: "):
		p.flush()
		p.known = true
	case strings.HasPrefix(s, "No tests found, exiting with code"):
		p.known = true
		p.count()
	case strings.HasPrefix(s, "FAIL ") || strings.HasPrefix(s, " FAIL ") || strings.HasPrefix(s, "PASS ") || strings.HasPrefix(s, " PASS "):
		if m := jestFile().FindStringSubmatch(s); m != nil {
			p.flush()
			p.file = strings.TrimPrefix(m[2], "./")
		}
	case strings.HasPrefix(s, "  ● "):
		p.begin(s[len("  ● "):])
	case p.now != nil:
		p.detail(s)
	}
}

// total takes "Tests:       3 failed, 1 skipped, 2 passed, 6 total".
func (p *jest) total(s string) bool {
	n, ok := tally(strings.TrimPrefix(s, "Tests: "), ", ")
	if _, all := n["total"]; !ok || !all {
		return false
	}
	p.flush()
	p.known = true
	c := p.count()
	c.Passed += n["passed"]
	c.Failed += n["failed"]
	c.Skipped += n["skipped"] + n["todo"]
	return true
}

func (p *jest) begin(name string) {
	p.flush()
	if name == "Console" {
		return
	}
	p.now = &jestBlock{Case: Case{Name: name, Suite: p.file}, suite: name == "Test suite failed to run"}
}

// detail takes a line of the block: its message up to the excerpt of the source,
// then that, then the stack.
func (p *jest) detail(s string) {
	b := p.now
	text := strings.TrimSpace(s)
	switch {
	case strings.HasPrefix(text, "at "):
		b.over = true
		if file, line, column, ok := jsPlace(text); ok && b.File == "" {
			b.File, b.Line, b.Column = file, line, column
		}
	case strings.HasPrefix(text, "> ") && strings.Contains(text, " | "), jestGutter(text):
		b.over = true
	case b.suite && b.File == "" && strings.Contains(text, "Error: "):
		b.text = lines{}
		b.text.add(text)
		if m := jestError().FindStringSubmatch(text); m != nil {
			b.File = m[1]
			b.Line, _ = number(m[3])
			b.Column, _ = number(m[4])
		}
	case b.suite && b.text.n > 0 && strings.HasPrefix(text, "Jest encountered"), text == "", b.over:
	default:
		b.text.add(strings.TrimPrefix(s, "    "))
	}
}

// jestGutter reports whether s is "10 | source".
func jestGutter(s string) bool {
	digits, _, ok := strings.Cut(s, " |")
	_, number := number(digits)
	return ok && number
}

// jsPlace finds the place in "at f (src/a.js:3:5)", if it is in the project.
func jsPlace(s string) (file string, line, column int, ok bool) {
	s = strings.TrimPrefix(s, "at ")
	if strings.HasSuffix(s, ")") {
		i := strings.LastIndexByte(s, '(')
		if i < 0 {
			return "", 0, 0, false
		}
		s = s[i+1 : len(s)-1]
	}
	s = strings.TrimPrefix(s, "file://")
	file, line, column, ok = position(s)
	if !ok || strings.Contains(file, "node_modules/") || strings.HasPrefix(file, "node:") || file == "<anonymous>" {
		return "", 0, 0, false
	}
	return strings.TrimPrefix(file, "./"), line, column, true
}

func (p *jest) flush() {
	b := p.now
	p.now = nil
	if b == nil {
		return
	}
	if p.told == nil {
		p.told = make(map[string]bool)
	}
	key := clip(b.Suite, maxName) + "\x00" + clip(b.Name, maxName)
	if p.told[key] {
		return
	}
	if len(p.told) < 2*maxCases {
		p.told[key] = true
	}
	b.Message = b.text.String()
	if !b.suite {
		p.fail(b.Case)
		return
	}
	if b.File == "" {
		b.File = b.Suite
	}
	p.report.Broken = true
	p.problem(Problem{File: b.File, Line: b.Line, Column: b.Column, Severity: Error, Message: b.Message})
}

func (p *jest) end() (Report, bool) {
	p.flush()
	known := p.known || p.file != "" && len(p.report.Failing) > 0 // its end was cut off
	return p.found.end("jest"), known
}
