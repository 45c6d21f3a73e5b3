package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// P01: two short sessions, so that a third of all pairs of marks can be had: one
// call of each kind with a person who is asked, and a change of several files.
func TestPromise_P01_EveryPair(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		script string
		person func(*story, *exec.Cmd) (func(), error)
	}{{"pairs.play", atTerminal}, {"patch.play", nil}} {
		t.Run(tc.script, func(t *testing.T) {
			st := &stage{top: inMemory(t), binary: binary(t, marked), person: tc.person}
			st.open(t, tc.script)
			if len(st.marks) < 50 {
				t.Fatalf("only %d marks", len(st.marks))
			}
			st.crashInPairs(t, 8)
		})
	}
}

// inMemory returns a directory that costs no disk, where there is one: a kill
// needs none.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "crash-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// atTerminal puts somebody in front of c who allows what is asked for, and says
// of a command truly whether it ran: a line in its counter tells.
func atTerminal(s *story, c *exec.Cmd) (gone func(), err error) {
	ours, theirs, err := terminal()
	if err != nil {
		return nil, err
	}
	c.Stdin, c.Stderr = theirs, theirs
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var seen strings.Builder
		b := make([]byte, 4096)
		for {
			n, err := ours.Read(b)
			if err != nil { // nobody is left at it
				return
			}
			seen.Write(b[:n])
			if answer := s.answer(seen.String()); answer != "" {
				seen.Reset()
				if _, err := ours.WriteString(answer + "\n"); err != nil {
					return
				}
			}
		}
	}()
	return func() {
		theirs.Close()
		<-done
		ours.Close()
	}, nil
}

var counterRE = regexp.MustCompile(`counter-\d+`)

// answer returns what to type at a terminal that has shown this, or "".
func (s *story) answer(seen string) string {
	_, rest, asked := strings.Cut(seen, "enter: ask later")
	if asked && strings.Contains(rest, " > ") {
		name := counterRE.FindString(seen)
		if b, err := os.ReadFile(filepath.Join(s.dir, name)); err == nil && len(b) > 0 {
			return "d"
		}
		return "r"
	}
	if _, rest, asked = strings.Cut(seen, "y: yes"); asked && strings.Contains(rest, " > ") {
		return "y"
	}
	return ""
}

// terminal makes a new one, and returns both its sides.
func terminal() (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
		return nil, nil, fmt.Errorf("make a terminal: %w", err)
	}
	raw, err := ours.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var number int
	var ioErr error
	err = raw.Control(func(fd uintptr) {
		number, ioErr = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		ioErr = errors.Join(ioErr, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 200}))
	})
	if err == nil {
		err = ioErr
	}
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		ours.Close()
	}
	return ours, theirs, err
}
