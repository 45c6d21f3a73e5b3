package toolbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/toolbox/diagnostic"
	"github.com/belay-agent/belay/internal/world/process"
)

// R133, R145: how each stage ended is told, and standard error is seen wherever a
// stage failed, so that no empty result reads as "nothing found".
func TestR145_AFailedStageNeverReadsAsNothingFound(t *testing.T) {
	const failed = "of its last pipeline failed"
	for _, c := range []struct {
		command string
		stages  []int
		has     []string
		hasNot  string
		kind    tool.Kind
	}{
		{command: "grep x nofile | sort", stages: []int{2, 0}, has: []string{"nofile: No such file", "stage 1 of 2 " + failed, "ended with 2, 0"}},
		{command: "printf 'b\na\n' | grep x | sort", stages: []int{0, 1, 0}, has: []string{"(no output)", "stage 2 of 3 " + failed}},
		{command: "printf 'b\na\n' | sort", stages: []int{0, 0}, has: []string{"a\nb\n"}, hasNot: failed},
		{command: "seq 999999 | head -2", stages: []int{141, 0}, has: []string{"1\n2\n"}, hasNot: failed},
		{command: "true | false", stages: []int{0, 1}, hasNot: failed, kind: tool.NonzeroExit},
		{command: "nosuchprogram x | cat", stages: []int{127, 0}, has: []string{"nosuchprogram", "stage 1 of 2 " + failed}},
		{command: "trap : EXIT; false | true", has: []string{"how the stages of its pipelines ended is not known"}},
		{command: "true || false; exec true", hasNot: "stages"},
		{command: "echo oops >&2; seq 1 90000 | grep -v x; echo more >&2; exit 4", has: []string{"standard error, 10 bytes:]\noops\nmore\n"}, kind: tool.NonzeroExit},
		{command: "echo oops >&2; seq 1 90000", has: []string{"oops"}, hasNot: "standard error,"},
		{command: "echo middle; false; seq 1 90000 | (head -1 >/dev/null; exec sh -c 'yes line | head -50000; echo lost >&2; yes line | head -50000; exit 3') | cat",
			stages: []int{141, 3, 0}, has: []string{"standard error, 5 bytes:]\nlost\n", "stage 2 of 3 " + failed}},
	} {
		t.Run(c.command, func(t *testing.T) {
			r, f := bashWith(t, bashIn(t, t.TempDir(), BashOptions{}), tool.Env{Spill: new(shelf).spill}, bashArgs{Command: c.command})
			if c.stages != nil && !cmp.Equal(f.Stages, c.stages) {
				t.Errorf("stages %v, want %v", f.Stages, c.stages)
			}
			for _, has := range c.has {
				if !strings.Contains(r.Text, has) {
					t.Errorf("%q is not in\n%s", has, ends(r.Text))
				}
			}
			if c.hasNot != "" && strings.Contains(r.Text, c.hasNot) {
				t.Errorf("%q is in\n%s", c.hasNot, ends(r.Text))
			}
			if got := kindOf(r); got != c.kind {
				t.Errorf("kind %q, want %q", got, c.kind)
			}
			if len(r.Text) > tool.DefaultInline {
				t.Errorf("%d bytes of text", len(r.Text))
			}
		})
	}
}

func ends(s string) string {
	if len(s) < 4000 {
		return s
	}
	return s[:1000] + "\n.....\n" + s[len(s)-3000:]
}

// R142, R143: of an output too long to be shown, what a build or a test said that
// failed is shown all the same, wherever it stood.
func TestR142_KeyDiagnosticsSurviveALongOutput(t *testing.T) {
	fixture, err := os.ReadFile("diagnostic/testdata/go-test-1.26.8-several-failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "said"), fixture, 0o644); err != nil {
		t.Fatal(err)
	}
	reports, err := diagnostic.Read("", bytes.NewReader(fixture))
	if err != nil || len(reports) != 1 || len(reports[0].Failing) < 2 {
		t.Fatalf("%v, %+v", err, reports)
	}
	const flood = "yes 'nothing to see' | head -60000; "
	for command, has := range map[string]bool{
		flood + "cat said; " + flood + "exit 1": true,
		"cat said; exit 1":                      false,
		flood + "cat said; " + flood:            false, // nothing failed
	} {
		r, f := bashWith(t, bashIn(t, dir, BashOptions{}), tool.Env{Spill: new(shelf).spill}, bashArgs{Command: command})
		_, listed, found := strings.Cut(r.Text, "[what failed, out of all of that:]")
		if has && !found {
			t.Errorf("%s: nothing is said of it in\n%s", command, ends(r.Text))
		}
		for _, c := range reports[0].Failing {
			if has && !strings.Contains(listed, c.Name) {
				t.Errorf("%s: %s is not in\n%s", command, c.Name, listed)
			}
		}
		if len(f.Reports) != 1 { // to programs it is told whether or not the command failed
			t.Errorf("%s: %d reports", command, len(f.Reports))
		}
		if len(r.Text) > tool.DefaultInline {
			t.Errorf("%s: %d bytes of text", command, len(r.Text))
		}
	}
}

// What a sandbox saw a command leave behind is in its result.
func TestR126_WhatACommandLeavesBehindIsTold(t *testing.T) {
	c := process.Command{}
	got := aftermath(process.Exit{Left: true, Made: []string{".envrc", ".vscode"}})
	for _, want := range []string{"what it left running was ended", ".envrc, .vscode"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if got := aftermath(process.Exit{Code: 3}); got != "" || ending(process.Exit{Code: 3}, c) != "exit status 3" {
		t.Errorf("of nothing: %q", got)
	}
}
