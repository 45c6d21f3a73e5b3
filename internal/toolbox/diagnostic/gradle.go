package diagnostic

import (
	"strings"
)

// A gradle reads what Gradle, javac under it and its test task print.
type gradle struct {
	found
	known  bool
	told   bool // the number of tests
	logged Counts
	last   *Problem
	text   lines
	now    *javaCase
	wrong  bool // what went wrong follows
	why    lines
}

var (
	gradlePlace = lazy(`^(?:[:\w]*?)(/\S.*\.(?:java|groovy|scala)):(\d+): (error|warning): (?:\[(\w+)\] )?(.+)$`)
	gradleCase  = lazy(`^([\w.$\p{L}]+(?: > .+)?) > (.+) (FAILED|PASSED|SKIPPED)$`)
	gradleAt    = lazy(`^    ([\w.$]+) at (\S+\.\w+):(\d+)$`)
	gradleTotal = lazy(`^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$`)
)

func (p *gradle) line(s string) {
	switch {
	case strings.HasPrefix(s, "> Task :"), strings.HasPrefix(s, "BUILD FAILED in "), strings.HasPrefix(s, "BUILD SUCCESSFUL in "), s == "FAILURE: Build failed with an exception.":
		p.endCase()
		p.flush()
		p.known = true
		if strings.HasSuffix(s, "est NO-SOURCE") {
			p.count()
		}
	case s == ":test NO-SOURCE":
		p.count()
	case strings.Contains(s, ": error: ") || strings.Contains(s, ": warning: "):
		p.place(s)
	case strings.HasSuffix(s, " FAILED") || strings.HasSuffix(s, " PASSED") || strings.HasSuffix(s, " SKIPPED"):
		p.result(s)
	case strings.Contains(s, " completed") && p.total(s):
	case strings.HasPrefix(s, "* What went wrong:"):
		p.endCase()
		p.wrong = true
	case strings.HasPrefix(s, "* "):
		p.wrong = false
	case p.wrong:
		p.reason(s)
	case p.now != nil:
		p.detail(s)
	case p.last != nil && strings.HasPrefix(s, "  symbol:"), p.last != nil && strings.HasPrefix(s, "  location:"):
		p.text.add(strings.TrimSpace(s))
	}
}

// place takes "/src/Shop.java:4: error: ';' expected".
func (p *gradle) place(s string) {
	m := gradlePlace().FindStringSubmatch(s)
	if m == nil {
		return
	}
	p.flush()
	p.last = &Problem{File: m[1], Severity: Severity(m[3]), Code: m[4]}
	p.last.Line, _ = number(m[2])
	p.text.add(m[5])
}

func (p *gradle) flush() {
	if p.last == nil {
		return
	}
	p.last.Message = p.text.String()
	p.report.Broken = p.report.Broken || p.last.Severity == Error
	p.problem(*p.last)
	p.last, p.text = nil, lines{}
}

// result takes "shop.MoreTest > ofTwo FAILED".
func (p *gradle) result(s string) {
	p.endCase()
	m := gradleCase().FindStringSubmatch(s)
	if m == nil {
		return
	}
	switch m[3] {
	case "PASSED":
		p.logged.Passed++
	case "SKIPPED":
		p.logged.Skipped++
	case "FAILED":
		p.logged.Failed++
		p.now = &javaCase{Case: Case{Name: m[2], Suite: m[1]}}
	}
}

// detail takes a line of the exception, which is told in full or in one line.
func (p *gradle) detail(s string) {
	if s == "" {
		p.endCase()
		return
	}
	if m := gradleAt().FindStringSubmatch(s); m != nil {
		p.now.File = m[2]
		p.now.Line, _ = number(m[3])
		p.now.text.add(m[1])
		return
	}
	p.now.detail(s)
}

func (p *gradle) endCase() {
	if p.now == nil {
		return
	}
	c := p.now
	p.now = nil
	c.Message = c.text.String()
	p.fail(c.Case)
}

// total takes "7 tests completed, 4 failed, 1 skipped".
func (p *gradle) total(s string) bool {
	m := gradleTotal().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	p.endCase()
	p.told = true
	n := p.count()
	all, _ := number(m[1])
	failed, _ := number(m[2])
	skipped, _ := number(m[3])
	n.Failed += failed
	n.Skipped += skipped
	n.Passed += max(0, all-failed-skipped)
	return true
}

// reason takes a line of what went wrong.
func (p *gradle) reason(s string) {
	if strings.Contains(s, "No tests found for given includes") {
		p.count()
	}
	if s != "" {
		p.why.add(s)
	}
}

func (p *gradle) end() (Report, bool) {
	if !p.known {
		return Report{}, false
	}
	p.endCase()
	p.flush()
	if p.logged != (Counts{}) && !p.told {
		p.logged.Unit = "tests"
		p.report.Counts = &p.logged
	}
	if p.why.n > 0 && len(p.report.Failing) == 0 && p.report.Errors == 0 && p.report.Counts == nil {
		p.report.Broken = true
		p.problem(Problem{Severity: Error, Message: p.why.String()})
	}
	return p.found.end("gradle"), true
}
