package diagnostic

import (
	"encoding/json"
	"strings"
)

// openPackages is how many packages whose lines interleave are told apart.
const openPackages = 200

// A goTool knows go build, go vet and go test, as text and as JSON.
type goTool struct {
	found
	known    bool
	text     *goTest            // of output as text
	open     map[string]*goTest // of output as JSON, by package
	built    goBuild
	verbose  bool // tests that pass are told
	tested   bool // go test was at work
	running  int  // tests that are remembered until their result
	packages Counts
}

func newGo() *goTool {
	g := &goTool{open: make(map[string]*goTest)}
	g.text = &goTest{all: g}
	g.built.all = g
	return g
}

func (g *goTool) line(s string) {
	if strings.HasPrefix(s, "{") && strings.Contains(s, `"Action":"`) && g.event(s) {
		return
	}
	if !g.built.line(s) {
		g.text.line(s)
	}
}

// event takes a line of go test -json, if s is one.
func (g *goTool) event(s string) bool {
	var e struct{ Action, Package, Test, Output, ImportPath string }
	if json.Unmarshal([]byte(s), &e) != nil || e.Package == "" && e.ImportPath == "" {
		return false
	}
	if e.Action == "build-output" {
		g.built.line(strings.TrimSuffix(e.Output, "\n"))
		return true
	}
	g.known = true
	if e.Package == "" {
		return true
	}
	t := g.open[e.Package]
	if t == nil && len(g.open) < openPackages {
		t = &goTest{all: g, json: true, run: make(map[string]*goLog)}
		g.open[e.Package] = t
	}
	if t == nil {
		return true
	}
	switch {
	case e.Action == "output":
		t.output(e.Test, e.Output)
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		t.close()
		delete(g.open, e.Package)
	}
	return true
}

func (g *goTool) end() (Report, bool) {
	g.text.close()
	for name, t := range g.open { // cut off; at most one, but for parallel packages
		t.close()
		delete(g.open, name)
	}
	g.built.end()
	if !g.verbose && g.known && (g.packages != Counts{} || g.report.Counts != nil) {
		g.packages.Unit = "packages"
		g.report.Counts = &g.packages
	}
	return g.found.end("go"), g.known
}
