//go:build linux

package process_test

import (
	"context"
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
