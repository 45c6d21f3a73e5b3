package repo

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// around is how many lines are shown before and after one that failed: about what
// a screen holds.
const around = 15

// failing adds the lines that a failure names, the nearest first, and the fixtures
// that are named around them.
func (g *gathering) failing(spots []recall.Spot) {
	score := 1.0
	for _, s := range spots {
		t := g.locate(s.Path)
		if t == nil {
			continue
		}
		first, last, text := lines(t.Content, s.Line-around, s.Line+around)
		g.add(slotOf(t.Path), t, first, last, text, s.Why, score)
		if score > 0.8 {
			score -= 0.02
		}
		if slotOf(t.Path) == recall.Test {
			g.fixtures(t, text)
		}
	}
}

// A fixture is named in a test by a path with one of these directories.
var fixtureNamed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`["'` + "`" + `]([\w.\-/]*(?:testdata|fixtures?|__fixtures__)/[\w.\-/]+)["'` + "`" + `]`)
})

// fixtures adds the start of the fixtures that a piece of a test names.
func (g *gathering) fixtures(test *workspace.Text, piece string) {
	for _, m := range fixtureNamed().FindAllStringSubmatch(piece, 4) {
		t := g.read(path.Join(path.Dir(test.Path), m[1]))
		if t == nil {
			t = g.read(m[1])
		}
		if t != nil {
			first, last, text := lines(t.Content, 1, 4*around)
			g.add(recall.Test, t, first, last, text, "a fixture of "+test.Path, 0.85)
		}
	}
}

// locate returns the file that a tool or a person means by name: the one of that
// path, or the only one that ends in it.
func (g *gathering) locate(name string) *workspace.Text {
	if t := g.read(name); t != nil {
		return t
	}
	if path.IsAbs(name) || strings.HasPrefix(name, "..") {
		return nil
	}
	if only := g.ending(path.Clean(strings.ReplaceAll(name, `\`, "/"))); only != "" {
		return g.read(only)
	}
	return nil
}

// ending returns the only file whose path ends in name, "" if there is none or
// several. The tree is walked once for all names that are new.
func (g *gathering) ending(name string) string {
	if only, known := g.ends[name]; known {
		return only
	}
	if g.walked == nil {
		g.walked = []string{}
		for f, err := range g.Workspace.Files(g.ctx, ".") {
			if err == nil {
				g.walked = append(g.walked, f.Path)
			}
		}
	}
	only, n := "", 0
	for _, p := range g.walked {
		if strings.HasSuffix("/"+p, "/"+name) {
			only = p
			n++
		}
	}
	if n != 1 {
		only = ""
	}
	if g.ctx.Err() == nil { // all were seen
		g.ends[name] = only
	}
	return only
}

// lines returns the lines of content from first to last, counted from 1, as far as
// they are there.
func lines(content string, first, last int) (from, to int, text string) {
	first = max(1, first)
	n := 0
	var b strings.Builder
	for line := range strings.Lines(content) {
		if n++; n < first {
			continue
		}
		if n > last {
			break
		}
		b.WriteString(line)
		to = n
	}
	return first, to, b.String()
}
