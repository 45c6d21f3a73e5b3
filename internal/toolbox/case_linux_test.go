package toolbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// bothFolds runs f on a file system that does not tell spellings apart: on one that can
// exchange two names in one step, and on one that cannot.
func bothFolds(t *testing.T, files map[string]string, f func(t *testing.T, p *past, real string)) {
	for _, flags := range []bool{true, false} {
		t.Run(fmt.Sprintf("exchange %t", flags), func(t *testing.T) {
			dir, real := folding(t, flags)
			f(t, newPast(t, dir, files), real)
		})
	}
}

// On a file system that does not tell README.md from readme.md each file has one
// name for the tools, the one that the directory has: it is edited by any spelling,
// created over by none, and found once.
func TestPromise_P11_Bug_E14_A04_OneFileHasOneName(t *testing.T) {
	start := map[string]string{"readme.md": "one\ntwo\n", "Src/main.go": "package main\n", "caf\u00e9.txt": "crème\n"}
	bothFolds(t, start, func(t *testing.T, p *past, real string) {
		refused := func(name tool.Tool, args string, seen map[string]string, kind tool.Kind, says string) {
			t.Helper()
			r := p.call(name, args, seen)
			if r.Failure == nil || r.Failure.Kind != kind || !strings.Contains(r.Failure.Message+r.Failure.Hint, says) {
				t.Errorf("%s: %s %+v, want %s, %q", args, r.Text, r.Failure, kind, says)
			}
			if diff := cmp.Diff(start, below(t, real)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", args, diff)
			}
		}
		refused(Write(p.w), `{"path":"README.md","content":"mine\n"}`, nil, tool.NotRead, "readme.md")
		patch := Patch(p.w)
		refused(patch, `{"patch":"*** Begin Patch\n*** Add File: ReadMe.md\n+mine\n*** End Patch"}`, nil, tool.Stale, "exists already: readme.md")
		refused(patch, `{"patch":"*** Begin Patch\n*** Update File: readme.md\n@@\n-one\n+1\n*** Update File: README.md\n@@\n-two\n+2\n*** End Patch"}`,
			p.seen(), tool.Invalid, "readme.md twice")
		refused(patch, `{"patch":"*** Begin Patch\n*** Update File: readme.md\n*** Move to: README.md\n@@\n-one\n+1\n*** End Patch"}`,
			p.seen(), tool.Invalid, "to where it is, readme.md")
		refused(patch, `{"patch":"*** Begin Patch\n*** Add File: New\n+1\n*** Add File: NEW\n+2\n*** End Patch"}`, nil, tool.Stale, "NEW")

		if r := p.call(Read(p.w), `{"path":"README.MD"}`, nil); r.Seen["readme.md"] == "" || len(r.Seen) != 1 {
			t.Errorf("seen: %v", r.Seen)
		}
		for _, c := range []struct {
			tool tool.Tool
			args string
		}{
			{Edit(p.w), `{"path":"Readme.MD","old":"two","new":"2"}`},
			{Edit(p.w), `{"path":"CAFE\u0301.TXT","old":"crème","new":"lait"}`},
			{Edit(p.w), `{"path":"SRC/Main.go","old":"main","new":"p"}`},
			{Write(p.w), `{"path":"sRC/new.go","content":"package p\n"}`},
		} {
			if r := p.change(c.tool, c.args); r.Status != tool.Success {
				t.Errorf("%s: %s", c.args, r.Text)
			}
		}
		want := map[string]string{
			"readme.md": "one\n2\n", "Src/main.go": "package p\n", "Src/new.go": "package p\n", "caf\u00e9.txt": "lait\n",
		}
		if diff := cmp.Diff(want, below(t, real)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if r := p.call(Glob(p.w), `{"pattern":"**/*.go","path":"SRC"}`, nil); !strings.Contains(r.Text, "Src/main.go\n") || strings.Contains(r.Text, "SRC") {
			t.Errorf("Glob: %s", r.Text)
		}
		if r := p.call(grep(p.w), `{"pattern":"one","path":"README.md"}`, nil); strings.Count(r.Text, "readme.md") != 1 {
			t.Errorf("Grep: %s", r.Text)
		}
		if r := p.change(p.undo, `{"file":"src/NEW.go"}`); r.Status != tool.Success {
			t.Errorf("undo of a file: %s", r.Text)
		}
		if r := p.change(p.undo, `{}`); r.Status != tool.Success {
			t.Errorf("undo: %s", r.Text)
		}
		if diff := cmp.Diff(start, below(t, real)); diff != "" {
			t.Errorf("taken back (-want +got):\n%s", diff)
		}
	})
}

// A command that only changes how a name is spelled has, to undo, removed one file
// and made another, which are one: nothing may be lost by taking that back.
func TestPromise_P08_AChangeOfCaseIsLeft(t *testing.T) {
	bothFolds(t, map[string]string{"readme.md": "one\n"}, func(t *testing.T, p *past, real string) {
		p.command(func() {
			for _, names := range [][2]string{{"readme.md", "x"}, {"x", "README.md"}} {
				if err := os.Rename(filepath.Join(p.dir, names[0]), filepath.Join(p.dir, names[1])); err != nil {
					t.Fatal(err)
				}
			}
		})
		r := p.change(p.undo, `{}`)
		if r.Failure == nil || r.Failure.Kind != tool.Stale || !strings.Contains(r.Text, "README.md and readme.md are one file here") &&
			!strings.Contains(r.Text, "it and README.md are one file here") {
			t.Errorf("undo: %s", r.Text)
		}
		if diff := cmp.Diff(map[string]string{"README.md": "one\n"}, below(t, real)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
