package diagnostic

import (
	"fmt"
	"strings"
)

// A maven reads what Maven, its compiler plugin and Surefire print.
type maven struct {
	found
	known   bool
	last    *Problem // which the next lines go on with
	text    lines
	said    map[string]bool // problems and tests, which are told twice
	now     *javaCase
	results bool   // the list of failures at the end
	perTest Counts // by class, if the total is cut off
	goal    string // that failed
	testing bool   // Surefire was at work
}

// A javaCase is a failure whose exception is being read.
type javaCase struct {
	Case
	text lines
}

var (
	mavenPlace  = lazy(`^(/.+|[A-Za-z]:.+):\[(\d+)(?:,(\d+))?\] (.+)$`)
	mavenCase   = lazy(`^(.+?)\(([\w.$]+)\)  ?Time elapsed: .*<<< (?:FAILURE|ERROR)!`)
	mavenCase3  = lazy(`^([\w.$]+)\.([^.\s]+) -- Time elapsed: .*<<< (?:FAILURE|ERROR)!`)
	mavenTotal  = lazy(`^Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(, Time elapsed)?`)
	mavenResult = lazy(`^  ([\w$]+)\.([^:\s]+):(\d+)(?:->\S+)? (.*)$`)
	javaFrame   = lazy(`^\s+at (?:[\w.@-]*/+)?([\w.$<>\p{L}]+)\(([^():]+\.\w+):(\d+)\)`)
)

func (p *maven) line(s string) {
	switch {
	case strings.HasPrefix(s, "[ERROR] "):
		p.endCase()
		p.labelled(s[len("[ERROR] "):], Error)
	case strings.HasPrefix(s, "[WARNING] "):
		p.endCase()
		p.labelled(s[len("[WARNING] "):], Warning)
	case strings.HasPrefix(s, "[INFO]"):
		p.endCase()
		p.flush()
		p.info(strings.TrimSpace(s[len("[INFO]"):]))
	case p.now != nil:
		p.now.detail(s)
	case p.last != nil && strings.HasPrefix(s, "  "):
		p.text.add(strings.TrimSpace(s))
	}
}

func (p *maven) info(s string) {
	switch {
	case strings.HasPrefix(s, "Scanning for projects"), s == "BUILD FAILURE", s == "BUILD SUCCESS":
		p.known = true
	case s == "Results:":
		p.results = true
	case strings.HasPrefix(s, "--- ") && strings.Contains(s, "surefire") && strings.Contains(s, ":test "):
		p.testing = true
	case s == "No tests to run.":
		p.count()
	case strings.HasPrefix(s, "Tests run: "):
		p.total(s)
	}
}

// labelled takes a line after its label.
func (p *maven) labelled(s string, severity Severity) {
	if p.last != nil && strings.HasPrefix(s, "  ") {
		p.text.add(strings.TrimSpace(s))
		return
	}
	p.flush()
	switch m := mavenPlace().FindStringSubmatch(s); {
	case m != nil:
		p.known = true
		p.last = &Problem{File: m[1], Severity: severity, Message: m[4]}
		p.last.Line, _ = number(m[2])
		p.last.Column, _ = number(m[3])
		p.text.add(m[4])
	case strings.HasPrefix(s, "Tests run: "):
		p.total(s)
	case strings.HasPrefix(s, "COMPILATION ERROR"):
		p.known, p.report.Broken = true, true
	case strings.Contains(s, "<<< "):
		p.begin(s)
	case strings.HasPrefix(s, "Failures:"), strings.HasPrefix(s, "Errors:"):
		p.results = true
	case strings.HasPrefix(s, "Failed to execute goal "):
		p.known = true
		p.failedGoal(s)
	case p.results && severity == Error:
		p.result(s)
	}
}

func (p *maven) failedGoal(s string) {
	if strings.Contains(s, "No tests were executed") || strings.Contains(s, "No tests matching pattern") {
		p.count()
		return
	}
	p.goal = strings.TrimSuffix(s, " -> [Help 1]")
}

// once reports whether key was not seen before.
func (p *maven) once(key string) bool {
	key = clip(key, maxName)
	if p.said[key] {
		return false
	}
	if p.said == nil {
		p.said = make(map[string]bool)
	}
	if len(p.said) < 10*maxCases {
		p.said[key] = true
	}
	return true
}

func (p *maven) flush() {
	q := p.last
	if q == nil {
		return
	}
	p.last = nil
	q.Message = p.text.String()
	p.text = lines{}
	first, _, _ := strings.Cut(q.Message, "\n")
	if p.once(fmt.Sprintf("%s:%d:%d: %s", q.File, q.Line, q.Column, first)) {
		p.problem(*q)
	}
}

// begin takes "ofTwo(shop.MoreTest)  Time elapsed: 0.003 s  <<< FAILURE!".
func (p *maven) begin(s string) {
	var method, class string
	if m := mavenCase().FindStringSubmatch(s); m != nil {
		method, class = m[1], m[2]
	} else if m := mavenCase3().FindStringSubmatch(s); m != nil {
		class, method = m[1], m[2]
	} else {
		p.total(s)
		return
	}
	p.known = true
	p.now = &javaCase{Case: Case{Name: method, Suite: class}}
}

// detail takes a line of the exception.
func (c *javaCase) detail(s string) {
	m := javaFrame().FindStringSubmatch(s)
	if m == nil {
		if c.File == "" && strings.TrimSpace(s) != "" && !strings.HasPrefix(strings.TrimSpace(s), "at ") {
			c.text.add(s)
		}
		return
	}
	for _, of := range []string{"org.junit.", "junit.", "java.", "jdk.", "sun.", "org.apache.maven.", "org.gradle.", "org.hamcrest."} {
		if strings.HasPrefix(m[1], of) {
			return
		}
	}
	if c.File == "" {
		c.File = m[2]
		c.Line, _ = number(m[3])
	}
}

func (p *maven) endCase() {
	c := p.now
	if c == nil {
		return
	}
	p.now = nil
	c.Message = c.text.String()
	if p.once(simple(c.Suite) + "." + c.Name) {
		p.fail(c.Case)
	}
}

// simple returns the name of a class without its package.
func simple(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// result takes "  MoreTest.ofTwo:11 expected:<4> but was:<3>" of the list at the
// end, which names what stands above it too.
func (p *maven) result(s string) {
	m := mavenResult().FindStringSubmatch(s)
	if m == nil || !p.once(m[1]+"."+m[2]) {
		return
	}
	p.known = true
	c := Case{Name: m[2], Suite: m[1], File: m[1] + ".java", Message: strings.TrimPrefix(m[4], "» ")}
	c.Line, _ = number(m[3])
	p.fail(c)
}

// total takes "Tests run: 7, Failures: 1, Errors: 3, Skipped: 1", of a class or
// of all.
func (p *maven) total(s string) {
	m := mavenTotal().FindStringSubmatch(s)
	if m == nil {
		return
	}
	p.known = true
	run, _ := number(m[1])
	failures, _ := number(m[2])
	errors, _ := number(m[3])
	skipped, _ := number(m[4])
	n := &p.perTest
	if m[5] == "" {
		n = p.count()
		p.results = false
	}
	n.Failed += failures + errors
	n.Skipped += skipped
	n.Passed += max(0, run-failures-errors-skipped)
}

func (p *maven) end() (Report, bool) {
	p.endCase()
	p.flush()
	switch {
	case p.report.Counts != nil:
	case p.perTest != Counts{}: // the total was cut off
		p.perTest.Unit = "tests"
		p.report.Counts = &p.perTest
	case p.testing && p.goal == "":
		p.count()
	}
	if p.goal != "" && len(p.report.Failing) == 0 && p.report.Errors == 0 {
		p.report.Broken = true
		p.problem(Problem{Severity: Error, Message: p.goal})
	}
	return p.found.end("maven"), p.known
}
