package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/toolbox"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/provider"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// An outcome is what a call came to. Why it failed is left out: a call that
// failed before, and would again, is told so without another try.
type outcome struct {
	Status tool.Status
	Text   string // of one that did not fail
}

// R081 R082 R086: whatever the calls of one reply are, and however long each of
// them takes to start, the real files and all results end as if the calls had
// been made one by one.
func TestPromise_P01_ParallelEndsAsSerial(t *testing.T) {
	t.Parallel()
	runs := 60
	if soak {
		runs = 5000
	}
	from := seed(t)
	overlaps := 0
	for i := range uint64(runs) {
		r := rand.New(rand.NewPCG(from, i))
		calls := randomCalls(r)
		files, got, most := perform(t, r, calls, false)
		wantFiles, want, _ := perform(t, r, calls, true)
		if most > 1 {
			overlaps++
		}
		if d := cmp.Diff(wantFiles, files) + cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d, run %d: (-one by one +together)\n%s\n%s", from, i, strings.Join(calls, "\n"), d)
		}
	}
	if overlaps < runs/3 {
		t.Errorf("in %d of %d runs two calls overlapped: the test says little", overlaps, runs)
	}
}

// randomCalls are lines of a rehearsal.
func randomCalls(r *rand.Rand) []string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	line := func(name string, args map[string]any) string {
		b, err := json.Marshal(args)
		if err != nil {
			panic(err) // of strings, it is always JSON
		}
		return fmt.Sprintf("call: %s %s", name, b)
	}
	word := func() string { return pick("one", "two", "three", "four") }
	replacement := func() map[string]any {
		return map[string]any{"old": word(), "new": word() + word(), "all": r.IntN(2) == 0}
	}
	var calls []string
	for range 2 + r.IntN(9) {
		path := pick("a.txt", "b.txt", "c/d.txt", "c/e.txt", "new.txt", "new/f.txt")
		switch r.IntN(6) {
		case 0, 1:
			calls = append(calls, line("Read", map[string]any{"path": path}))
		case 2:
			calls = append(calls, line("Write", map[string]any{"path": path, "content": word() + "\n" + word() + "\n"}))
		case 3, 4:
			args := replacement()
			args["path"] = path
			calls = append(calls, line("Edit", args))
		case 5:
			calls = append(calls, line("MultiEdit", map[string]any{"path": path, "edits": []any{replacement(), replacement()}}))
		}
	}
	return calls
}

// perform makes calls with real tools on real files, in one reply or in one
// each, after all files were read. It returns the files, the results in the
// order of the calls, and how many ran at once at most.
func perform(t *testing.T, r *rand.Rand, calls []string, oneByOne bool) (files map[string]string, got []outcome, most int) {
	t.Helper()
	dir := t.TempDir()
	script := "-- step --\n"
	for _, name := range []string{"a.txt", "b.txt", "c/d.txt", "c/e.txt"} {
		script += fmt.Sprintf("call: Read {\"path\": %q}\n", name)
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("one\ntwo\nthree\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	separator := "\n"
	if oneByOne {
		separator = "\n-- step --\n"
	}
	script += "-- step --\n" + strings.Join(calls, separator) + "\n-- step --\nsay: done\n"
	synctest.Test(t, func(t *testing.T) {
		var events []event.Event
		events, most = play(t, r, dir, script)
		for _, f := range bodies[event.Finished](events)[4:] {
			var n int
			if _, err := fmt.Sscanf(f.Call, "c%d", &n); err != nil {
				t.Fatal(err)
			}
			for len(got) < n-4 {
				got = append(got, outcome{})
			}
			got[n-5].Status = f.Result.Status
			if f.Result.Failure == nil {
				got[n-5].Text = f.Result.Text
			}
		}
	})
	files = make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, got, most
}

// play runs a turn in which every call waits for a random time before it acts.
func play(t *testing.T, r *rand.Rand, dir, script string) (events []event.Event, most int) {
	t.Helper()
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	j := journal.Memory(nil)
	defer j.Close()
	m, err := provider.NewRehearsed("random", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	waiting := 0
	a, err := agent.Open(t.Context(), new(session.State), agent.Options{
		Journal: j, Provider: m,
		Tools:   []tool.Tool{toolbox.Read(w), toolbox.Write(w), toolbox.Edit(w), toolbox.MultiEdit(w)},
		Session: event.Opened{Session: "s", Root: dir},
		Policy:  policy.Policy{Mode: policy.ModeFull},
		Before: func(_ context.Context, call string, _ effect.Set) error {
			mu.Lock()
			waiting++
			if len(call) > 2 || call > "c4" {
				most = max(most, waiting)
			}
			wait := time.Duration(r.IntN(1000)) * time.Millisecond
			mu.Unlock()
			time.Sleep(wait) // by the clock of the bubble
			mu.Lock()
			waiting--
			mu.Unlock()
			return nil
		},
		Observe: func(s agent.Signal) {
			if x, ok := s.(agent.Recorded); ok {
				events = append(events, x.Event)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Turn(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	return events, most
}
