package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/journal"
)

// bound is the longest that a run may take before a test gives up on it.
const bound = 20 * time.Second

// A place is a workspace and a home of its own, in which belay is run as a
// process. That home is in the environment of all that belay starts there, so
// it is also what to find survivors by.
type place struct {
	dir  string // the workspace
	home string
	env  []string // beside PATH and HOME
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top := t.TempDir()
	p := &place{dir: filepath.Join(top, "w"), home: filepath.Join(top, "home")}
	for _, dir := range []string{p.dir, p.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// write puts a file into the workspace, or beside it if name leads there.
func (p *place) write(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *place) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(p.dir, name))
	return err == nil
}

// command returns belay with args, ready to start. It is killed when the bound
// is over or the test ends.
func (p *place) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "belay", args...)
	c.WaitDelay = 10 * time.Second
	c.Dir = p.dir
	c.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GORACE=" + os.Getenv("GORACE"), "OLLAMA_HOST=127.0.0.1:1",
	}, p.env...)
	return c
}

// An end is how a run of belay ended.
type end struct {
	out, err string
	code     int
}

// run runs belay with nothing on its standard input.
func (p *place) run(t *testing.T, args ...string) end {
	t.Helper()
	return finish(t, p.command(t, args...))
}

// finish runs c, with what is not redirected kept.
func finish(t *testing.T, c *exec.Cmd) end {
	t.Helper()
	var out, errs bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	if c.Stderr == nil {
		c.Stderr = &errs
	}
	code := status(t, c.Run())
	return end{out.String(), errs.String(), code}
}

// status returns the exit status that err of a command means, -1 for a signal.
func status(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return ended.ExitCode()
}

// wants fails the test if a run did not end with code.
func (e end) wants(t *testing.T, code int) {
	t.Helper()
	if e.code != code {
		t.Fatalf("exit status %d, want %d\nstdout:\n%s\nstderr:\n%s", e.code, code, e.out, e.err)
	}
}

func (p *place) sessions() string { return filepath.Join(p.home, ".local/state/belay/sessions") }

// events returns what the only session here has recorded.
func (p *place) events(t *testing.T) []event.Event {
	t.Helper()
	dirs, err := os.ReadDir(p.sessions())
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%d sessions, want one: %v", len(dirs), err)
	}
	var all []event.Event
	for e, err := range journal.Read(filepath.Join(p.sessions(), dirs[0].Name())) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// bodies returns the bodies of one type.
func bodies[B event.Body](all []event.Event) []B {
	var found []B
	for _, e := range all {
		if b, ok := e.Body.(B); ok {
			found = append(found, b)
		}
	}
	return found
}

// outcomes returns the status and kind of each result, by call, and fails if a
// call has none or two.
func outcomes(t *testing.T, all []event.Event) map[string]string {
	t.Helper()
	results := make(map[string]string)
	for _, f := range bodies[event.Finished](all) {
		if _, twice := results[f.Call]; twice {
			t.Errorf("call %s has two results", f.Call)
		}
		results[f.Call] = string(f.Result.Status)
		if f.Result.Failure != nil {
			results[f.Call] += " " + string(f.Result.Failure.Kind)
		}
	}
	for _, r := range bodies[event.Replied](all) {
		for _, c := range r.Message.Calls() {
			if _, ok := results[c.ID]; !ok {
				t.Errorf("call %s (%s) has no result", c.ID, c.Tool)
			}
		}
	}
	return results
}

// lastStop returns why the newest turn ended, "" if it was cut.
func lastStop(all []event.Event) string {
	reason := ""
	for _, e := range all {
		switch b := e.Body.(type) {
		case event.Asked:
			reason = ""
		case event.Stopped:
			reason = b.Reason
		}
	}
	return reason
}

// resultOf returns the result of a call.
func resultOf(t *testing.T, all []event.Event, call string) tool.Result {
	t.Helper()
	for _, f := range bodies[event.Finished](all) {
		if f.Call == call {
			return f.Result
		}
	}
	t.Fatalf("call %s has no result", call)
	return tool.Result{}
}

// play writes a rehearsal beside the workspace and returns what --model wants.
func (p *place) play(t *testing.T, steps ...string) string {
	t.Helper()
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("-- step --\n" + s + "\n")
	}
	p.write(t, "../play.txtar", b.String())
	return "script:../play.txtar"
}
