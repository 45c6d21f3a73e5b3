package diagnostic

import (
	"strings"
)

// A cargo reads what cargo, rustc and Rust's test harness print.
type cargo struct {
	found
	known   bool
	pending *Problem // whose place comes next
	cause   lines
	binary  string // whose tests run
	names   []string
	cases   map[string]*cargoCase // of the binary, by name
	listing bool                  // the names of failures
	now     *cargoCase
}

type cargoCase struct {
	Case
	text lines
	over bool
}

var (
	rustHead   = lazy(`^(error|warning)(?:\[([A-Z]+\d+)\])?: (.+)$`)
	rustShort  = lazy(`^(\S.*\.rs):(\d+):(\d+): (error|warning)(?:\[([A-Z]+\d+)\])?: (.+)$`)
	rustPanic  = lazy(`^thread '(.+)' (?:\(\d+\) )?panicked at (.+):(\d+):(\d+):$`)
	rustOld    = lazy(`^thread '(.+)' panicked at '(.*)', (.+):(\d+):(\d+)$`)
	rustShould = lazy(`^note: (test did not panic as expected) at (.+):(\d+):(\d+)$`)
	rustResult = lazy(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
)

// rustClosing begin what cargo says of errors that it has shown.
var rustClosing = []string{"could not compile ", "test failed, ", "doctest failed", "aborting due to ", "build failed"}

// rustAlone are parts of errors that have no place, and that only cargo makes.
var rustAlone = []string{
	"as a dependency of package ", "parse manifest at ", "could not find `Cargo.toml`", "no matching package",
	"failed to select a version", "failed to load manifest", "failed to load source for dependency",
}

func (p *cargo) line(s string) {
	switch {
	case strings.HasPrefix(s, "error") || strings.HasPrefix(s, "warning"):
		if m := rustHead().FindStringSubmatch(s); m != nil {
			p.head(m)
			return
		}
	case p.pending != nil && strings.HasPrefix(strings.TrimLeft(s, " "), "--> "):
		p.arrow(strings.TrimLeft(s, " ")[len("--> "):])
		return
	case strings.Contains(s, ".rs:") && p.short(s):
		return
	case strings.HasPrefix(s, "   Compiling ") || strings.HasPrefix(s, "    Finished ") && strings.Contains(s, "target(s)"):
		p.flush()
		p.known = true
		return
	case p.pending != nil:
		p.because(s)
		return
	}
	p.test(s)
}

// head takes "error[E0308]: mismatched types".
func (p *cargo) head(m []string) {
	p.flush()
	for _, c := range rustClosing {
		if strings.HasPrefix(m[3], c) {
			p.known = p.known || c == "could not compile "
			p.report.Broken = p.report.Broken || c == "could not compile "
			return
		}
	}
	p.pending = &Problem{Severity: Severity(m[1]), Code: m[2], Message: m[3]}
	for _, part := range rustAlone {
		if strings.Contains(m[3], part) {
			p.known = true
		}
	}
}

// arrow takes "src/main.rs:4:5".
func (p *cargo) arrow(s string) {
	q := *p.pending
	var ok bool
	if q.File, q.Line, q.Column, ok = position(s); !ok || !strings.Contains(q.File, ".") {
		return
	}
	p.pending, p.known = nil, true
	p.report.Broken = p.report.Broken || q.Severity == Error
	p.problem(q)
}

// because takes what follows an error that has no place so far.
func (p *cargo) because(s string) {
	if t := strings.TrimSpace(s); t != "" && t != "Caused by:" && p.pending.Severity == Error {
		p.cause.add(t)
	}
}

// flush ends an error without a place. Only if cargo made it, it counts.
func (p *cargo) flush() {
	q := p.pending
	p.pending = nil
	cause := p.cause.String()
	p.cause = lines{}
	if q == nil || q.Severity != Error {
		return
	}
	for _, part := range rustAlone {
		if strings.Contains(q.Message, part) {
			if cause != "" {
				q.Message += "\n" + cause
			}
			p.report.Broken = true
			p.problem(*q)
			return
		}
	}
}

// short takes a line of --message-format short.
func (p *cargo) short(s string) bool {
	m := rustShort().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	p.flush()
	q := Problem{File: m[1], Severity: Severity(m[4]), Code: m[5], Message: m[6]}
	q.Line, _ = number(m[2])
	q.Column, _ = number(m[3])
	p.known = true
	p.report.Broken = p.report.Broken || q.Severity == Error
	p.problem(q)
	return true
}

// test takes a line of the harness.
func (p *cargo) test(s string) {
	switch {
	case strings.HasPrefix(s, "     Running "), strings.HasPrefix(s, "   Doc-tests "):
		_, p.binary, _ = strings.Cut(strings.TrimSpace(s), " ")
		if i := strings.LastIndex(p.binary, " ("); i >= 0 {
			p.binary = p.binary[:i]
		}
		p.binary = strings.TrimPrefix(p.binary, "unittests ")
	case strings.HasPrefix(s, "test result: "):
		if m := rustResult().FindStringSubmatch(s); m != nil {
			p.total(m)
		}
	case strings.HasPrefix(s, "test ") && strings.HasSuffix(s, " ... FAILED"):
		name := strings.TrimSuffix(s[len("test "):], " ... FAILED")
		p.failure(strings.TrimSuffix(name, " - should panic"))
	case strings.HasPrefix(s, "---- ") && strings.HasSuffix(s, " stdout ----"):
		p.now = p.failure(strings.TrimSuffix(s[len("---- "):], " stdout ----"))
	case s == "failures:":
		p.now, p.listing = nil, true
	case p.now != nil:
		p.now.detail(s)
	case p.listing && strings.HasPrefix(s, "    ") && len(s) > 4 && s[4] != ' ':
		p.failure(s[4:])
	}
}

// failure returns the case of that name, nil if there are too many.
func (p *cargo) failure(name string) *cargoCase {
	name = clip(name, maxName)
	c := p.cases[name]
	if c == nil && len(p.names) < 10*maxCases {
		c = &cargoCase{Case: Case{Name: name}}
		if p.cases == nil {
			p.cases = make(map[string]*cargoCase)
		}
		p.cases[name] = c
		p.names = append(p.names, name)
	}
	return c
}

// detail takes a line of what a test printed.
func (c *cargoCase) detail(s string) {
	if m := rustPanic().FindStringSubmatch(s); m != nil {
		c.File, c.text, c.over = m[2], lines{}, false
		c.Line, _ = number(m[3])
		c.Column, _ = number(m[4])
		return
	}
	if m := rustOld().FindStringSubmatch(s); m != nil {
		c.File, c.text, c.over = m[3], lines{}, true
		c.text.add(m[2])
		c.Line, _ = number(m[4])
		c.Column, _ = number(m[5])
		return
	}
	if m := rustShould().FindStringSubmatch(s); m != nil {
		c.File, c.over = m[2], true
		c.text.add(m[1])
		c.Line, _ = number(m[3])
		c.Column, _ = number(m[4])
		return
	}
	if s == "stack backtrace:" || strings.HasPrefix(s, "note: run with `RUST_BACKTRACE") || s == "" && c.File != "" && c.text.n > 0 {
		c.over = true
	}
	if !c.over && s != "" {
		c.text.add(s)
	}
}

// total takes the line that ends a binary's tests.
func (p *cargo) total(m []string) {
	p.known = true
	n := p.count()
	passed, _ := number(m[1])
	failed, _ := number(m[2])
	ignored, _ := number(m[3])
	n.Passed += passed
	n.Failed += failed
	n.Skipped += ignored
	p.binaryEnd()
}

func (p *cargo) binaryEnd() {
	for _, name := range p.names {
		c := p.cases[name]
		c.Suite, c.Message = p.binary, c.text.String()
		p.fail(c.Case)
	}
	p.names, p.cases, p.now, p.listing = nil, nil, nil, false
}

func (p *cargo) end() (Report, bool) {
	p.flush()
	if p.known || p.binary != "" {
		p.binaryEnd() // its end was cut off
	}
	return p.found.end("cargo"), p.known || len(p.report.Failing) > 0
}
