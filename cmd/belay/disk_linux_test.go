package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
)

// mountSmall mounts a file system of so many bytes, and skips the test where
// that is not allowed.
func mountSmall(t *testing.T, dir, size string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("belay-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// F02: the disk that the session is on fills up during a run: nothing happens
// whose start cannot be recorded, the model hears why, and all that is recorded
// stays readable.
func TestBug_F02_DiskFull(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	mountSmall(t, filepath.Join(p.home, ".local"), "4m")
	model := p.play(t,
		`call: Bash {"command": "head -c 8000000 /dev/zero | tr '\\0' x > ../home/.local/ballast"}`,
		`call: Bash {"command": "touch ran"}`,
		"say: done", "say: going on")
	e := p.run(t, "run", "--mode", "full", "-m", model, "fill it")
	if e.code != 0 || !strings.Contains(e.err, "Bash touch ran: io (the command was not started: ") || strings.Contains(e.err, "panic") {
		t.Errorf("exit status %d, stdout %q, stderr:\n%s", e.code, e.out, e.err)
	}
	if p.exists("ran") {
		t.Error("a call ran that could not be recorded")
	}
	all := p.events(t)
	if len(bodies[event.Asked](all)) != 1 {
		t.Errorf("%d events are left", len(all))
	}
	if err := os.Remove(filepath.Join(p.home, ".local/ballast")); err != nil {
		t.Fatal(err)
	}
	e = p.run(t, "resume", "--mode", "full", "go on")
	e.wants(t, 0)
	outcomes(t, p.events(t))
}

// F02: the disk is full from the start: nothing is kept, and the run works.
func TestBug_F02_DiskFullFromTheStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	mountSmall(t, filepath.Join(p.home, ".local"), "64k")
	ballast := filepath.Join(p.home, ".local/ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o644); err == nil {
		t.Fatal("the small disk is not small")
	}
	e := p.run(t, "run", "--mode", "auto", "-m", p.play(t, writes, "say: done"), "write")
	e.wants(t, 0)
	if strings.Count(e.err, "nothing of this session is kept") != 1 || !p.exists("new.txt") {
		t.Errorf("stderr: %s", e.err)
	}
}
