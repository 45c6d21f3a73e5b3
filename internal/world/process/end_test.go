//go:build linux

package process_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
)

// A witness is a FIFO: it hangs up when the last process that holds it is gone,
// however that process hides.
type witness struct {
	path string
	file *os.File
}

func newWitness(t *testing.T) witness {
	t.Helper()
	return newWitnessIn(t, t.TempDir())
}

func newWitnessIn(t *testing.T, dir string) witness {
	t.Helper()
	w := witness{path: filepath.Join(dir, "fifo")}
	if err := syscall.Mkfifo(w.path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(w.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	w.file = f
	return w
}

// hold makes all that text starts hold the witness. It writes a line first, so
// that gone cannot be fooled by a text that never ran.
func (w witness) hold(text string) string {
	return "exec 9>'" + w.path + "'; echo held >&9; " + text
}

// gone fails unless everything that held the witness is gone already. Dying
// takes the kernel a moment after the kill that it promised.
func (w witness) gone(t *testing.T) {
	t.Helper()
	if err := w.file.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(w.file)
	if err != nil {
		t.Errorf("something still holds the witness: %v", err)
	}
	if !strings.HasPrefix(string(b), "held\n") {
		t.Errorf("nothing ever held the witness: %q", b)
	}
}

// A seen is output that can be waited for, and asked about when it is long.
type seen struct {
	mu    sync.Mutex
	first []byte
	wake  func() // called once word was seen
	word  string // "" is ready
}

func (s *seen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.first) < 64<<20 {
		s.first = append(s.first, b...)
	}
	if s.wake != nil && bytes.Contains(s.first, []byte(cmp.Or(s.word, "ready"))) {
		s.wake()
		s.wake = nil
	}
	return len(b), nil
}

func (s *seen) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.first, []byte(text))
}

// brief shows an exit without all of its output.
func brief(e process.Exit) string {
	e.Head, e.Tail = e.Head[:min(len(e.Head), 60)], nil
	return fmt.Sprintf("%+v, %q", e, e.Head)
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) { c.n += len(b); return len(b), nil }

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// shapes are ways of a command to leave something running.
var shapes = map[string]string{
	"plain":       "sleep 300 & sleep 300 & echo ready; wait",
	"pipeline":    "sh -c 'sh -c \"echo ready; while :; do date; sleep 1; done\"' | cat",
	"session":     "setsid sleep 300 & setsid sh -c 'sleep 300; :' & echo ready; wait",
	"daemon":      "(setsid sh -c 'sleep 300 & sleep 300 &' &) ; echo ready; sleep 300",
	"quiet":       "setsid sleep 300 >/dev/null 2>&1 & echo ready; sleep 300",
	"group":       "set -m; sleep 300 & sleep 300 & echo ready; wait",
	"ignores":     "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo ready; while :; do sleep 1; done",
	"scrubbed":    "env -i $(command -v setsid) $(command -v sleep) 300 & sleep 0.2; echo ready; wait",
	"stopped":     "sh -c 'kill -STOP $$; sleep 300' & echo ready; wait",
	"many":        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do setsid sleep 300 & done; echo ready; wait",
	"parent dies": "sh -c 'setsid sleep 300 & setsid sleep 300 &'; echo ready; sleep 300",
}

func TestR132_WhateverItStartedIsGone(t *testing.T) {
	t.Parallel()
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			w := newWitness(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := script(t, w.hold(text))
			c.Output, c.Grace, c.Timeout = &seen{wake: cancel}, 200*time.Millisecond, time.Minute
			e, err := h.Run(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			if !e.Cancelled || e.TimedOut || !bytes.Contains(e.Head, []byte("ready")) {
				t.Error(brief(e))
			}
			w.gone(t)
		})
	}
}

func TestR129_TimeoutsAndWhoSaidSo(t *testing.T) {
	t.Parallel()
	deadline := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	none := func(t *testing.T) context.Context { return t.Context() }
	type cause struct{ TimedOut, Idle, Cancelled bool }
	for name, tt := range map[string]struct {
		ctx              func(t *testing.T) context.Context
		text             string
		timeout, silence time.Duration
		want             cause
	}{
		"total":             {none, "echo a; sleep 300", 300 * time.Millisecond, 0, cause{TimedOut: true}},
		"context":           {deadline, "echo a; sleep 300", 0, 0, cause{TimedOut: true}},
		"silence":           {none, "echo a; sleep 300", time.Minute, 300 * time.Millisecond, cause{Idle: true}},
		"silence, closed":   {none, "echo a; exec >&- 2>&-; sleep 300", time.Minute, 300 * time.Millisecond, cause{Idle: true}},
		"chatter":           {none, "for i in 1 2 3 4 5 6 7; do echo a; sleep 0.1; done", time.Minute, 5 * time.Second, cause{}},
		"chatter past both": {none, "while :; do echo a; sleep 0.05; done", time.Second, 5 * time.Second, cause{TimedOut: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := script(t, tt.text)
			c.Timeout, c.Silence = tt.timeout, tt.silence
			began := time.Now()
			e, err := open(t).Run(tt.ctx(t), c)
			if err != nil {
				t.Fatal(err)
			}
			if got := (cause{e.TimedOut, e.Idle, e.Cancelled}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if !bytes.HasPrefix(e.Head, []byte("a\n")) {
				t.Errorf("lost what came before: %q", e.Head)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// slow takes its time with the first piece.
type slow struct {
	wait func()
	all  bytes.Buffer
}

func (s *slow) Write(b []byte) (int, error) {
	if s.wait != nil {
		s.wait()
		s.wait = nil
	}
	return s.all.Write(b)
}

func TestR128_ASlowReaderHoldsTheCommandBack(t *testing.T) {
	t.Parallel()
	const total = 10_000_000
	h := open(t)
	dir := t.TempDir()
	c := script(t, "echo $$ >pid; exec head -c "+strconv.Itoa(total)+" /dev/zero")
	c.Dir, c.Timeout, c.Silence = dir, time.Minute, 2*time.Second
	var written int
	c.Output = &slow{wait: func() {
		longer := time.After(c.Silence + time.Second) // a slow reader is no silence
		written = settled(t, filepath.Join(dir, "pid"))
		<-longer
	}}
	e := run(t, h, c)
	if written == 0 || written > total/2 {
		t.Errorf("wrote %d bytes while nobody read", written)
	}
	if n := c.Output.(*slow).all.Len(); n != total || e.Idle {
		t.Errorf("got %d bytes, idle %t", n, e.Idle)
	}
}

func TestR128_NothingIsLostToASlowReader(t *testing.T) {
	t.Parallel()
	c := script(t, "head -c 1048576 /dev/zero") // what a pipe holds: it exits at once
	out := &slow{wait: func() { <-time.After(700 * time.Millisecond) }}
	c.Output = out
	if e := run(t, open(t), c); out.all.Len() != 1<<20 || e.Held {
		t.Errorf("got %d bytes, held %t", out.all.Len(), e.Held)
	}
}

// settled returns what the process named in a file has written once that no
// longer grows.
func settled(t *testing.T, pidFile string) int {
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Error(err)
		return 0
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for last, same := "", 0; ; <-tick.C {
		b, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/io")
		if err != nil {
			return 1 << 30 // it has ended
		}
		_, after, _ := strings.Cut(string(b), "wchar: ")
		n, _, _ := strings.Cut(after, "\n")
		if n != last {
			last, same = n, 0
		}
		if same++; same == 4 {
			written, _ := strconv.Atoi(n)
			return written
		}
	}
}

func TestR138_GentleFirst(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.1; done")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Output, c.Grace = &seen{wake: cancel}, time.Minute
	e, err := h.Run(ctx, c)
	if err != nil || e.Code != 3 || e.Signal != "" || !e.Cancelled || !bytes.HasSuffix(e.Head, []byte("\nbye\n")) {
		t.Error(brief(e), err)
	}
}

func TestR138_ThenForGood(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, "trap '' TERM; echo ready; while :; do sleep 0.05; echo on; done")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Output, c.Grace = &seen{wake: cancel}, 500*time.Millisecond
	e, err := h.Run(ctx, c)
	if err != nil || e.Signal != "SIGKILL" || e.Code != -1 || !e.Cancelled {
		t.Error(brief(e), err)
	}
	if e.Took < c.Grace || e.Took > c.Grace+5*time.Second {
		t.Errorf("took %s with a grace of %s", e.Took, c.Grace)
	}
	if !bytes.Contains(e.Head, []byte("on\n")) {
		t.Errorf("nothing of its grace was kept: %q", e.Head)
	}
}

func TestCloseEndsWhatRunsAndWhatWasLeft(t *testing.T) {
	t.Parallel()
	h := open(t)
	w := newWitness(t)
	for _, text := range []string{
		"setsid sleep 300 >/dev/null 2>&1 &",
		"env -i $(command -v sleep) 300 >/dev/null 2>&1 &",
		"(sleep 300 &) >/dev/null 2>&1",
	} {
		if e := run(t, h, script(t, w.hold(text))); e.Code != 0 { // a fork may be slow to let go of the output
			t.Fatal(brief(e))
		}
	}
	ready := make(chan struct{})
	ended := make(chan process.Exit, 1)
	go func() {
		c := script(t, w.hold("echo ready; sleep 300"))
		c.Output = &seen{wake: func() { close(ready) }}
		e, err := h.Run(t.Context(), c)
		if err != nil {
			t.Error(err)
		}
		ended <- e
	}()
	<-ready
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if e := <-ended; !e.Cancelled {
		t.Error(brief(e))
	}
	w.gone(t)
	if _, err := h.Run(t.Context(), script(t, "true")); !errors.Is(err, process.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// Kill does not wait for a grace, not even for one that has begun.
func TestKillEndsAGrace(t *testing.T) {
	t.Parallel()
	h := open(t)
	w := newWitness(t)
	asked := make(chan struct{})
	ended := make(chan process.Exit, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		c := script(t, w.hold("trap 'echo now asked' TERM; echo ready; while :; do sleep 300 & wait; done"))
		c.Output, c.Grace = io.MultiWriter(&seen{wake: cancel}, &seen{wake: func() { close(asked) }, word: "asked"}), time.Hour
		e, err := h.Run(ctx, c)
		if err != nil {
			t.Error(err)
		}
		ended <- e
	}()
	<-asked
	if err := h.Kill(); err != nil {
		t.Fatal(err)
	}
	if e := <-ended; e.Signal != "SIGKILL" || !e.Cancelled {
		t.Error(brief(e))
	}
	w.gone(t)
}

// What is asked to end is asked at once: nothing goes on because what it waited
// for has ended.
func TestR132_NothingGoesOnWhenItsChildEnds(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 10 {
		c := staged(t, "(sleep 300 & echo ready; sleep 300); touch woke; (sleep 300; sleep 300); touch woke")
		ctx, cancel := context.WithCancel(t.Context())
		c.Output = &seen{wake: cancel}
		e, err := h.Run(ctx, c)
		if err != nil || !e.Cancelled {
			t.Fatal(brief(e), err)
		}
		if _, err := os.Stat(filepath.Join(c.Dir, "woke")); err == nil {
			t.Fatal("it went on:", brief(e))
		}
	}
}

// A shell that is asked to end while it is about to start a program starts it
// and waits for it: so the program is asked too, and nothing has to be killed.
func TestR138_WhatIsBornAfterTheSignalIsAskedToo(t *testing.T) {
	h := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := script(t, `trap 'sleep 300 & wait $!; exit 7' TERM; echo up; while :; do sleep 0.02; done`)
	c.Output, c.Grace = stopper(cancel), 20*time.Second
	began := time.Now()
	e, err := h.Run(ctx, c)
	if err != nil || !e.Cancelled || e.Code != 7 {
		t.Errorf("%v, %+v", err, e)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it was waited for until it was killed: %s", took)
	}
}

// A stopper ends a command as soon as it prints.
type stopper func()

func (s stopper) Write(b []byte) (int, error) { s(); return len(b), nil }
