package diagnostic

import (
	"strings"
)

// A pytest reads what pytest prints: a block for each failure, then one line for
// each, which names it in full, then the counts.
type pytest struct {
	found
	known   bool
	section string // FAILURES, ERRORS, summary or ""
	now     *pytestBlock
	blocks  []*pytestBlock
	early   []Case // told while they ran
	taken   map[string]bool
}

// A pytestBlock is what is told of one failure.
type pytestBlock struct {
	Case
	collecting, setup bool
	text              lines
	fixed             bool // the position is the error's own
	used              bool
}

var (
	pytestRule  = lazy(`^=+ (.+?) =+$`)
	pytestTitle = lazy(`^_{2,} ?(\S.*?) ?_{2,}$`)
	pytestEarly = lazy(`^(\S.*?::.*?) (?:FAILED|ERROR) +\[ *\d+%\]$`)
	pytestSum   = lazy(`^(?:\d+ [a-z]+, )*\d+ [a-z]+ in [0-9.]+s(?: \([0-9:]+\))?$`)
	pytestFile  = lazy(`^E +File "(.+)", line (\d+)`)
)

func (p *pytest) line(s string) {
	switch {
	case strings.HasPrefix(s, "=="):
		if m := pytestRule().FindStringSubmatch(s); m != nil {
			p.rule(m[1])
		}
	case strings.Contains(s, " in ") && pytestSum().MatchString(s):
		p.total(s)
	case p.section == "summary":
		p.summary(s)
	case p.section != "":
		p.detail(s)
	case strings.HasSuffix(s, "%]") && strings.Contains(s, "::") && len(p.early) < maxCases:
		if m := pytestEarly().FindStringSubmatch(s); m != nil {
			p.known = true
			p.early = append(p.early, pytestCase(m[1]))
		}
	}
}

// rule takes a line that runs from edge to edge.
func (p *pytest) rule(title string) {
	p.now = nil
	switch {
	case title == "test session starts":
		p.known = true
		p.section = ""
	case title == "FAILURES", title == "ERRORS":
		p.section = title
	case title == "short test summary info":
		p.known = true
		p.section = "summary"
	case strings.HasPrefix(title, "no tests ran in "):
		p.known = true
		p.count()
	case pytestSum().MatchString(title):
		p.total(title)
	default:
		p.section = ""
	}
}

// total takes "3 failed, 1 passed in 0.02s".
func (p *pytest) total(s string) {
	s, _, _ = strings.Cut(s, " in ")
	n, ok := tally(s, ", ")
	if !ok {
		return
	}
	known := false
	for _, word := range []string{"passed", "failed", "skipped", "error", "errors", "deselected", "xfailed", "xpassed", "warning", "warnings"} {
		_, has := n[word]
		known = known || has
	}
	if !known {
		return
	}
	p.known = true
	p.section = ""
	c := p.count()
	c.Passed += n["passed"] + n["xpassed"]
	c.Failed += n["failed"] + n["error"] + n["errors"]
	c.Skipped += n["skipped"] + n["xfailed"]
}

// detail takes a line of the blocks.
func (p *pytest) detail(s string) {
	if strings.HasPrefix(s, "__") {
		if m := pytestTitle().FindStringSubmatch(s); m != nil {
			p.begin(m[1])
			return
		}
	}
	switch {
	case p.now == nil:
		if file, line, text, ok := pytestPlace(s); ok && p.section == "FAILURES" { // --tb=line
			p.keep(&pytestBlock{Case: Case{File: file, Line: line}, fixed: true}).text.add(text)
		}
	case strings.HasPrefix(s, "E   "):
		if m := pytestFile().FindStringSubmatch(s); m != nil {
			p.now.File = m[1]
			p.now.Line, _ = number(m[2])
			p.now.fixed = true
			return
		}
		p.now.text.add(strings.TrimPrefix(strings.TrimPrefix(s, "E   "), "    "))
	default:
		if file, line, _, ok := pytestPlace(s); ok && !p.now.fixed && !strings.HasPrefix(file, "/usr/") {
			p.now.File, p.now.Line = file, line
		}
	}
}

func (p *pytest) begin(title string) {
	b := &pytestBlock{}
	if name, ok := strings.CutPrefix(title, "ERROR collecting "); ok {
		b.collecting = true
		b.Name = name
	} else if name, ok := strings.CutPrefix(title, "ERROR at "); ok {
		b.setup = true
		_, b.Name, _ = strings.Cut(name, " of ")
	} else {
		b.Name = title
	}
	p.now = p.keep(b)
}

func (p *pytest) keep(b *pytestBlock) *pytestBlock {
	b.Name = clip(b.Name, maxName)
	if len(p.blocks) < 2*maxCases {
		p.blocks = append(p.blocks, b)
	}
	return b
}

// pytestPlace splits "tests/test_x.py:9: AssertionError".
func pytestPlace(s string) (file string, line int, text string, ok bool) {
	if s == "" || s[0] == ' ' || s[0] == '>' {
		return "", 0, "", false
	}
	i := strings.Index(s, ".py:")
	if i < 0 {
		return "", 0, "", false
	}
	digits, text, _ := strings.Cut(s[i+len(".py:"):], ":")
	line, ok = number(digits)
	return s[:i+len(".py")], line, strings.TrimSpace(text), ok
}

// summary takes "FAILED tests/test_x.py::test_y - assert 3 == 4".
func (p *pytest) summary(s string) {
	kind, rest, _ := strings.Cut(s, " ")
	if kind != "FAILED" && kind != "ERROR" || rest == "" {
		return
	}
	id, text, _ := strings.Cut(rest, " - ")
	c := pytestCase(id)
	file, name, ok := strings.Cut(id, "::")
	b := p.match(strings.ReplaceAll(name, "::", "."), file, kind == "ERROR", !ok)
	if b == nil {
		b = &pytestBlock{}
		b.text.add(text)
	}
	b.used = true
	c.Line, c.Message = b.Line, b.text.String()
	if b.File != "" {
		c.File = b.File
	}
	p.done(c, !ok)
}

// match returns the block of what the summary names.
func (p *pytest) match(name, file string, setup, collecting bool) *pytestBlock {
	for _, b := range p.blocks {
		if b.used || b.collecting != collecting {
			continue
		}
		if collecting && b.Name == file || !collecting && b.setup == setup && (b.Name == name || b.Name == "") {
			return b
		}
	}
	return nil
}

// done hands on a failure, or a file that could not be loaded.
func (p *pytest) done(c Case, collecting bool) {
	if p.taken == nil {
		p.taken = make(map[string]bool)
	}
	if len(p.taken) < 2*maxCases {
		p.taken[c.Name] = true
	}
	if collecting {
		p.report.Broken = true
		p.problem(Problem{File: c.File, Line: c.Line, Severity: Error, Message: c.Message})
		return
	}
	p.fail(c)
}

// pytestCase returns the case of "tests/test_x.py::TestY::test_z".
func pytestCase(id string) Case {
	file, _, _ := strings.Cut(id, "::")
	return Case{Name: clip(id, maxName), Suite: file, File: file}
}

func (p *pytest) end() (Report, bool) {
	if !p.known {
		return Report{}, false
	}
	told := len(p.taken) > 0
	for _, b := range p.blocks { // the summary was cut off
		if !b.used && !told {
			b.Message = b.text.String()
			if b.collecting {
				b.File = b.Name
			}
			p.done(b.Case, b.collecting)
		}
	}
	for _, c := range p.early {
		if !told && len(p.blocks) == 0 {
			p.done(c, false)
		}
	}
	if p.report.Broken && p.report.Counts != nil { // files that did not load are no tests
		p.report.Counts.Failed = max(0, p.report.Counts.Failed-p.report.Errors)
	}
	return p.found.end("pytest"), true
}
