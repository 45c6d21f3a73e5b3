package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// checkJournal reports a log on disk that is not what was observed.
func (r *record) checkJournal(t *testing.T, j *journal.Journal, dir string) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var state session.State
	var kept []event.Event
	for e, err := range journal.Read(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if err := state.Apply(e); err != nil {
			t.Error(err)
		}
		if _, own := e.Body.(event.Opaque); !own {
			kept = append(kept, e)
		}
	}
	if diff := cmp.Diff(r.events, kept); diff != "" {
		t.Errorf("the log on disk is not what was observed (-observed +kept):\n%s", diff)
	}
	if open := state.Open(); len(open) > 0 {
		t.Errorf("calls are left open: %+v", open)
	}
}

// checkCalls reports calls that have not exactly one result.
func (r *record) checkCalls(t *testing.T) {
	t.Helper()
	results := make(map[string]int)
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case event.Replied:
			for _, c := range b.Message.Calls() {
				results[c.ID] += 0
			}
		case event.Finished:
			results[b.Call]++
		}
	}
	for id, n := range results {
		if n != 1 {
			t.Errorf("%s has %d results, want one", id, n)
		}
	}
}

func (r *record) checkBounds(t *testing.T, bounds map[string]int) {
	t.Helper()
	spent := map[string]int{"calls": 0, "steps": 0, "tokens": 0}
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case event.Replied:
			spent["steps"]++
			spent["tokens"] += b.Usage.Total()
		case event.Finished:
			spent["calls"]++
		}
	}
	for unit, most := range bounds {
		got, known := spent[unit]
		t.Logf("%d of at most %d %s", got, most, unit)
		if !known || got > most || got == 0 {
			t.Errorf("it took %d %s, want 1 to %d", got, unit, most)
		}
	}
}

// checkPatches reports diffs that do not lead from the workspace as it was to
// the workspace as it is: whoever reads the log must be able to apply them. The
// model is not shown again what it has just written in full, but people are.
func (r *record) checkPatches(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for path, text := range r.before {
		write(t, dir, path, text)
	}
	plans := make(map[string]tool.Plan)
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case event.Planned:
			plans[b.Plan.Call.ID] = b.Plan
		case event.Finished:
			plan := plans[b.Call]
			if plan.Call.Tool == "Bash" && b.Result.Status == tool.Success {
				return // it may have changed anything
			}
			if len(b.Result.Edits) == 0 {
				continue
			}
			apply(t, dir, plan.Preview)
			if _, shown, _ := strings.Cut(b.Result.Text, "\n"); shown != "" && shown != plan.Preview {
				t.Errorf("%s was to be\n%s\nand is said to be\n%s", b.Call, plan.Preview, shown)
			}
		}
	}
	want := make(map[string]string)
	for path, text := range r.after {
		want[path] = strings.ReplaceAll(text, "\r\n", "\n") // as a diff shows it
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("the diffs do not make the workspace what it is (-is +patched):\n%s", diff)
	}
}

func apply(t *testing.T, dir, patch string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", "apply", "-")
	c.Dir, c.Stdin = dir, strings.NewReader(patch)
	c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v\n%s%s", err, out, patch)
	}
}
