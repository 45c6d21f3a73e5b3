//go:build linux

package process_test

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
)

// leaking returns the command that makes everything of a hostile shape hold w.
func leaking(t *testing.T, w witness, shape string) process.Command {
	t.Helper()
	c := script(t, w.hold("exec "+os.Args[0]))
	c.Env = append(c.Env, "PROCESS_TEST_ROLE=leak "+shape)
	c.Grace, c.Timeout = 50*time.Millisecond, time.Minute
	return c
}

// TestPromise_P13_NoHostileShapeOutlivesItsEnd ends commands that hide, in each
// way in which a command is ended. What witnesses that all are gone is a pipe
// that they hold.
func TestPromise_P13_NoHostileShapeOutlivesItsEnd(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, shape := range hostile {
		w := newWitness(t)
		ctx, cancel := context.WithCancel(t.Context())
		c := leaking(t, w, shape)
		c.Output = &seen{wake: cancel}
		e, err := h.Run(ctx, c)
		cancel()
		if err != nil || !e.Cancelled || !strings.Contains(string(e.Head), "ready\n") {
			t.Errorf("%s, cancelled: %s, %v", shape, brief(e), err)
		}
		w.goneAtOnce(t, shape+", cancelled")

		w = newWitness(t)
		c = leaking(t, w, shape)
		c.Silence = 500 * time.Millisecond
		if e := run(t, h, c); !e.Idle {
			t.Errorf("%s, silent: %s", shape, brief(e))
		}
		w.goneAtOnce(t, shape+", silent")

		w = newWitness(t)
		began := time.Now()
		crash(t, "running", t.TempDir(), "PROCESS_TEST_ROLE='leak "+shape+"'; export PROCESS_TEST_ROLE; "+w.hold("exec "+os.Args[0]))
		ready := time.Since(began)
		w.gone(t)
		t.Logf("%s: all were gone %s after a kill -9 of the agent", shape, time.Since(began)-ready)
	}
}

// TestPromise_P13_CancelledAtAnyMoment cancels, from before the start until all
// of it is there.
func TestPromise_P13_CancelledAtAnyMoment(t *testing.T) {
	t.Parallel()
	h := open(t)
	w := newWitness(t)
	if _, err := h.Run(t.Context(), script(t, w.hold("true"))); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range cancels {
		c := leaking(t, w, hostile[i%len(hostile)])
		c.Grace = time.Millisecond
		c.Timeout = time.Duration(1 + random.IntN(60_000_000))
		if e := run(t, h, c); !e.TimedOut {
			t.Fatal(c.Env, c.Timeout, brief(e))
		}
		w.goneAtOnce(t, hostile[i%len(hostile)])
	}
}

// TestPromise_P13_ReducedWithoutCgroups ends what a search of processes finds.
func TestPromise_P13_ReducedWithoutCgroups(t *testing.T) {
	t.Parallel()
	h, err := process.OpenUngrouped("")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, shape := range []string{"plain", "setsid", "daemon", "ignores", "setpgid", "daemons"} {
		w := newWitness(t)
		ctx, cancel := context.WithCancel(t.Context())
		c := leaking(t, w, shape)
		c.Output = &seen{wake: cancel}
		if e, err := h.Run(ctx, c); err != nil || !e.Cancelled {
			t.Errorf("%s: %s, %v", shape, brief(e), err)
		}
		cancel()
		w.gone(t)
	}
}

// goneAtOnce fails if anything holds the witness now. It looks twice: who was
// killed hangs up before the kill has been answered, but is not always seen to.
func (w witness) goneAtOnce(t *testing.T, after string) {
	t.Helper()
	var err error
	for _, wait := range []time.Duration{0, 200 * time.Millisecond} {
		if e := w.file.SetReadDeadline(time.Now().Add(wait + time.Millisecond)); e != nil {
			t.Fatal(e)
		}
		if _, err = io.ReadAll(w.file); err == nil {
			return
		}
	}
	t.Errorf("%s: something still holds the witness: %v", after, err)
}
