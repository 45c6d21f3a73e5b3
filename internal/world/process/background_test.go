//go:build linux

package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
)

// soon is the context of a wait that should not be long.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, h *process.Host, c process.Command) *process.Process {
	t.Helper()
	p, err := h.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shows waits until p has printed text.
func shows(t *testing.T, p *process.Process, text string) {
	t.Helper()
	for late := soon(t); ; {
		b, _, _ := p.Read(0, 1<<20)
		if bytes.Contains(b, []byte(text)) {
			return
		}
		select {
		case <-late.Done():
			t.Fatalf("%s has printed %q, want %q", p.Name(), b, text)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestR131_StartedReadWrittenAndStopped(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, `while read -r line; do echo "got $line"; done; echo end; exit 4`)
	c.Call, c.Input = "c7", true
	p := start(t, h, c)
	if got := h.Processes(); len(got) != 1 || got[0] != p || p.Name() != "c7" {
		t.Errorf("listed are %v", got)
	}
	for _, word := range []string{"one", "two"} {
		if n, err := p.Write([]byte(word + "\n")); err != nil || n != 4 {
			t.Fatal(n, err)
		}
		shows(t, p, "got "+word+"\n")
	}
	if b, at, total := p.Read(8, 5); string(b) != "got t" || at != 8 || total != 16 {
		t.Errorf("from 8: %q at %d of %d", b, at, total)
	}
	if _, ended, _ := p.Exit(); ended || len(h.Ended()) > 0 {
		t.Error("it has ended")
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	p.Wait(soon(t))
	if news := h.Ended(); len(news) != 1 || news[0] != p {
		t.Errorf("news are %v", news)
	}
	e, ended, err := p.Exit()
	if err != nil || !ended || e.Code != 4 || string(e.Head) != "got one\ngot two\nend\n" {
		t.Error(brief(e), ended, err)
	}
	if _, err := p.Write([]byte("x")); !errors.Is(err, process.ErrNoInput) {
		t.Errorf("written after its end: %v", err)
	}
	if news := h.Ended(); len(news) > 0 {
		t.Errorf("told twice: %v", news)
	}

	w := newWitness(t)
	p = start(t, h, script(t, w.hold("setsid sleep 300 & echo ready; wait")))
	shows(t, p, "ready")
	if _, err := p.Write([]byte("x")); !errors.Is(err, process.ErrNoInput) {
		t.Errorf("written without input: %v", err)
	}
	p.Stop()
	w.gone(t)
	if e, ended, err := p.Exit(); !ended || !e.Cancelled || err != nil {
		t.Error(brief(e), ended, err)
	}
	if news := h.Ended(); len(news) > 0 {
		t.Errorf("what was stopped is no news: %v", news)
	}
}

func TestR131_ForegroundMovesToTheBackground(t *testing.T) {
	t.Parallel()
	h := open(t)
	dir := t.TempDir()
	c := script(t, "echo early; until [ -e go ]; do sleep 0.01; done; echo late; exit 5")
	var out bytes.Buffer
	c.Call, c.Dir, c.Output, c.Linger, c.Timeout = "c1", dir, &out, true, 300*time.Millisecond
	e := run(t, h, c)
	if !e.Lingers || e.TimedOut || string(e.Head) != "early\n" || out.String() != "early\n" {
		t.Fatal(brief(e), out.String())
	}
	all := h.Processes()
	if len(all) != 1 || all[0].Name() != "c1" {
		t.Fatal(all)
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all[0].Wait(soon(t))
	if e, _, err := all[0].Exit(); e.Code != 5 || string(e.Head) != "early\nlate\n" || err != nil {
		t.Error(brief(e), err)
	}
	if out.String() != "early\n" {
		t.Errorf("the call has ended, and its output goes on: %q", out.String())
	}

	c = script(t, "exit 3")
	c.Linger, c.Timeout = true, time.Minute
	if e := run(t, h, c); e.Lingers || e.Code != 3 {
		t.Error(brief(e))
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = script(t, "echo ready; sleep 300")
	c.Output, c.Linger, c.Timeout = &seen{wake: cancel}, true, time.Minute
	if e, err := h.Run(ctx, c); err != nil || e.Lingers || !e.Cancelled {
		t.Error(brief(e), err)
	}
	if n := len(h.Processes()); n != 1 {
		t.Errorf("%d are listed: what has ended in the foreground is not one", n)
	}
}

func TestR131_HowManyThereMayBe(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 64 {
		start(t, h, process.Command{Argv: []string{"/bin/sleep", "300"}, Dir: "/"})
	}
	if _, err := h.Start(script(t, "true")); !errors.Is(err, process.ErrMany) {
		t.Errorf("one more: %v", err)
	}
	first := h.Processes()[0]
	first.Stop()
	p := start(t, h, script(t, "true"))
	if all := h.Processes(); len(all) != 64 || all[0] == first || all[63] != p {
		t.Errorf("%d are listed", len(all))
	}
}

func TestR131_InputThatNobodyTakes(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, "echo ready; sleep 300")
	c.Input = true
	p := start(t, h, c)
	began := time.Now()
	n, err := p.Write(make([]byte, 10<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == 10<<20 || time.Since(began) > time.Minute {
		t.Errorf("took %d bytes, %v", n, err)
	}
}

func TestR141_ReadOfWhatWasDropped(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := script(t, "seq 1000000; sleep 300")
	c.Keep = 1000
	p := start(t, h, c)
	const all = 6_888_896
	for late := soon(t); ; {
		if _, _, total := p.Read(0, 0); total == all || late.Err() != nil {
			break
		}
		<-time.After(time.Millisecond)
	}
	if b, at, total := p.Read(0, 10); string(b) != "1\n2\n3\n4\n5\n" || at != 0 || total != all {
		t.Errorf("first: %q at %d of %d", b, at, total)
	}
	if b, at, _ := p.Read(2000, 4000); at != all-1000 || len(b) != 1000 || !strings.HasSuffix(string(b), "\n1000000\n") {
		t.Errorf("after the gap: %d bytes at %d", len(b), at)
	}
	if b, at, _ := p.Read(all-8, 4000); string(b) != "1000000\n" || at != all-8 {
		t.Errorf("last: %q at %d", b, at)
	}
	if b, at, _ := p.Read(all+99, 4000); len(b) > 0 || at != all {
		t.Errorf("past the end: %q at %d", b, at)
	}
}

func TestBug_S01_HoldersAreNamed(t *testing.T) {
	t.Parallel()
	h := open(t)
	e := run(t, h, script(t, "sleep 300 & echo $!"))
	want := fmt.Sprintf("sleep (%s)", strings.TrimSpace(string(e.Head)))
	if !e.Held || len(e.Holders) != 1 || e.Holders[0] != want {
		t.Errorf("held %t by %q, want %q", e.Held, e.Holders, want)
	}
}
