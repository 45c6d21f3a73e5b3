package diagnostic

import "strings"

// A goPanic follows the text of a panic to the place in the project where it
// happened.
type goPanic struct {
	test    *goCase // the test that failed last
	message string
	on      bool
	listed  bool   // the tests that run are being named
	slow    []Case // that ran when the time was over
	call    string // the function that the next place is in
	file    string
	at      int
	calls   []goCall // places in tests
}

type goCall struct {
	name, file string
	line       int
}

const maxCalls = 200

// runtimes are parts of the paths of Go's own packages that panics pass through.
var runtimes = []string{"/src/runtime/", "/src/testing/", "/src/time/", "/src/reflect/", "/src/sync/", "/src/internal/", "_testmain.go"}

func (p *goPanic) line(s string) {
	switch {
	case strings.HasPrefix(s, "panic: "), strings.HasPrefix(s, "fatal error: "):
		if !p.on {
			p.on = true
			p.message = strings.TrimSuffix(strings.TrimSuffix(clip(s, maxMessage), " [recovered, repanicked]"), " [recovered]")
		}
	case !p.on:
	case strings.TrimSpace(s) == "running tests:":
		p.listed = true
	case p.listed && strings.HasPrefix(s, "\t\t"):
		if name, _, ok := strings.Cut(strings.TrimSpace(s), " ("); ok && len(p.slow) < maxCases {
			p.slow = append(p.slow, Case{Name: name, Message: strings.TrimPrefix(p.message, "panic: ")})
		}
	case strings.HasPrefix(s, "\t"):
		p.place(strings.TrimSpace(s))
	default:
		p.listed = false
		p.call = s
	}
}

// place takes "/a/b.go:13 +0x45".
func (p *goPanic) place(s string) {
	s, _, _ = strings.Cut(s, " +0x")
	file, line, _, ok := position(s)
	if !ok || !strings.HasSuffix(file, ".go") {
		return
	}
	for _, own := range runtimes {
		if strings.Contains(file, own) {
			return
		}
	}
	if p.file == "" {
		p.file, p.at = clip(file, maxName), line
	}
	if len(p.calls) < maxCalls {
		p.calls = append(p.calls, goCall{clip(p.call, maxName), clip(file, maxName), line})
	}
}

// settle tells the tests that were hit.
func (p *goPanic) settle() {
	for i := range p.slow {
		c := &p.slow[i]
		top, _, _ := strings.Cut(c.Name, "/")
		for _, call := range p.calls {
			if strings.Contains(call.name, "."+top+"(") || strings.Contains(call.name, "."+top+".func") {
				c.File, c.Line = call.file, call.line
				break
			}
		}
	}
	if p.test != nil && len(p.slow) == 0 && p.message != "" {
		p.test.log.n = 0
		p.test.within = false
		p.into(&p.test.Case)
		p.message = ""
	}
}

// into puts into c where and why it panicked, if it did.
func (p *goPanic) into(c *Case) {
	if p.message == "" {
		return
	}
	c.File, c.Line, c.Message = p.file, p.at, p.message
}
