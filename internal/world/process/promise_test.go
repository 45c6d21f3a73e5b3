//go:build linux

package process_test

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// TestPromise_P13_NoHostileShapeOutlivesASandbox is the same where a sandbox holds
// the commands.
func TestPromise_P13_NoHostileShapeOutlivesASandbox(t *testing.T) {
	for i, p := range []process.Profile{process.Full, process.Landlock, process.Namespaces} {
		if i > 0 && cancels < 1000 { // these take a while
			break
		}
		t.Run(string(p), func(t *testing.T) {
			root := outside(t)
			h := held(t, p, process.Sandbox{Root: root, Writable: []string{filepath.Dir(os.Args[0])}})
			for i, shape := range hostile {
				dir := filepath.Join(root, strconv.Itoa(i))
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				w := newWitnessIn(t, dir)
				ctx, cancel := context.WithCancel(t.Context())
				c := leaking(t, w, shape)
				c.Dir, c.Allowed, c.Output = dir, writes, &seen{wake: cancel}
				c.Timeout = 2 * time.Second // for what the sandbox does not let it do
				e, err := h.Run(ctx, c)
				cancel()
				if err != nil || !e.Cancelled && !e.TimedOut {
					t.Errorf("%s: %s, %v", shape, brief(e), err)
				}
				w.goneAtOnce(t, shape)
			}
		})
	}
}

// What a host reports of a command it reports from a sandbox too.
func TestR130_R131_R145_ASandboxChangesNoneOfIt(t *testing.T) {
	root := outside(t)
	h := held(t, process.Full, process.Sandbox{Root: root})
	c := staged(t, "echo out; echo err >&2; false | true | (exit 3)")
	c.Dir, c.Allowed = root, writes
	if e := run(t, h, c); !slices.Equal(e.Stages, []int{1, 0, 3}) || string(e.Err.Head) != "err\n" || e.Code != 3 {
		t.Errorf("%s: stages %v, stderr %q", brief(e), e.Stages, e.Err.Head)
	}
	for _, size := range []*process.Size{nil, {Rows: 30, Columns: 90}} {
		c = staged(t, "stty size; read -r x; echo \"got $x\"; sleep 300")
		c.Dir, c.Allowed, c.Input, c.Terminal = root, writes, true, size
		p := start(t, h, c)
		if _, err := p.Write([]byte("some\n")); err != nil {
			t.Fatal(err)
		}
		if size != nil {
			shows(t, p, "30 90")
		}
		shows(t, p, "got some")
		p.Stop()
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
