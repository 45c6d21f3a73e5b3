package terminal

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// R320: what went well takes one line, however long its command and in whatever
// letters, and still says how much came of it and how long it took.
func TestR320_ACallTakesOneLine(t *testing.T) {
	for _, s := range texts {
		for width := 40; width <= 120; width++ {
			_, got := play(t, Options{Width: width},
				replied(model.Usage{}, 0, model.Calls, callOf("c1", "Bash", string(mustJSON(t, map[string]string{"command": s})))),
				finished("c1", 1200, tool.Result{Status: tool.Success, Text: "a\nb\n"}))
			if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, " (2 lines) 1.2s\n") {
				t.Fatalf("%q at %d: %q", s, width, got)
			}
			checkShown(t, strings.TrimSuffix(got, "\n"), width)
		}
	}
}

// R320: each of the calls that run at once has a row of its own; those that wait
// are counted.
func TestR320_ParallelCallsAreToldApart(t *testing.T) {
	now := start
	v := newView(Options{Live: true, Width: 60, Height: 24, Now: func() time.Time { return now }, Out: new(counter), Progress: new(counter)})
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		v.show(planned(id, "Bash", "make "+id))
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		v.show(recorded(0, event.Started{Call: id}))
	}
	v.show(recorded(0, event.Started{Call: "f", Waited: []event.Wait{{Call: "a"}, {Call: "b"}}}))
	now = now.Add(3 * time.Second)
	v.show(agent.Output{Call: "b", Text: []byte("one\ntwo\n")})
	now = now.Add(7 * time.Second)
	want := []string{
		"· 10s Bash make a, no output yet",
		"· 10s Bash make b, silent for 7s │ two",
		"· 10s Bash make c, no output yet",
		"· 10s Bash make d, no output yet",
		"· and 2 more",
		"· 1 call not begun",
	}
	if diff := cmp.Diff(want, v.window(now)); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		v.show(finished(id, 1, tool.Result{Status: tool.Success}))
	}
	want = []string{"· 10s Bash make f, no output yet, after Bash make a and 1 …", "· 1 call not begun"}
	if diff := cmp.Diff(want, v.window(now)); diff != "" {
		t.Error(diff)
	}
}

// A window that became narrower or wider is taken off the screen whole, and what
// comes next fits.
func TestTheSizeOfTheScreenMayChange(t *testing.T) {
	var width atomic.Int64
	width.Store(60)
	o := Options{Live: true, Width: 60, Height: 24, Size: func() (int, int) { return int(width.Load()), 24 }}
	got := watch(t, o, func(u *UI) {
		started(u, "c1", strings.Repeat("x", 50))
		pass(time.Second)
		width.Store(20)
		pass(time.Second)
		width.Store(60)
		ended(u, "c1")
	})
	want := "· 1s Bash " + strings.Repeat("x", 23) + "…\r␛[K\x1b[A␛[K" + "· 2s Bash xxxxxx…\r␛[K✓ Bash " + strings.Repeat("x", 47) + "… 3.0s\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A terminal that takes nothing does not make Belay keep what commands print, and
// what is left out is said.
func TestASlowTerminalKeepsNoOutput(t *testing.T) {
	w := &gate{open: make(chan struct{})}
	u := New(Options{Out: w, Verbose: true})
	u.Say("first")
	for range 100 {
		u.Observe(agent.Output{Call: "c1", Text: []byte(strings.Repeat("x", 99_999) + "\n")})
	}
	u.mu.Lock()
	kept := u.printed
	u.mu.Unlock()
	if kept > maxPrinted+100_000 {
		t.Errorf("%d bytes wait", kept)
	}
	close(w.open)
	u.do(t.Context(), func() {})
	u.Observe(agent.Output{Call: "c1", Text: []byte("last\n")})
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.String(); !strings.Contains(got, "bytes of output came too fast to be shown") || !strings.HasSuffix(got, "│ last\n") {
		t.Errorf("shown: %.200q ... %.200q", got, got[max(0, len(got)-200):])
	}
}
