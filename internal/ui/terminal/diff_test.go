package terminal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestDiff: a change is shown below its call, unless a person approved it and so
// has seen it, and never with what a terminal would obey.
func TestDiff(t *testing.T) {
	diff := "edited a.go (+1 -1)\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n-\told\x1b[2J\n+\tnew\n same\n"
	long := "edited a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1,30 @@\n" + strings.Repeat("+line\n", 30)
	changed := func(text string) tool.Result {
		return tool.Result{Status: tool.Success, Text: text, Edits: []edit.Intent{{Path: "a.go"}}}
	}
	approved := recorded(0, event.Decided{Call: "c1", Verdict: "allow", By: event.ByPerson})
	for _, tc := range []struct {
		name    string
		signals []agent.Signal
		o       Options
		want    []string // the lines below the first
	}{
		{"shown", []agent.Signal{planned("c1", "Edit", "edit a.go"), finished("c1", 1, changed(diff))}, Options{},
			[]string{"  @@ -1,2 +1,2 @@", `  -       old\x1b[2J`, "  +       new", "   same"}},
		{"approved", []agent.Signal{planned("c1", "Edit", "edit a.go"), approved, finished("c1", 1, changed(diff))}, Options{}, nil},
		{"quiet", []agent.Signal{planned("c1", "Edit", "edit a.go"), finished("c1", 1, changed(diff))}, Options{Quiet: true}, nil},
		{"no edit", []agent.Signal{planned("c1", "Bash", "git diff"), finished("c1", 1, tool.Result{Status: tool.Success, Text: diff})}, Options{}, nil},
		{"narrow", []agent.Signal{planned("c1", "Edit", "e"), finished("c1", 1, changed(diff))}, Options{Width: 8},
			[]string{"  @@ -1…", "  -    …", "  +    …", "   same"}},
		{"long", []agent.Signal{planned("c1", "Edit", "edit a.go"), finished("c1", 1, changed(long))}, Options{},
			append(append([]string{"  @@ -1 +1,30 @@"}, repeated("  +line", maxDiff-1)...), "  ... 15 more lines")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, shown := play(t, tc.o, tc.signals...)
			var got []string
			for i, line := range strings.Split(strings.TrimRight(shown, "\n"), "\n") {
				if i > 0 && strings.HasPrefix(line, "  ") {
					got = append(got, line)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("shown below the call (-want +got):\n%s\nall:\n%s", d, shown)
			}
		})
	}
}

func repeated(line string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line
	}
	return lines
}
