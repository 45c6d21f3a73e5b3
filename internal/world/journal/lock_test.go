//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
)

func TestPromise_P06_OneWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	c, out := writer(t, dir)
	out.Scan()
	var locked *Locked
	j, err := Open(dir, nil)
	if !errors.As(err, &locked) {
		t.Fatal(j, err)
	}
	host := must(os.Hostname())
	if locked.PID != c.Process.Pid || locked.Host != host || time.Since(locked.Since).Abs() > time.Hour {
		t.Errorf("%+v, want process %d on %s", locked, c.Process.Pid, host)
	}
	if !strings.Contains(err.Error(), fmt.Sprint(c.Process.Pid)) {
		t.Error(err)
	}
	n := 0
	for e, err := range Read(dir) { // whoever only reads need not wait
		if err != nil {
			t.Fatal(err)
		}
		if n++; e.Seq != int64(n) {
			t.Fatalf("event %d at place %d", e.Seq, n)
		}
	}
	if n == 0 {
		t.Error("nothing to read")
	}
	c.Process.Kill()
	c.Wait()
	if j, err = Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Error("opened twice in one process:", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := must(Open(dir, nil)).Close(); err != nil {
		t.Error(err)
	}
}

func TestPromise_P06_ManyWantOneSession(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s")
	var them sync.WaitGroup
	for range 4 {
		them.Go(func() {
			c := exec.CommandContext(t.Context(), must(os.Executable()))
			c.Env = append(os.Environ(), "JOURNAL_TEST_RACE="+dir)
			if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	them.Wait()
	said := map[string]bool{}
	for _, e := range all(t, Read(dir)) {
		if asked, ok := e.Body.(event.Asked); ok {
			said[asked.Text] = true
		}
	}
	if len(said) != 4*racers {
		t.Errorf("%d of %d had it", len(said), 4*racers)
	}
	if report, err := Verify(dir); err != nil || !report.Sound() || report.Lives != 4*racers {
		t.Errorf("%+v, %v", report, err)
	}
}

// Whoever was killed is followed at once; with fivefold slack for a busy machine.
func TestPromise_P06_TakeoverAfterAKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	var took []time.Duration
	for range 9 {
		c, out := writer(t, dir)
		for range 50 {
			out.Scan()
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		var locked *Locked
		j, err := Open(dir, nil)
		for ; errors.As(err, &locked); j, err = Open(dir, nil) {
			runtime.Gosched()
		}
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(killed))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		c.Wait() // it was killed
	}
	slices.Sort(took)
	t.Log("took over after", took)
	if median := took[len(took)/2]; median > 5*50*time.Millisecond {
		t.Errorf("the median is %v", median)
	}
}

func TestPromise_P06_ASuspendedHolderKeepsTheSession(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped (P06: only Linux tells what a process does)")
	}
	dir := filepath.Join(t.TempDir(), "s")
	c, out := writer(t, dir)
	out.Scan()
	now := func() Condition {
		var locked *Locked
		j, err := Open(dir, nil)
		if !errors.As(err, &locked) || locked.PID != c.Process.Pid {
			t.Fatal(j, err)
		}
		if locked.Now == Suspended && !strings.Contains(err.Error(), fmt.Sprintf("kill -CONT %d", locked.PID)) {
			t.Error(err)
		}
		return locked.Now
	}
	becomes := func(want Condition) {
		t.Helper()
		for begun := time.Now(); now() != want; runtime.Gosched() {
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("it is %q, not %q", now(), want)
			}
		}
	}
	becomes(Running)
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	becomes(Suspended)
	if n := len(all(t, Read(dir))); n == 0 {
		t.Error("nothing to read")
	}
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	becomes(Running)
	c.Process.Kill()
	c.Wait()
	if err := must(Open(dir, nil)).Close(); err != nil {
		t.Error(err)
	}
}

// The lock file may name a process that is long gone, and its number another's.
func TestPromise_P06_AStaleLockFileLocksNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	must(Open(dir, nil)).Close()
	for _, text := range []string{"", "{", `{"pid":1,"host":"elsewhere"}`, strings.Repeat("x", 10_000),
		fmt.Sprintf(`{"pid":%d,"host":"here","boot":%q,"ticks":"1"}`, os.Getpid(), bootID())} {
		if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir, nil)
		if err != nil {
			t.Fatalf("%.50q: %v", text, err)
		}
		var locked *Locked
		if _, err := Open(dir, nil); !errors.As(err, &locked) || locked.PID != os.Getpid() {
			t.Error(err)
		}
		j.Close()
	}
	if got := condition(os.Getpid(), "1"); bootID() != "" && got != Vanished {
		t.Errorf("another process of the same number is %q", got)
	}
}

// A pipe in the place of a file is refused: nobody is at its other end.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	must(Open(dir, nil)).Close()
	name := filepath.Join(dir, segmentName(1))
	if err := errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, err := range Read(dir) {
		if err == nil {
			t.Error("read a pipe")
		}
	}
	if _, err := Verify(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("verify: %v", err)
	}
	if j, err := Open(dir, nil); err == nil {
		j.Close()
		t.Error("opened a pipe")
	}
}

// What is written to a log that was removed is nowhere.
func TestPromise_P04_ARemovedLogIsNoticed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	j := must(Open(dir, nil))
	defer j.Close()
	must(j.Append(event.Opened{Session: "s"}))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	_, err := j.Append(event.Asked{Text: "go"})
	if _, ok := errors.AsType[*Failed](err); !ok || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("append: %v", err)
	}
}
