package diagnostic

import (
	"strings"
)

// A ctest reads what ctest prints: a line for each test, the output of those
// that failed if asked for, and the list of those at the end.
type ctest struct {
	found
	known  bool
	list   string // which list the lines are of
	tests  map[string]*ctestCase
	names  []string
	output map[string]*lines // of the tests that run, by number
	now    *ctestCase
	seen   Counts // by the lines of the tests
	failed int
	all    int
	off    int // that did not run and were not meant to
	hidden int // tests that were skipped, which ctest counts as passed
}

type ctestCase struct {
	Case
	why  string
	text lines
}

const ctestRunning = 500 // tests that run at once

var (
	ctestLine  = lazy(`^ *\d+/\d+ Test +#(\d+): (.+?) \.*(?:   |([A-Za-z ]*)\*\*\*)([A-Z][A-Za-z: ()]*?) +[\d.]+ sec`)
	ctestTotal = lazy(`^\d+% tests passed, (\d+) tests? failed out of (\d+)$`)
	ctestEntry = lazy(`^\t *\d+ - (.+) \(([A-Za-z ]+)\)`)
	ctestSays  = lazy(`^(\d+): (.*)$`)
	ctestFile  = lazy(`(?:^|[\s(])([^\s:(]+\.(?:c|cc|cpp|cxx|h|hpp|m|f90|py|rs|cu)):(\d+)`)
)

func (p *ctest) line(s string) {
	switch {
	case strings.HasPrefix(s, "Test project /"):
		p.known = true
	case s == "No tests were found!!!":
		p.count()
	case strings.Contains(s, " Test ") && strings.HasSuffix(s, " sec") && p.result(s):
	case strings.Contains(s, "% tests passed, ") && p.total(s):
	case s == "The following tests FAILED:", s == "The following tests did not run:":
		p.now = nil
		p.list = s
	case p.list != "" && strings.HasPrefix(s, "\t"):
		p.entry(s)
	case strings.HasPrefix(s, "    Start "), strings.HasPrefix(s, "test "):
		p.now = nil
	case p.known && p.says(s):
	case p.now != nil:
		if t := strings.TrimSpace(s); t != "" {
			p.now.add(t)
		}
	}
}

// result takes "3/9 Test #3: wrong ......***Failed    0.00 sec".
func (p *ctest) result(s string) bool {
	m := ctestLine().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	p.now = nil
	said := p.output[m[1]]
	delete(p.output, m[1])
	name, before, how := m[2], m[3], m[4]
	switch {
	case how == "Passed":
		p.seen.Passed++
	case how == "Skipped", strings.HasPrefix(how, "Not Run (Disabled"):
		p.seen.Skipped++
	default:
		p.seen.Failed++
		p.now = p.test(name)
		if p.now == nil {
			break
		}
		p.now.why = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(how, "Exception: "), ":"))
		if before != "" {
			p.now.why = before
		}
		if said != nil {
			for l := range strings.SplitSeq(said.String(), "\n") {
				p.now.add(l)
			}
		}
	}
	return true
}

// says takes "3: looking at wrong", which is what test 3 printed.
func (p *ctest) says(s string) bool {
	m := ctestSays().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	for _, own := range []string{"Test command:", "Working Directory:", "Test timeout computed", "Environment variables:"} {
		if strings.HasPrefix(m[2], own) {
			return true
		}
	}
	l := p.output[m[1]]
	if l == nil && len(p.output) < ctestRunning {
		if p.output == nil {
			p.output = make(map[string]*lines)
		}
		l = &lines{}
		p.output[m[1]] = l
	}
	if l != nil && m[2] != "" {
		l.add(m[2])
	}
	return true
}

func (p *ctest) test(name string) *ctestCase {
	name = clip(name, maxName)
	c := p.tests[name]
	if c == nil && len(p.names) < 10*maxCases {
		if p.tests == nil {
			p.tests = make(map[string]*ctestCase)
		}
		c = &ctestCase{Case: Case{Name: name}}
		p.tests[name] = c
		p.names = append(p.names, name)
	}
	return c
}

func (c *ctestCase) add(s string) {
	if m := ctestFile().FindStringSubmatch(s); m != nil && c.File == "" {
		c.File = m[1]
		c.Line, _ = number(m[2])
	}
	c.text.add(s)
}

// total takes "38% tests passed, 5 tests failed out of 8".
func (p *ctest) total(s string) bool {
	m := ctestTotal().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	p.now, p.known = nil, true
	failed, _ := number(m[1])
	all, _ := number(m[2])
	p.failed += failed
	p.all += all
	p.count()
	return true
}

// entry takes "\t  3 - wrong (Failed)".
func (p *ctest) entry(s string) {
	m := ctestEntry().FindStringSubmatch(s)
	switch {
	case m == nil:
	case p.list != "The following tests FAILED:":
		if m[2] == "Skipped" {
			p.hidden++
		} else {
			p.off++
		}
	default:
		p.known = true
		if c := p.test(m[1]); c != nil && c.why == "" {
			c.why = m[2]
		}
	}
}

func (p *ctest) end() (Report, bool) {
	if !p.known {
		return Report{}, false
	}
	for _, name := range p.names {
		c := p.tests[name]
		c.Message = c.why
		if c.text.n > 0 {
			c.Message += "\n" + c.text.String()
		}
		p.fail(c.Case)
	}
	switch n := p.report.Counts; {
	case n != nil:
		n.Failed = p.failed
		n.Skipped = p.hidden + p.off
		n.Passed = max(0, p.all-p.failed-p.hidden)
	case p.seen != Counts{}: // the end was cut off
		p.seen.Unit = "tests"
		p.report.Counts = &p.seen
	}
	return p.found.end("ctest"), true
}
