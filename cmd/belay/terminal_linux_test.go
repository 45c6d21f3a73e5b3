package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A console is a terminal with belay in front of it.
type console struct {
	t    *testing.T
	side *os.File // ours
	seen bytes.Buffer
	c    *exec.Cmd
}

// console starts c with a terminal of its own as standard input and error, and
// as standard output too if whole is set.
func (p *place) console(t *testing.T, whole bool, args ...string) *console {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	t.Cleanup(func() { ours.Close() })
	raw, err := ours.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	var ioErr error
	err = raw.Control(func(fd uintptr) {
		number, ioErr = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		ioErr = errors.Join(ioErr, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
	})
	if err := errors.Join(err, ioErr); err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be opened here: %v", err)
	}
	defer theirs.Close()
	c := p.command(t, args...)
	c.Stdin, c.Stderr = theirs, theirs
	if whole {
		c.Stdout = theirs
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	start(t, c)
	if err := ours.SetReadDeadline(time.Now().Add(bound)); err != nil {
		t.Fatal(err)
	}
	return &console{t: t, side: ours, c: c}
}

// await reads until text was shown, and returns all that was.
func (c *console) await(text string) string {
	c.t.Helper()
	b := make([]byte, 4096)
	for !strings.Contains(c.seen.String(), text) {
		n, err := c.side.Read(b)
		c.seen.Write(b[:n])
		if err != nil {
			c.t.Fatalf("wait for %q: %v; so far:\n%s", text, err, c.seen.String())
		}
	}
	return c.seen.String()
}

func (c *console) enter(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.side, text); err != nil {
		c.t.Fatal(err)
	}
}

// end waits for belay to exit, and returns its status and all that was shown.
func (c *console) end() (int, string) {
	c.t.Helper()
	_, err := io.Copy(&c.seen, c.side)
	if err != nil && !errors.Is(err, syscall.EIO) { // what a terminal says when nobody is left at it
		c.t.Fatalf("%v; so far:\n%s", err, c.seen.String())
	}
	return status(c.t, c.c.Wait()), c.seen.String()
}

const writes = `call: Write {"path": "new.txt", "content": "new\n"}`

// With a terminal, run asks there: the plan with its preview is shown, and the
// answer decides.
func TestRunAsksAtTheTerminal(t *testing.T) {
	for _, tc := range []struct {
		name, answer, step, want string
		written                  bool
		code                     int
	}{
		{"yes", "y\n", "expect: not error\nsay: written", "written", true, 0},
		{"no", "n\n", "expect: error /denied by the user/\nsay: not written", "not written", false, 0},
		{"in words", "ok\nno, put it elsewhere\n", "expect: error /denied by the user: put it elsewhere/\nsay: as you like", "as you like", false, 0},
		{"Ctrl-C", "\x03", "say: never", "interrupted", false, 130},
		{"end of input", "\x04", "expect: error /no answer was given/\nsay: not written", "not written", false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = []string{"TERM=xterm"}
			c := p.console(t, true, "run", "-m", p.play(t, writes, tc.step), "write")
			c.await("+new")
			c.await("y: yes")
			if p.exists("new.txt") {
				t.Error("it was written before the answer")
			}
			c.enter(tc.answer)
			code, seen := c.end()
			if code != tc.code || !strings.Contains(seen, tc.want) || p.exists("new.txt") != tc.written {
				t.Errorf("exit status %d, written: %t; shown:\n%s", code, p.exists("new.txt"), seen)
			}
		})
	}
}

// U02: colours are for terminals, and for those who want them.
func TestBug_U02_Colours(t *testing.T) {
	for name, tc := range map[string]struct {
		env     []string
		colours bool
	}{
		"terminal": {[]string{"TERM=xterm"}, true},
		"NO_COLOR": {[]string{"TERM=xterm", "NO_COLOR=1"}, false},
		"dumb":     {[]string{"TERM=dumb"}, false},
		"no TERM":  {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = tc.env
			model := p.play(t, `call: LS {}`, "say: \x1b[31mhi")
			c := p.console(t, false, "run", "-m", model, "look")
			code, seen := c.end()
			if code != 0 || strings.Contains(seen, "\x1b[") != tc.colours {
				t.Errorf("exit status %d; shown:\n%q", code, seen)
			}
		})
	}
}

// Bare belay talks, turn after turn, until the input ends. Ctrl-C stops a turn
// and not the session.
func TestTalk(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = []string{"TERM=dumb"}
	up := p.gate(t)
	model := p.play(t,
		"expect: user /hello/\nsay: hi there",
		`call: Bash {"command": "echo up > ../gate; sleep 99"}`,
		"expect: last /never mind/\nsay: as you like")
	c := p.console(t, true, "-m", model, "--mode", "full")
	c.await("stops a turn")
	c.enter("hello\n")
	c.await("hi there")
	c.enter("wait\n")
	up()
	c.enter("\x03")
	c.await("stopped: interrupted")
	c.enter("never mind\n")
	c.await("as you like")
	c.enter("\x04")
	if code, seen := c.end(); code != 0 {
		t.Errorf("exit status %d; shown:\n%s", code, seen)
	}
	all := p.events(t)
	if got := outcomes(t, all); len(got) != 1 || got["c1"] != "interrupted cancelled" {
		t.Errorf("results: %v", got)
	}
	if left := p.survivors(t); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

// A command that takes its time is shown while it runs, with what it printed last,
// and that line is gone in the end. Colours have nothing to do with it.
func TestWhatRunsIsShown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = []string{"TERM=xterm", "NO_COLOR=1"}
	model := p.play(t, `call: Bash {"command": "echo one; until test -e ../go; do sleep 0.05; done"}`, "say: ready")
	c := p.console(t, false, "run", "--mode", "full", "-m", model, "wait")
	c.await("s Bash echo one; until test")
	c.await("│ one")
	if err := os.WriteFile(filepath.Join(p.dir, "../go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	code, seen := c.end()
	if code != 0 || !strings.Contains(seen, "  │ one\r\x1b[K\x1b[A\x1b[K✓ Bash echo one") {
		t.Errorf("exit status %d; shown:\n%q", code, seen)
	}
}

// Several lines that are pasted are one goal, sent by the Enter that follows them.
func TestAPasteIsOneGoal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.console(t, true, "-m", p.play(t, `expect: user /(?m)^one\ntwo\nthree$/`+"\nsay: all three came"))
	c.await("> ")
	c.enter("one\ntwo\nthr")
	c.await("Enter sends them")
	c.enter("ee\n")
	c.await("all three came")
	c.await("done; 1 step")
	c.enter("\x04")
	if code, seen := c.end(); code != 0 {
		t.Errorf("exit status %d; shown:\n%s", code, seen)
	}
}
