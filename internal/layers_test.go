// Package internal_test holds what is true of all packages together.
package internal_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// layers is policy, not documentation: "x: a b" lets packages under x import
// packages under a, b and x itself. What is not listed is forbidden; tests are
// free. Change a line only in a commit that says why.
const layers = `
contract/effect:
contract/pattern:
contract/edit:
contract/recall:
contract/rulefile:
contract/tool:     contract/effect contract/edit
contract/model:    contract/tool
contract/event:    contract
decide/session:    contract decide/policy decide/task
decide/schedule:   contract/effect
decide/shell:      contract/effect contract/tool
decide/policy:     contract/effect contract/tool
decide/constraint: contract decide/policy
decide/mention:    contract/pattern
decide/task:       contract/pattern
decide/loop:       contract decide/session
decide/prompt:     contract decide/loop decide/mention decide/policy decide/session decide/task
decide/undo:       contract decide/session
decide/stats:      contract decide/undo
decide/uptake:     contract
decide/report:     contract decide/mention decide/session decide/task
decide/secret:
agent:             contract decide
world/failpoint:
world/process:     contract/effect world/failpoint
world/journal:     contract/event contract/tool world/failpoint
world/workspace:   contract/edit contract/rulefile world/process world/failpoint
world/snapshot:    contract/edit world/workspace world/failpoint
world/repo:        contract/recall world/process world/workspace
world/provider:    contract/model contract/tool
world/mcp:         contract/effect contract/tool world/process
toolbox:           contract/effect contract/edit contract/tool decide/secret decide/shell decide/undo world/process world/repo world/workspace
ui:                contract decide/session agent
cli:               contract decide agent world toolbox ui
cmd:               cli world/process
`

// modules are the third-party modules that may be used where nothing else may.
var modules = map[string]string{
	"contract/tool": "github.com/google/jsonschema-go",
	"contract/edit": "github.com/aymanbagabas/go-udiff",
	"decide/policy": "github.com/bmatcuk/doublestar/v4",
	"decide/shell":  "mvdan.cc/sh/v3",
}

const (
	module   = "github.com/belay-agent/belay/"
	maxDepth = 12 // packages on the longest chain of imports; restic has 9, gopls 12, crush 20

	// impure is what contract, decide and agent do not import, with kin.
	impure = "os os/exec os/signal os/user syscall net net/http path/filepath math/rand math/rand/v2 crypto/rand log log/slog"

	// clock is what contract and decide do not use of package time.
	clock = "Now Since Until Sleep After AfterFunc Tick NewTicker NewTimer"
)

func TestLayers(t *testing.T) {
	sources, err := load(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"contract/effect", "decide/policy", "agent"} { // else nothing was looked at
		if !slices.ContainsFunc(sources, func(s source) bool { return s.pkg == must }) {
			t.Errorf("no source of %s was found", must)
		}
	}
	for _, p := range problems(sources) {
		t.Error(p)
	}
}

// A source is a file of a package that is not a test.
type source struct {
	name string // "internal/agent/turn.go"
	pkg  string // "agent"; of a command "cmd/belay"
	*ast.File
}

// load parses every file, whatever system it is for.
func load(root fs.FS) (sources []source, err error) {
	for _, top := range []string{"internal", "cmd"} {
		err := fs.WalkDir(root, top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err):
				return nil // no commands yet
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			sources = append(sources, source{name, strings.TrimPrefix(path.Dir(name), "internal/"), file})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return sources, nil
}

func problems(sources []source) (out []string) {
	table := readTable()
	graph := make(map[string][]string)
	for _, s := range sources {
		report := func(format string, a ...any) { out = append(out, s.name+": "+fmt.Sprintf(format, a...)) }
		layer, ok := layerOf(table, s.pkg)
		if !ok {
			report("package %s is in no layer", s.pkg)
		}
		for _, imported := range s.imports() {
			ours, internal := strings.CutPrefix(imported, module+"internal/")
			if !internal {
				s.checkOutside(imported, report)
				continue
			}
			graph[s.pkg] = append(graph[s.pkg], ours)
			if ok && !slices.ContainsFunc(append(table[layer], layer), func(l string) bool { return under(ours, l) }) {
				report("%s may not import %s", layer, ours)
			}
			if forTests(ours) && !forTests(s.pkg) {
				report("%s is for tests", ours)
			}
		}
		s.checkUses(report)
	}
	if chain := longest(graph); len(chain) > maxDepth {
		out = append(out, fmt.Sprintf("imports are %d deep: %s", len(chain), strings.Join(chain, " ")))
	}
	return out
}

func readTable() map[string][]string {
	table := make(map[string][]string)
	for line := range strings.Lines(strings.TrimSpace(layers)) {
		layer, may, _ := strings.Cut(line, ":")
		table[layer] = strings.Fields(may)
	}
	return table
}

func layerOf(table map[string][]string, pkg string) (string, bool) {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if _, ok := table[pkg]; ok {
			return pkg, true
		}
	}
	return "", false
}

func under(pkg, layer string) bool { return strings.HasPrefix(pkg+"/", layer+"/") }

func forTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// pure reports whether nothing that pkg does may depend on more than its
// arguments; the loop may besides wait and look at the clock.
func pure(pkg string) bool {
	return (under(pkg, "contract") || under(pkg, "decide")) && !forTests(pkg)
}

func (s source) imports() (paths []string) {
	for _, i := range s.Imports {
		p, _ := strconv.Unquote(i.Path.Value) // it was parsed
		paths = append(paths, p)
	}
	return paths
}

func (s source) checkOutside(imported string, report func(string, ...any)) {
	loop := under(s.pkg, "agent") && !forTests(s.pkg)
	first, _, _ := strings.Cut(imported, "/")
	own := modules[s.pkg]
	switch {
	case (pure(s.pkg) || loop) && slices.Contains(strings.Fields(impure), imported),
		pure(s.pkg) && under(imported, "sync/atomic"):
		report("%s may not import %s", s.pkg, imported)
	case imported == "os/exec" && !under(s.pkg, "world/process"):
		report("only world/process starts programs")
	case (pure(s.pkg) || loop) && strings.Contains(first, ".") && (own == "" || !under(imported, own)):
		report("%s may not import the module of %s", s.pkg, imported)
	}
}

// checkUses looks at what is done with an import, and at statements.
func (s source) checkUses(report func(string, ...any)) {
	names := make(map[string]string) // what packages are called here
	for i, p := range s.imports() {
		names[path.Base(p)] = p
		if n := s.Imports[i].Name; n != nil {
			names[n.Name] = p
			if n.Name == "." {
				report("imports all of %s", p)
			}
		}
	}
	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if pure(s.pkg) {
				report("%s may not start a goroutine", s.pkg)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			switch from := names[x.Name]; {
			case from == "time" && pure(s.pkg) && slices.Contains(strings.Fields(clock), n.Sel.Name):
				report("%s may not use time.%s", s.pkg, n.Sel.Name)
			case from == "sync" && pure(s.pkg) && n.Sel.Name != "OnceValue": // which makes a constant when it is first needed
				report("%s may not use sync.%s", s.pkg, n.Sel.Name)
			case slices.Contains([]string{"os", "syscall", "golang.org/x/sys/unix"}, from) && !under(s.pkg, "world/process") &&
				slices.Contains([]string{"StartProcess", "Exec", "ForkExec"}, n.Sel.Name):
				report("only world/process starts programs")
			}
		}
		return true
	})
}

// longest returns the longest chain of imports, or one that comes back to where
// it started.
func longest(graph map[string][]string) []string {
	done := make(map[string][]string)
	var from func(pkg string, above []string) []string
	from = func(pkg string, above []string) []string {
		if slices.Contains(above, pkg) {
			return slices.Repeat([]string{pkg}, maxDepth+1)
		}
		if chain, ok := done[pkg]; ok {
			return chain
		}
		var below []string
		for _, next := range graph[pkg] {
			below = longer(below, from(next, append(slices.Clone(above), pkg)))
		}
		done[pkg] = append([]string{pkg}, below...)
		return done[pkg]
	}
	var chain []string
	for pkg := range graph {
		chain = longer(chain, from(pkg, nil))
	}
	return chain
}

func longer(a, b []string) []string {
	return slices.MaxFunc([][]string{a, b}, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
}

// A rule that nothing can break is no rule: each of these sources breaks one.
func TestLayersAreTold(t *testing.T) {
	const internal = module + "internal/"
	tests := []struct{ name, text, want string }{
		{"internal/agent/a.go", `import "` + internal + `decide/policy"; import "sync"; import "time"; var _ = time.Now; func f() { go f() }`, ""},
		{"internal/decide/policy/a.go", `import "github.com/bmatcuk/doublestar/v4"; import "path"; import "time"; var _ time.Time`, ""},
		{"internal/decide/task/a.go", `import "sync"; var a = sync.OnceValue(func() int { return 1 })`, ""},
		{"internal/world/process/a.go", `import "os/exec"; import "os"; var _ = os.StartProcess`, ""},
		{"internal/decide/policy/a_test.go", `import "os/exec"; import "` + internal + `cli"`, ""},
		{"internal/contract/tool/tooltest/a.go", `import "os"; import "sync"; import "time"; import "github.com/google/go-cmp/cmp"; var _ = time.Now`, ""},
		{"internal/world/repo/testdata/a.go", `import "os/exec"`, ""},
		{"cmd/belay/main.go", `import "` + internal + `cli"; import "os"`, ""},

		{"internal/agent/a.go", `import "` + internal + `world/journal"`, "agent may not import world/journal"},
		{"internal/world/journal/a.go", `import "` + internal + `decide/secret"`, "world/journal may not import decide/secret"},
		{"internal/world/mcp/a.go", `import "` + internal + `agent"`, "world/mcp may not import agent"},
		{"internal/contract/effect/a.go", `import "` + internal + `contract/tool"`, "contract/effect may not import contract/tool"},
		{"internal/contract/tool/tooltest/a.go", `import "` + internal + `contract/model"`, "contract/tool may not import contract/model"},
		{"internal/ui/acp/a.go", `import "` + internal + `toolbox"`, "ui may not import toolbox"},
		{"internal/decide/session/a.go", `import "` + internal + `decide/policyx"`, "decide/session may not import decide/policyx"},
		{"cmd/belay/main.go", `import "` + internal + `agent"`, "cmd may not import agent"},
		{"internal/util/a.go", `type T int`, "package util is in no layer"},
		{"internal/cli/a.go", `import "` + internal + `contract/tool/tooltest"`, "contract/tool/tooltest is for tests"},
		{"internal/contract/edit/a.go", `import "os"`, "contract/edit may not import os"},
		{"internal/decide/shell/a.go", `import f "path/filepath"`, "decide/shell may not import path/filepath"},
		{"internal/decide/secret/a.go", `import _ "math/rand/v2"`, "decide/secret may not import math/rand/v2"},
		{"internal/decide/undo/a.go", `import "sync/atomic"`, "decide/undo may not import sync/atomic"},
		{"internal/contract/tool/a.go", `import "sync"; var a sync.Mutex`, "contract/tool may not use sync.Mutex"},
		{"internal/agent/a.go", `import "crypto/rand"`, "agent may not import crypto/rand"},
		{"internal/agent/a.go", `import "log/slog"`, "agent may not import log/slog"},
		{"internal/contract/event/a.go", `import "time"; var t = time.Now()`, "contract/event may not use time.Now"},
		{"internal/decide/prompt/a.go", `import clock "time"; var f = clock.Since`, "decide/prompt may not use time.Since"},
		{"internal/decide/prompt/a.go", `import . "time"; var f = Now`, "imports all of time"},
		{"internal/decide/schedule/a.go", `func f() { go f() }`, "decide/schedule may not start a goroutine"},
		{"internal/cli/a.go", `import "os/exec"`, "only world/process starts programs"},
		{"internal/toolbox/a_windows.go", `import "os"; var f = os.StartProcess`, "only world/process starts programs"},
		{"internal/decide/session/a.go", `import "github.com/bmatcuk/doublestar/v4"`, "decide/session may not import the module of github.com/bmatcuk/doublestar/v4"},
		{"internal/contract/tool/a.go", `import "github.com/google/jsonschema-gopher"`, "contract/tool may not import the module of github.com/google/jsonschema-gopher"},
		{"internal/agent/a.go", `import "golang.org/x/sys/unix"`, "agent may not import the module of golang.org/x/sys/unix"},
	}
	for _, tt := range tests {
		t.Run(cmp.Or(tt.want, "good "+tt.name), func(t *testing.T) {
			sources, err := load(fstest.MapFS{tt.name: {Data: []byte("package p; " + tt.text)}})
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want != "" {
				want = tt.name + ": " + want
			}
			if got := strings.Join(problems(sources), "\n"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestDepthIsTold(t *testing.T) {
	chain := func(n int) []source {
		tree := make(fstest.MapFS)
		for i := range n - 1 {
			text := fmt.Sprintf("package p; import %q", fmt.Sprintf("%sinternal/ui/p%d", module, i+1))
			tree[fmt.Sprintf("internal/ui/p%d/a.go", i)] = &fstest.MapFile{Data: []byte(text)}
		}
		sources, err := load(tree)
		if err != nil {
			t.Fatal(err)
		}
		return sources
	}
	if got := problems(chain(maxDepth)); got != nil {
		t.Errorf("%d deep: %q", maxDepth, got)
	}
	if got := problems(chain(maxDepth + 1)); len(got) != 1 || !strings.HasPrefix(got[0], "imports are 13 deep: ui/p0 ui/p1 ") {
		t.Errorf("%d deep: %q", maxDepth+1, got)
	}
}

// Every name in the table is a folder of the design, so that no row is dead by
// a slip of the pen.
func TestLayersNameLayers(t *testing.T) {
	table := readTable()
	for layer, may := range table {
		for _, m := range may {
			known := false
			for l := range table {
				known = known || under(l, m)
			}
			if !known {
				t.Errorf("%s may import %s, which is no layer", layer, m)
			}
		}
	}
	for pkg := range modules {
		if _, ok := table[pkg]; !ok {
			t.Errorf("%s has a module, but is no layer", pkg)
		}
	}
}
