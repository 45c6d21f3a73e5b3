package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// shortSession is a program that does a little of everything in a session, goes
// on whatever fails, and says what was acknowledged.
func shortSession(dir string) int {
	say := func(what string, err error) bool {
		if err == nil {
			return true
		}
		kind := "error"
		var failed *Failed
		var full *Full
		var locked *Locked
		var noLock *NoLock
		switch {
		case errors.As(err, &failed):
			kind = "failed"
		case errors.As(err, &full):
			kind = "full"
		case errors.As(err, &locked):
			kind = "locked"
		case errors.As(err, &noLock):
			kind = "no lock"
		}
		fmt.Printf("%s: %s: %v\n", kind, what, err)
		return false
	}
	runtime.LockOSThread() // strace counts the calls of each thread
	limit(os.Getenv("JOURNAL_TEST_FILES"))
	j, err := Options{segment: 1500, Rescue: os.Getenv("JOURNAL_TEST_RESCUE")}.Open(dir)
	if !say("open", err) {
		return 3
	}
	ok := true
	add := func(bodies ...event.Body) {
		events, err := j.Append(bodies...)
		if ok = say("append", err) && ok; err == nil {
			durable := false
			for _, b := range bodies {
				durable = durable || !b.Waits()
			}
			if durable {
				fmt.Println("ack", events[len(bodies)-1].Seq)
			}
		}
	}
	for i := range 4 {
		call := fmt.Sprint("c", i)
		add(event.Asked{Text: "do " + call})
		add(event.Ruled{Path: "AGENTS.md"}, event.Packed{})
		add(event.Planned{}, event.Decided{Call: call}, event.Started{Call: call})
		s, err := j.Spill("output")
		ok = say("spill", err) && ok
		io.WriteString(s, strings.Repeat(call, 1+i%2*50_000))
		ok = say("keep an artifact", s.Close()) && ok
		add(event.Finished{Call: call, Result: tool.Result{Text: s.Handle()}})
		ok = say("keep", j.Keep(j.last.seq, []byte("state"))) && ok
	}
	add(event.Stopped{Reason: "end"})
	if say("close", j.Close()) && ok {
		return 0
	}
	return 3
}

const racers = 50 // in each of four processes, two at a time

// race is a program in which many want one session, each once.
func race(dir string) {
	var them sync.WaitGroup
	turn := make(chan bool, 2)
	for i := range racers {
		them.Go(func() {
			turn <- true
			defer func() { <-turn }()
			var locked *Locked
			j, err := Open(dir, nil)
			for ; errors.As(err, &locked); j, err = Open(dir, nil) {
				runtime.Gosched()
			}
			if err != nil {
				fmt.Println(err)
				return
			}
			inside := dir + ".inside"
			f, err := os.OpenFile(inside, os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				fmt.Println("not alone:", err)
			}
			f.Close()
			must(j.Append(event.Asked{Text: fmt.Sprint(os.Getpid(), i)}))
			os.Remove(inside)
			if err := j.Close(); err != nil {
				fmt.Println(err)
			}
		})
	}
	them.Wait()
}

// runSession runs that program under another, if there is a wrapper, and checks
// what must hold however it went. It returns what the program said.
func runSession(t *testing.T, dir string, env []string, wrapper ...string) string {
	t.Helper()
	args := append(wrapper, must(os.Executable()))
	c := exec.CommandContext(t.Context(), args[0], args[1:]...)
	c.Env = append(append(os.Environ(), "JOURNAL_TEST_SESSION="+dir), env...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	said := string(out)
	if code := c.ProcessState.ExitCode(); err != nil && code != 3 || strings.Contains(stderr.String(), "panic:") {
		t.Fatalf("%v: exit status %d: %s%s", wrapper, code, said, stderr.String())
	}
	if _, after, found := strings.Cut(said, "failed:"); found && strings.Contains(after, "ack ") {
		t.Errorf("%v: acknowledged after a failure:\n%s", wrapper, said)
	}
	acked := int64(0)
	for line := range strings.Lines(said) {
		if n, ok := strings.CutPrefix(line, "ack "); ok {
			acked = must(strconv.ParseInt(strings.TrimSpace(n), 10, 64))
		}
	}
	seq := int64(0)
	if _, err := os.Stat(dir); err == nil {
		for e, err := range Read(dir) {
			if seq++; err != nil || e.Seq != seq {
				t.Fatalf("%v: reading event %d: %d, %v\n%s", wrapper, seq, e.Seq, err, said)
			}
		}
	}
	if seq < acked {
		t.Errorf("%v: %d events, %d acknowledged:\n%s", wrapper, seq, acked, said)
	}
	return said
}

// goesOn opens the session as if nothing had happened.
func goesOn(t *testing.T, dir string) {
	t.Helper()
	j, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	must(j.Append(event.Asked{Text: "go on"}))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := Verify(dir)
	if err != nil || !report.Sound() || report.Torn > 0 || !report.Closed {
		t.Fatalf("%+v, %v", report, err)
	}
}

func TestShortSession(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if said := runSession(t, dir, nil); strings.Contains(said, ":") || strings.Count(said, "ack") != 13 {
		t.Error(said)
	}
	if n := len(must(segments(system{}, dir))); n < 2 {
		t.Errorf("%d files", n)
	}
	goesOn(t, dir)
}
