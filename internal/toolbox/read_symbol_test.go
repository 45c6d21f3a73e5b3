package toolbox

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

const source = `package p

import "fmt"

// A Set is a set.
type Set[T comparable] struct {
	m map[T]bool
}

// Add adds.
func (s *Set[T]) Add(v T) {
	s.m[v] = true
}

func (Plain) Add() {}

type (
	// Plain is inside.
	Plain struct{}
	Other int
)

const One, Two = 1, 2

var (
	// Three is last.
	Three = fmt.Sprint(
		3,
	)
)

func init() {}

func init() {}
`

func TestR088_ReadBySymbol(t *testing.T) {
	d := newDesk(t, map[string]string{"p.go": source, "broken.go": "package p\n\nfunc Good() {\n}\n\nfunc Bad( {\n", "a.py": "def f(): pass\n", "Makefile": "x:\n", "none.go": "package p\n"})
	lines := strings.SplitAfter(source, "\n")
	for symbol, want := range map[string][2]int{
		"Set": {5, 8}, "Set.Add": {10, 13}, "(*Set).Add": {10, 13}, "*Set.Add": {10, 13}, "Plain.Add": {15, 15}, "Plain": {18, 19}, "Other": {20, 20},
		"One": {23, 23}, "Two": {23, 23}, "Three": {26, 29},
	} {
		r := d.call("Read", args{"path": "p.go", "symbol": symbol})
		got := facts[readData](t, r)
		if got.Offset != want[0] || got.Lines != want[1]-want[0]+1 || !strings.Contains(r.Text, "\t"+lines[want[1]-1]) {
			t.Errorf("%s: lines %d and %d more, want %d to %d: %q", symbol, got.Offset, got.Lines-1, want[0], want[1], r.Text)
		}
	}
	if r := d.call("Read", args{"path": "broken.go", "symbol": "Good"}); !strings.Contains(r.Text, "3\tfunc Good() {\n4\t}\n") {
		t.Errorf("broken file: %q", r.Text)
	}
	for _, c := range []struct {
		args args
		kind tool.Kind
		hint string
	}{
		{args{"path": "p.go", "symbol": "init"}, tool.Ambiguous, "give an offset instead: lines 32, 34"},
		{args{"path": "p.go", "symbol": "add"}, tool.NotFound, "did you mean Plain.Add or Set.Add?"},
		{args{"path": "p.go", "symbol": "Nothing"}, tool.NotFound, "it declares One, Other, Plain, Plain.Add, Set, Set.Add, Three, Two, init"},
		{args{"path": "none.go", "symbol": "X"}, tool.NotFound, "it declares nothing, or does not parse"},
		{args{"path": "p.go", "symbol": "Set", "offset": 3}, tool.Invalid, "leave offset and column out"},
		{args{"path": "a.py", "symbol": "f"}, tool.Invalid, "leave symbol out and give offset and limit: symbols are known of Go (.go) only"},
		{args{"path": "Makefile", "symbol": "x"}, tool.Invalid, "leave symbol out and give offset and limit: symbols are known of Go (.go) only"},
	} {
		if f := d.fails(c.kind, "Read", c.args); f.Hint != c.hint {
			t.Errorf("%v: %q, %q; want %q", c.args, f.Message, f.Hint, c.hint)
		}
	}
}

func FuzzDeclared(f *testing.F) {
	f.Add(source)
	f.Add("package p\nfunc (")
	f.Add("type (\n A struct {\n")
	f.Fuzz(func(t *testing.T, content string) {
		lines := lineCount(content)
		for name, spans := range declared(content) {
			for _, s := range spans {
				if s.first < 1 || s.last < s.first || s.last > lines+1 {
					t.Fatalf("%q is at %d to %d of %d lines", name, s.first, s.last, lines)
				}
			}
		}
	})
}
