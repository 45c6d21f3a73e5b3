//go:build linux

package process_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/belay-agent/belay/internal/world/process"
)

func TestBug_S02_TimeoutEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, text := range []string{
		`sh -c 'sh -c "while :; do date; sleep 1; done"' | cat`,
		`sh -c 'sh -c "sh -c \"while :; do date; sleep 1; done\""' | cat`,
		`mkfifo f; sh -c 'sh -c "while :; do date; sleep 1; done" >f' & cat f`,
	} {
		w := newWitness(t)
		c := script(t, w.hold(text))
		c.Timeout, c.Grace = 500*time.Millisecond, 200*time.Millisecond
		e := run(t, h, c)
		if !e.TimedOut || e.Took > 20*time.Second || !strings.Contains(string(e.Head), ":") {
			t.Errorf("%s: %s", text, brief(e))
		}
		w.goneAtOnce(t, text)
	}
}

func TestBug_S08_NoFailureIsLost(t *testing.T) {
	t.Parallel()
	h := open(t)
	for text, want := range map[string]process.Exit{
		"echo part; kill -9 $$":       {Code: -1, Signal: "SIGKILL"},
		"exit 7":                      {Code: 7, Stages: []int{0}},
		"no-such-cmd":                 {Code: 127, Stages: []int{127}},
		"false | tail -1":             {Stages: []int{1, 0}},
		"seq 999999 | head -2":        {Stages: []int{141, 0}},
		"grep nothere /dev/null|sort": {Stages: []int{1, 0}},
	} {
		e := run(t, h, staged(t, text))
		if e.Code != want.Code || e.Signal != want.Signal || !slices.Equal(e.Stages, want.Stages) {
			t.Errorf("%s: %d %q %v, want %d %q %v", text, e.Code, e.Signal, e.Stages, want.Code, want.Signal, want.Stages)
		}
	}
}

// TestR139_R140_AnEndedRunOwesNothing counts what is open and what runs, before
// and after runs that end in every way. It does not run beside others.
func TestR139_R140_AnEndedRunOwesNothing(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	h := open(t)
	run(t, h, script(t, "true")) // the first makes what is for all of them
	before := opened(t)
	for _, text := range []string{"true", "exit 3", "kill -9 $$", "echo ready; sleep 300 | cat", "setsid sleep 300 & echo ready; wait", "echo ready; sleep 300 &"} {
		for _, terminal := range []*process.Size{nil, {Rows: 24, Columns: 80}} {
			ctx, cancel := context.WithCancel(t.Context())
			c := staged(t, text)
			c.Terminal, c.Grace = terminal, 50*time.Millisecond
			c.Output = &seen{wake: cancel}
			e, err := h.Run(ctx, c)
			cancel()
			if err != nil || e.Took <= 0 || e.Profile == "" {
				t.Errorf("%s: %s, %v", text, brief(e), err)
			}
		}
	}
	p := start(t, h, script(t, "sleep 300"))
	p.Stop()
	if after := opened(t); len(after) != len(before) {
		t.Errorf("open are %q, before it were %q", after, before)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if left := children(""); len(left) > 0 {
		t.Errorf("children left: %q", left)
	}
	if err := goleak.Find(ignore); err != nil {
		t.Error(err)
	}
}

// opened lists what we have open.
func opened(t *testing.T) (names []string) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if name, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil {
			names = append(names, name)
		}
	}
	return names
}
