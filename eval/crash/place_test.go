package crash

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// bound is the longest that one process may take.
const bound = 60 * time.Second

// A place is a workspace and a home of its own. That home is in the environment
// of all that Belay starts there, so it is also what to find survivors by.
type place struct {
	top, dir, home, binary string
	person                 func(*exec.Cmd) (gone func(), err error) // answers Belay's questions
}

// template makes the workspace of the reference session, a git repository, to be
// copied for each run.
func template(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	archive, err := txtar.ParseFile("testdata/workspace.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		file := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "user.name", "t"}, {"config", "user.email", "t@example.com"},
		{"add", "-A"}, {"commit", "-q", "-m", "first"},
	} {
		c := exec.Command("git", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git/hooks")); err != nil { // only samples
		t.Fatal(err)
	}
	return dir
}

// newPlace copies from, if it is not "", to a new workspace below top.
func newPlace(top, from, binary string) (*place, error) {
	top, err := os.MkdirTemp(top, "run-")
	if err != nil {
		return nil, err
	}
	p := &place{top: top, dir: filepath.Join(top, "w"), home: filepath.Join(top, "home"), binary: binary}
	for _, dir := range []string{p.dir, p.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if from != "" {
		err = os.CopyFS(p.dir, os.DirFS(from))
	}
	return p, err
}

func (p *place) remove() { _ = os.RemoveAll(p.top) }

// An end is how a process ended.
type end struct {
	out, err string
	code     int // -1 where a signal ended it
}

func (e end) String() string {
	return fmt.Sprintf("exit status %d\nstdout:\n%s\nstderr:\n%s", e.code, e.out, e.err)
}

// command returns Belay with args, ready to start; before goes in front of it.
func (p *place) command(ctx context.Context, before []string, args ...string) *exec.Cmd {
	line := append(append(append([]string{}, before...), p.binary), args...)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.WaitDelay = time.Second
	c.Dir = p.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "OLLAMA_HOST=127.0.0.1:1"}
	return c
}

// run runs Belay with more in its environment. An error is that it was not run.
func (p *place) run(env, before []string, args ...string) (end, error) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	c := p.command(ctx, before, args...)
	c.Env = append(c.Env, env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if p.person != nil {
		gone, err := p.person(c)
		if err != nil {
			return end{}, err
		}
		defer gone()
	}
	err := c.Run()
	if c.ProcessState == nil || ctx.Err() != nil {
		return end{}, cmp.Or(ctx.Err(), err)
	}
	return end{out.String(), errs.String(), c.ProcessState.ExitCode()}, nil
}

// files returns what the workspace holds, but for what git keeps.
func (p *place) files() (map[string]string, error) {
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(p.dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		b, err := os.ReadFile(filepath.Join(p.dir, name))
		all[name] = string(b)
		return err
	})
	return all, err
}

// survivors returns the processes whose environment has the home of p, and
// nothing where there is no /proc to look in.
func (p *place) survivors() []string {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, name := range names {
		env, err := os.ReadFile(name) // one that is gone or not ours has none
		if err == nil && strings.Contains("\x00"+string(env), "\x00HOME="+p.home+"\x00") {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			found = append(found, filepath.Base(filepath.Dir(name))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
