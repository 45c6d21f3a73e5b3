//go:build linux

package process_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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

// TestPromise_P13_ReducedWithoutCgroups ends what a search of processes finds, and
// what has left all that a search goes by: it has become a child of ours.
func TestPromise_P13_ReducedWithoutCgroups(t *testing.T) {
	h := ungrouped(t)
	for _, shape := range hostile {
		for range 3 {
			w := newWitness(t)
			ctx, cancel := context.WithCancel(t.Context())
			c := leaking(t, w, shape)
			c.Output = &seen{wake: cancel}
			if e, err := h.Run(ctx, c); err != nil || !e.Cancelled || !strings.Contains(string(e.Head), "ready\n") {
				t.Errorf("%s: %s, %v", shape, brief(e), err)
			}
			cancel()
			w.goneAtOnce(t, shape)
		}
	}
	if left := children(""); len(left) > 0 {
		t.Errorf("not waited for: %q", left)
	}
}

// ungrouped returns a Host without cgroups. Nothing else starts anything
// meanwhile: tests that use it are not parallel.
func ungrouped(t *testing.T) *process.Host {
	t.Helper()
	h, err := process.OpenUngrouped("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// What ends one command ends nothing that it did not start: no child of ours that
// no command is, and nothing that an earlier command or another one left, be it
// younger. All that a Host has started ends with it.
func TestPromise_P13_OnlyItsOwnOrphans(t *testing.T) {
	h := ungrouped(t)
	earlier, beside, own := newWitness(t), newWitness(t), newWitness(t)
	const orphan = "(env -i /usr/bin/setsid /bin/sh -c 'echo ready; exec /bin/sleep 300 >/dev/null 2>&1' &); "
	if e := run(t, h, script(t, earlier.hold("(env -i /usr/bin/setsid /bin/sleep 300 >/dev/null 2>&1 &)"))); e.Code != 0 {
		t.Fatal(brief(e))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := script(t, beside.hold("read -r go; "+orphan+"exec env -i /bin/sleep 300 9>&-"))
	c.Input, c.Output = true, &seen{wake: cancel}
	p := start(t, h, c)

	stranger := exec.Command("/bin/sleep", "300")
	c = leaking(t, own, "setsid")
	c.Output = &seen{wake: func() {
		_, err := p.Write([]byte("go\n"))
		if err = errors.Join(err, stranger.Start()); err != nil {
			t.Error(err)
			cancel()
		}
	}}
	if e, err := h.Run(ctx, c); err != nil || !e.Cancelled {
		t.Fatal(brief(e), err)
	}
	own.goneAtOnce(t, "its own")
	for of, w := range map[string]witness{"an earlier command": earlier, "one that runs": beside} {
		if !w.held(t) {
			t.Errorf("what %s left is gone", of)
		}
	}
	p.Stop()
	beside.goneAtOnce(t, "stopped")
	if !earlier.held(t) {
		t.Error("what an earlier command left is gone")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	earlier.goneAtOnce(t, "closed")
	if err := stranger.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := stranger.Wait(); err == nil || stranger.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("a child of ours: %v", err)
	}
}

// held reports whether anything holds the witness.
func (w witness) held(t *testing.T) bool {
	t.Helper()
	if err := w.file.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := io.ReadAll(w.file)
	return err != nil
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
