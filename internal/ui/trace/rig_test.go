package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/cli"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/ui/trace"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/process"
)

// TestMain is also belay: sessions that are traced are made by the real program,
// in processes of its own that a test can kill.
func TestMain(m *testing.M) {
	if code, ours := process.Main(os.Args); ours {
		syscall.Exit(code) // without the second for which the race detector waits: a sandbox has no GORACE
	}
	if os.Getenv("TRACE_TEST_IS_BELAY") != "" {
		os.Exit(cli.Main(cli.Process()))
	}
	status := m.Run()
	if browser.close != nil {
		browser.close()
	}
	os.Exit(status)
}

// A place is a workspace with a home of its own.
type place struct {
	testing.TB
	dir  string // the workspace
	base string
}

func newPlace(t testing.TB, files map[string]string) *place {
	t.Helper()
	return placeIn(t, t.TempDir(), files)
}

// placeIn is a place below base.
func placeIn(t testing.TB, base string, files map[string]string) *place {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("its sessions run sh")
	}
	p := &place{t, filepath.Join(base, "work"), base}
	for name, text := range files {
		file := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{p.dir, filepath.Join(base, "home")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// command is belay with arguments, in the workspace.
func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Dir = p.dir
	c.Env = []string{"TRACE_TEST_IS_BELAY=1", "GORACE=atexit_sleep_ms=0", "HOME=" + filepath.Join(p.base, "home"), "PATH=" + os.Getenv("PATH"), "OLLAMA_HOST=127.0.0.1:1"}
	return c
}

// belay runs it, and returns what it printed. Its status must be one of want.
func (p *place) belay(want int, args ...string) string {
	p.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := p.command(ctx, args...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	got := 0
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		got, err = ended.ExitCode(), nil
	}
	if err != nil || got != want {
		p.Fatalf("belay %v: status %d, %v\n%s", args, got, err, said.String())
	}
	return out.String()
}

// rehearse writes a script for the model and returns its name.
func (p *place) rehearse(script string) string {
	p.Helper()
	name := filepath.Join(p.base, "rehearsal.play")
	if err := os.WriteFile(name, []byte(script), 0o644); err != nil {
		p.Fatal(err)
	}
	return "script:" + name
}

// trace writes the page of the newest session.
func (p *place) trace(args ...string) (file string) {
	p.Helper()
	file = filepath.Join(p.base, "trace.html")
	p.belay(0, append([]string{"trace", "-o", file}, args...)...)
	return file
}

// demo is the trace of a real demonstration.
func demo(t testing.TB) (file string) {
	t.Helper()
	return demoIn(t, t.TempDir())
}

func demoIn(t testing.TB, base string) (file string) {
	t.Helper()
	p := placeIn(t, base, nil)
	p.dir = p.base
	p.belay(0, "demo", "--into", filepath.Join(p.base, "sample"))
	p.dir = filepath.Join(p.base, "sample")
	return p.trace()
}

// crashed is the trace of a session with calls side by side, calls that wait,
// failures, a denial, a change by someone else, a command that was running when
// Belay was killed, and what came after.
func crashed(t testing.TB) *place {
	t.Helper()
	return crashedIn(t, t.TempDir())
}

func crashedIn(t testing.TB, base string) *place {
	t.Helper()
	p := placeIn(t, base, map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "x\n"})
	model := p.rehearse(`-- step --
think: Look before anything is changed.
say: I read both files first.
call: Read {"path": "a.txt"}
call: Read {"path": "b.txt"}
-- step --
say: Now one changes twice, and a command counts.
call: Edit {"path": "a.txt", "old": "two", "new": "TWO"}
call: Edit {"path": "a.txt", "old": "one", "new": "ONE"}
call: Grep {"pattern": "O", "path": "a.txt"}
call: Bash {"command": "wc -l a.txt b.txt; cat missing"}
call: Read {"path": "b.txt"}
-- step --
think: The file is missing, so nothing more can be counted.
say: The count failed, so I try what is slow.
call: Bash {"command": "touch begun; sleep 60"}
-- step --
say: Nobody knows how that ended. I leave it, and tidy up.
call: Edit {"path": ".git/config", "old": "a", "new": "b"}
call: Bash {"command": "curl -s http://192.0.2.1/x"}
-- step --
say: Done with what could be done.
`)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	run := p.command(ctx, "run", "--mode", "auto", "-m", model, "count the lines")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := false; !begun; {
		_, err := os.Stat(filepath.Join(p.dir, "begun"))
		begun = err == nil
		if ctx.Err() != nil {
			t.Fatal("the command never began")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // killed
	p.belay(3, "resume", "-m", model, "--mode", "auto")
	return p
}

// A log is a session in memory.
type log struct {
	testing.TB
	*journal.Journal
}

func newLog(t testing.TB) log { return log{t, journal.Memory(nil)} }

func (l log) add(bodies ...event.Body) {
	l.Helper()
	if _, err := l.Append(bodies...); err != nil {
		l.Fatal(err)
	}
}

// keep makes an artifact.
func (l log) keep(text string) tool.Artifact {
	l.Helper()
	s, err := l.Spill("test")
	if err != nil {
		l.Fatal(err)
	}
	_, err = io.WriteString(s, text)
	if err := errors.Join(err, s.Close()); err != nil {
		l.Fatal(err)
	}
	return tool.Artifact{Handle: s.Handle(), Bytes: int64(len(text))}
}

func (l log) source() trace.Source {
	return trace.Source{Session: "01M8Q2NMBGQWJ0ZJHWP6Q6HKVP", Events: l.Since(0), Artifact: l.Artifact, Window: func(string) int { return 200_000 }}
}

// write writes the page of s to a file.
func write(t testing.TB, s trace.Source) (file string, report trace.Report) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "trace.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	report, err = trace.Write(f, s)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return file, report
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
