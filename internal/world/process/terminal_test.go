//go:build linux

package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
)

func TestR130_ATerminalOnRequest(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three; stty size; (: </dev/tty) && echo tty
		set -- $(cat /proc/$$/stat); [ $6 = $$ ] && echo leader; read -r x; echo "got $x"; cat; exit 3`)
	c.Terminal = &process.Size{Rows: 31, Columns: 97}
	p := start(t, h, c)
	shows(t, p, "leader")
	if _, err := p.Write([]byte("some\n")); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "got some")
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	p.Wait(soon(t))
	e, ended, err := p.Exit()
	want := "all three\r\n31 97\r\ntty\r\nleader\r\nsome\r\ngot some\r\n"
	if !ended || err != nil || e.Code != 3 || string(e.Head) != want {
		t.Errorf("%s, %v", brief(e), err)
	}

	c = script(t, "trap 'echo interrupted; exit 9' INT; echo ready; while :; do sleep 0.05; done")
	c.Terminal = &process.Size{Rows: 24, Columns: 80}
	p = start(t, h, c)
	shows(t, p, "ready")
	if _, err := p.Write([]byte{3}); err != nil { // as a terminal sends for Ctrl-C
		t.Fatal(err)
	}
	p.Wait(soon(t))
	if e, _, _ := p.Exit(); e.Code != 9 || !strings.Contains(string(e.Head), "interrupted") {
		t.Error(brief(e))
	}
}

func TestR130_ATerminalEndsLikeAPipe(t *testing.T) {
	t.Parallel()
	h := open(t)
	w := newWitness(t)
	size := &process.Size{Rows: 24, Columns: 80}
	for _, text := range []string{
		"seq 100000",
		"nohup sleep 300 & echo on",
		"setsid sleep 300 & seq 100000",
		"exec >/dev/null 2>&1 </dev/null",
	} {
		c := script(t, text)
		c.Terminal = size
		began := time.Now()
		e := run(t, h, c)
		if e.Code != 0 || time.Since(began) > 20*time.Second {
			t.Errorf("%s: %s", text, brief(e))
		}
		if strings.Contains(text, "seq") && !strings.HasSuffix(string(append(e.Head, e.Tail...)), "100000\r\n") {
			t.Errorf("%s: %d bytes dropped, the end is %q", text, e.Dropped, e.Tail[max(0, len(e.Tail)-20):])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := script(t, w.hold("setsid sleep 300 & trap '' TERM HUP; echo ready; sleep 300; sleep 300"))
	c.Terminal, c.Output, c.Grace = size, &seen{wake: cancel}, 50*time.Millisecond
	if e, err := h.Run(ctx, c); err != nil || !e.Cancelled {
		t.Error(brief(e), err)
	}
	w.gone(t)
}

// What asks for a password asks nobody: it fails at once.
func TestR137_NothingCanAskWithoutATerminal(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, "read -r x; echo $?; (exec </dev/tty) 2>/dev/null; echo $?")
	c.Timeout = time.Minute
	if e := run(t, h, c); string(e.Head) != "1\n1\n" {
		t.Error(brief(e))
	}
}

// TestPromise_P14_ATerminalThatFloodsTakesLittleMemory has a process of its own read
// what a terminal is flooded with, and say how large it became. The promise is of 2 GB:
// soak has those.
func TestPromise_P14_ATerminalThatFloodsTakesLittleMemory(t *testing.T) {
	c := exec.Command("/proc/self/exe", strconv.FormatInt(flooding, 10))
	c.Env = append(os.Environ(), "PROCESS_TEST_ROLE=flood")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var bytes, peak int64
	if _, err := fmt.Sscan(string(out), &bytes, &peak); err != nil {
		t.Fatalf("it said %.300q: %v", out, err)
	}
	t.Logf("%d MiB through a terminal, at most %d MiB of memory", bytes>>20, peak>>20)
	if bytes < flooding { // a terminal makes CR LF of LF
		t.Errorf("%d bytes came through", bytes)
	}
	if peak > 64<<20 {
		t.Errorf("it took %d MiB of memory", peak>>20)
	}
}

// flood reads as many bytes as it is told from a terminal, and prints how many came
// and how much memory that took.
func flood() {
	h, err := process.Open("")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer h.Close()
	got := new(tally)
	e, err := h.Run(context.Background(), process.Command{
		Argv: []string{"/bin/sh", "-c", "yes 'ok  \texample.com/some/package\t0.412s' | head -c " + os.Args[1]}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Terminal: &process.Size{Rows: 24, Columns: 80}, Keep: 64 << 10, Output: got, Timeout: 20 * time.Minute,
	})
	if err != nil || e.Code != 0 {
		fmt.Println(err, e.Code)
		os.Exit(1)
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	_, _ = fmt.Sscan(peak, &kib)
	fmt.Println(int64(*got), kib<<10)
}

// A tally counts what is written to it.
type tally int64

func (n *tally) Write(b []byte) (int, error) {
	*n += tally(len(b))
	return len(b), nil
}
