package diagnostic

import "strings"

// A goTest reads the lines of go test, of one package after the other.
type goTest struct {
	all   *goTool
	json  bool   // its lines come as JSON, and those of subtests first
	rest  string // of a line that is not yet whole
	seen  bool   // a line of go test
	depth []*goCase
	run   map[string]*goLog // of the tests that run, where they print as they go
	now   string            // the test that prints
	cases []Case            // that failed in this package
	more  int
	tests Counts
	loose []string // the last lines that belong to no test
	panic goPanic
}

// A goCase is a test whose result is known.
type goCase struct {
	Case
	result string // PASS, FAIL or SKIP
	log    *goLog
	within bool // a subtest failed
	parent bool
}

const (
	runningMax = 5000 // tests that run at once, of all packages
	depthMax   = 50   // of subtests
)

// output takes a piece of what test, or "" for its package, printed.
func (t *goTest) output(test, s string) {
	s = t.rest + s
	t.rest = ""
	if !strings.HasSuffix(s, "\n") && len(s) < maxLine {
		t.rest = s
		return
	}
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		t.now = test
		t.line(clean([]byte(l)))
	}
}

func (t *goTest) line(s string) {
	t.panic.line(s)
	switch {
	case strings.HasPrefix(s, "=== "):
		t.mark(s)
	case strings.HasPrefix(s, "ok  \t"), strings.HasPrefix(s, "?   \t"), strings.HasPrefix(s, "FAIL\t"):
		t.packageEnd(s)
	case strings.HasPrefix(strings.TrimLeft(s, " "), "--- ") && t.result(s):
	case strings.HasPrefix(s, "    "):
		t.logged(s)
	case s != "" && s != "PASS" && s != "FAIL" && s[0] != '\t':
		if len(t.loose) == 3 {
			t.loose = t.loose[1:]
		}
		t.loose = append(t.loose, clip(s, maxName))
	}
}

// mark takes "=== RUN   TestX".
func (t *goTest) mark(s string) {
	kind, name, ok := strings.Cut(s[len("=== "):], " ")
	name = strings.TrimSpace(name)
	if !ok || name == "" || kind != "RUN" && kind != "NAME" && kind != "CONT" && kind != "PAUSE" {
		return
	}
	t.tell()
	t.panic = goPanic{}
	if t.run == nil {
		t.run = make(map[string]*goLog)
	}
	name = clip(name, maxName)
	if kind == "RUN" {
		t.all.verbose = true
		if t.run[name] == nil && t.all.running < runningMax {
			t.all.running++
			t.run[name] = &goLog{}
		}
	}
	t.now = name
}

// result takes "--- FAIL: TestX (0.00s)", indented by its depth.
func (t *goTest) result(s string) bool {
	depth := min(indent(s)/4, depthMax)
	s = strings.TrimLeft(s, " ")[len("--- "):]
	kind, name, ok := strings.Cut(s, ": ")
	if !ok || kind != "FAIL" && kind != "PASS" && kind != "SKIP" {
		return false
	}
	i := strings.LastIndex(name, " (")
	if i < 0 || !strings.HasSuffix(name, "s)") {
		return false
	}
	name = clip(name[:i], maxName)
	t.tell()
	log := t.run[name]
	if log == nil {
		log = &goLog{}
	} else {
		t.all.running--
		delete(t.run, name)
	}
	if t.json {
		depth = 0
		t.parents(name, kind)
	}
	t.unwind(depth)
	if n := len(t.depth); n > 0 {
		t.depth[n-1].parent = true
		t.depth[n-1].within = t.depth[n-1].within || kind == "FAIL"
	}
	c := &goCase{Case: Case{Name: name}, result: kind, log: log, within: log.within, parent: log.parent}
	t.depth = append(t.depth, c)
	if t.panic = (goPanic{}); kind == "FAIL" {
		t.panic.test = c
	}
	return true
}

// tell notes that this is go test.
func (t *goTest) tell() { t.seen, t.all.known, t.all.tested = true, true, true }

// parents tells the tests that name is a subtest of, which still run.
func (t *goTest) parents(name, kind string) {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if l := t.run[name[:i]]; l != nil {
			l.parent = true
			l.within = l.within || kind == "FAIL"
		}
	}
}

// unwind ends the tests that are as deep as depth, or deeper.
func (t *goTest) unwind(depth int) {
	for len(t.depth) > depth {
		c := t.depth[len(t.depth)-1]
		t.depth = t.depth[:len(t.depth)-1]
		t.finish(c)
	}
}

// finish counts a test, and keeps it if it failed by itself.
func (t *goTest) finish(c *goCase) {
	own := c.result == "FAIL" && (!c.within || c.log.n > 0)
	if c.parent && !own {
		return
	}
	switch c.result {
	case "PASS":
		t.tests.Passed++
	case "SKIP":
		t.tests.Skipped++
	case "FAIL":
		t.tests.Failed++
	}
	if own {
		c.log.fill(&c.Case)
		t.keep(c.Case)
	}
}

func (t *goTest) keep(c Case) {
	if len(t.cases) == maxCases {
		t.more++
		return
	}
	t.cases = append(t.cases, c)
}

// logged takes an indented line: what a test logged, while it runs or below its
// result.
func (t *goTest) logged(s string) {
	var log *goLog
	switch {
	case t.run != nil && t.now != "":
		log = t.run[t.now]
	case t.run == nil && len(t.depth) > 0:
		at := min(indent(s)/4, len(t.depth)) - 1
		if at >= 0 {
			log = t.depth[at].log
		}
	}
	if log != nil {
		log.add(s)
	}
}

// packageEnd takes the line that ends a package.
func (t *goTest) packageEnd(s string) {
	kind, rest, _ := strings.Cut(s, "\t")
	name, how, _ := strings.Cut(rest, "\t")
	if name == "" || strings.Contains(name, " ") && !strings.HasSuffix(name, "]") {
		return
	}
	t.tell()
	name, note, _ := strings.Cut(name, " ")
	switch {
	case kind == "FAIL" && (strings.Contains(note+how, "build failed") || strings.Contains(note, "setup failed")):
		t.all.report.Broken = true
		t.reset()
		return
	case kind == "FAIL":
		t.all.packages.Failed++
		t.fail(name)
	case kind == "ok  " && !strings.Contains(how, "[no test"):
		t.all.packages.Passed++
	}
	t.unwind(0)
	t.merge(name)
}

// fail settles why the package failed.
func (t *goTest) fail(name string) {
	t.panic.settle()
	t.unwind(0)
	for _, c := range t.panic.slow {
		t.tests.Failed++
		t.keep(c)
	}
	if len(t.cases) == 0 && t.panic.message != "" && t.now != "" && t.run[t.now] != nil {
		c := Case{Name: t.now}
		t.panic.into(&c)
		t.tests.Failed++
		t.keep(c)
	}
	if len(t.cases) == 0 {
		c := Case{Name: name, Message: "the package failed outside of its tests: " + strings.Join(t.loose, "\n")}
		t.panic.into(&c)
		t.keep(c)
	}
}

// merge hands on what the package came to.
func (t *goTest) merge(name string) {
	for _, c := range t.cases {
		if c.Name != name {
			c.Suite = name
		}
		t.all.fail(c)
	}
	t.all.report.More += t.more
	n := t.all.count()
	n.Unit = "tests"
	n.Passed += t.tests.Passed
	n.Failed += t.tests.Failed
	n.Skipped += t.tests.Skipped
	t.reset()
}

func (t *goTest) reset() {
	t.all.running -= len(t.run)
	*t = goTest{all: t.all, json: t.json}
	if t.json {
		t.run = make(map[string]*goLog)
	}
}

// close ends output that was cut off.
func (t *goTest) close() {
	if t.rest != "" {
		s := t.rest
		t.rest = ""
		t.line(clean([]byte(s)))
	}
	if !t.seen {
		return
	}
	t.panic.settle()
	t.unwind(0)
	for _, c := range t.panic.slow {
		t.tests.Failed++
		t.keep(c)
	}
	t.merge("")
}
