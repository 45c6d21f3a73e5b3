package repo

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A location is a line where a symbol is declared or used.
type location struct {
	path string
	line int
	uses bool
}

const (
	wholeLines    = 80 // a file with no more is shown whole, a longer one in outline
	outlineLines  = 60
	declaredLines = 30 // shown from where a symbol is declared on
	usedLines     = 2  // shown around a line that uses one
	maxDeclared   = 3  // places for each symbol
	maxUses       = 4
	maxHits       = 200 // of a search
)

// mentioned adds the files and symbols that the user names.
func (g *gathering) mentioned(q recall.Query) {
	var symbols []string
	for _, name := range q.Mentions {
		var t *workspace.Text
		if strings.Contains(name, "/") || filelike().MatchString(name) {
			t = g.locate(name)
		}
		switch {
		case t != nil:
			first, last, text := outline(t.Content)
			g.add(slotOf(t.Path), t, first, last, text, "the user names "+name, 0.8)
		case identifier().MatchString(name): // cart.Sum may be no file
			symbols = append(symbols, name)
		}
	}
	g.symbols(symbols)
}

var (
	filelike   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.\w{1,6}$`) })
	identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$`) })

	// A declaration, in most languages: a line that is hardly indented, words that
	// say how it is seen, and what it is.
	declaration = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(declaring + `\S`) })
)

const declaring = `^\s{0,4}(?:(?:export|pub(?:\([\w ]+\))?|public|private|protected|internal|static|async|abstract|final|default|unsafe|open|override|data|sealed)\s+)*` +
	`(?:func|type|class|def|interface|struct|fn|enum|trait|impl|module|namespace|function|object|record|protocol|extension|fun)\s+`

// outline returns content, or its declarations where it is long, with lines.
func outline(content string) (first, last int, text string) {
	if n := strings.Count(content, "\n"); n <= wholeLines {
		return lines(content, 1, wholeLines+1)
	}
	var b strings.Builder
	n, shown := 0, 0
	for line := range strings.Lines(content) {
		if n++; shown < outlineLines && declaration().MatchString(line) {
			b.WriteString(numbered(n, line))
			shown++
		}
	}
	if shown == 0 {
		return lines(content, 1, declaredLines)
	}
	return 0, 0, b.String()
}

// symbols adds where symbols are declared, and some lines that use them. Where
// that is, is looked for once for each goal.
func (g *gathering) symbols(names []string) {
	if len(names) == 0 || g.over() {
		return
	}
	if g.found == nil {
		g.found = g.search(names)
	}
	for _, name := range names {
		last := name[strings.LastIndexByte(name, '.')+1:]
		for _, at := range g.found[last] {
			t := g.read(at.path)
			if t == nil {
				continue
			}
			slot, why, score := slotOf(t.Path), "declares "+last, 0.75
			from, to := at.line, at.line+declaredLines
			if at.uses {
				slot, why, score = recall.Caller, "uses "+last, 0.5
				from, to = at.line-usedLines, at.line+usedLines
			}
			first, end, text := lines(t.Content, from, to)
			if strings.Contains(text, last) { // it may have moved since it was found
				g.add(slot, t, first, end, text, why, score)
			}
		}
	}
}

// search returns where names are declared and used.
func (g *gathering) search(names []string) map[string][]location {
	var last []string
	for _, name := range names {
		last = append(last, regexp.QuoteMeta(name[strings.LastIndexByte(name, '.')+1:]))
	}
	s := Search{Pattern: `\b(` + strings.Join(last, "|") + `)\b`, Path: ".", Limit: maxHits}
	if g.Withheld != nil {
		s.Withheld = func(_, p string) bool { return g.Withheld(p) }
	}
	hits, _ := s.Run(g.ctx, g.Workspace) // what there is, if time is over
	slices.SortFunc(hits.Files, func(a, b FileHits) int { return strings.Compare(a.Path, b.Path) })
	found := make(map[string][]location)
	for _, name := range last {
		found[name] = located(name, hits.Files)
	}
	return found
}

// located returns where name is declared, and uses of it in other files. A word
// that is declared nowhere is only a word.
func located(name string, files []FileHits) []location {
	word, declaration := regexp.MustCompile(`\b`+name+`\b`), declares(name)
	var declared, used []location
	home := make(map[string]bool)
	for _, f := range files {
		for _, h := range f.Hits {
			switch {
			case declaration.MatchString(h.Text):
				declared = append(declared, location{path: f.Path, line: h.Line})
				home[f.Path] = true
			case word.MatchString(h.Text) && slotOf(f.Path) == recall.Definition:
				used = append(used, location{f.Path, h.Line, true})
			}
		}
	}
	if len(declared) == 0 {
		return nil
	}
	used = slices.DeleteFunc(used, func(l location) bool { return home[l.path] })
	return append(declared[:min(len(declared), maxDeclared)], used[:min(len(used), maxUses)]...)
}

// declares returns what matches a line that declares name, of a method too.
func declares(name string) *regexp.Regexp {
	return regexp.MustCompile(declaring + `(?:\([^)]*\)\s*)?` + name + `\b`)
}

// near returns the test nearest to a file, nil if it has none.
func (g *gathering) near(name string) *workspace.Text {
	dir, base := path.Split(name)
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	for _, c := range []string{
		dir + stem + "_test" + ext, dir + "test_" + base, dir + stem + ".test" + ext, dir + stem + ".spec" + ext,
		dir + "__tests__/" + base, dir + "__tests__/" + stem + ".test" + ext, dir + "tests/test_" + base,
		"tests/test_" + base, "test/" + stem + ".test" + ext, "test/" + stem + "_test" + ext, "tests/" + base, "spec/" + stem + "_spec" + ext,
		strings.Replace(dir, "src/main/", "src/test/", 1) + stem + "Test" + ext,
	} {
		if t := g.read(c); t != nil && t.Path != name {
			return t
		}
	}
	return nil
}
