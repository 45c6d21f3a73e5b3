package tool

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/failures.md")

// A declared kind is a constant of type Kind as it stands in the source.
type declared struct {
	kind    Kind
	meaning string
}

func declaredKinds(t *testing.T) []declared {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "failure.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var all []declared
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Kind" {
				continue
			}
			value, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, declared{Kind(value), strings.TrimSpace(v.Comment.Text())})
		}
	}
	return all
}

func TestR046_KindsAreAClosedList(t *testing.T) {
	var want []Kind
	for _, d := range declaredKinds(t) {
		want = append(want, d.kind)
		if d.meaning == "" {
			t.Errorf("%s has no meaning beside it", d.kind)
		}
	}
	if d := cmp.Diff(want, Kinds); d != "" {
		t.Errorf("Kinds is not what is declared (-declared +Kinds):\n%s", d)
	}
	for _, k := range Kinds {
		if k.ByArguments() && k.ByTool() {
			t.Errorf("%s is blamed on the arguments and on the tool", k)
		}
	}
	breaks := []Kind{TimedOut, Idle, RateLimited, Unavailable, Internal}
	for _, k := range Kinds {
		if k.ByTool() != slices.Contains(breaks, k) {
			t.Errorf("%s counts against its tool: %t", k, k.ByTool())
		}
	}
	if Kind("made_up").ByArguments() || Kind("made_up").ByTool() {
		t.Error("a kind that is not on the list is blamed on somebody")
	}
}

// docs/failures.md is generated from the source: run this test with -update.
func TestR046_KindsAreDocumented(t *testing.T) {
	const path = "../../../docs/failures.md"
	var b strings.Builder
	b.WriteString(`# Failure kinds

Every call that fails answers with one kind of this closed list, in ` + "`error.kind`" + `, with a
message, a suggested action where there is one, and whether the same call may succeed
later. This page is generated from ` + "`internal/contract/tool/failure.go`" + `.

A failure *by its arguments* comes back for the same arguments: a call that repeats
them is answered ` + "`repeated`" + ` until something has changed. A failure *of the tool* counts
against it: three in a row open its breaker, and its calls are answered
` + "`circuit_open`" + ` for a while.

| kind | meaning | repeat is stopped | counts against the tool |
|---|---|---|---|
`)
	for _, d := range declaredKinds(t) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.kind, d.meaning, mark(d.kind.ByArguments()), mark(d.kind.ByTool()))
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b.String(), string(got)); d != "" {
		t.Errorf("%s is not what -update writes (-want +got):\n%s", path, d)
	}
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

func TestFailedKeepsTheMessageAsText(t *testing.T) {
	f := &Failure{Kind: NotFound, Message: "read a: no such file", Hint: "list the directory"}
	want := Result{Status: Error, Text: "read a: no such file", Failure: f}
	if d := cmp.Diff(want, Failed(f)); d != "" {
		t.Errorf("Failed (-want +got):\n%s", d)
	}
}
