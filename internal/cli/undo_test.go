//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A yard is a directory with a home beside it, in which the program is run.
type yard struct {
	t    *testing.T
	home string
	dir  string   // to work in
	env  []string // besides HOME and PATH
}

func newYard(t *testing.T) *yard {
	t.Helper()
	root := t.TempDir()
	y := &yard{t: t, home: filepath.Join(root, "home"), dir: filepath.Join(root, "work")}
	for _, dir := range []string{y.home, y.dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return y
}

func (y *yard) write(path, text string) {
	y.t.Helper()
	at := filepath.Join(y.dir, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) read(path string) string {
	y.t.Helper()
	b, err := os.ReadFile(filepath.Join(y.dir, path))
	if err != nil {
		return "(none)"
	}
	return string(b)
}

// belay runs the program and returns its exit status and standard output.
func (y *yard) belay(args ...string) (int, string) {
	y.t.Helper()
	var out, errs bytes.Buffer
	status := Main(System{
		Args: args, Environ: append([]string{"HOME=" + y.home, "PATH=" + os.Getenv("PATH")}, y.env...),
		Dir: y.dir, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	})
	if errs.Len() > 0 {
		y.t.Logf("belay %s: %s", strings.Join(args, " "), errs.String())
	}
	return status, out.String()
}

// play has the rehearsed model make calls: "Tool {args}", a step each.
func (y *yard) play(calls ...string) {
	y.t.Helper()
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "-- step --\ncall: %s\n", c)
	}
	b.WriteString("-- step --\nsay: Done.\n")
	script := filepath.Join(y.home, "script.txtar")
	if err := os.WriteFile(script, []byte(b.String()), 0o600); err != nil {
		y.t.Fatal(err)
	}
	if status, out := y.belay("run", "--mode", "full", "--model", "script:"+script, "go"); status != exitDone {
		y.t.Fatalf("run: %d %s", status, out)
	}
}

func (y *yard) git(args ...string) string {
	y.t.Helper()
	c := exec.Command("git", append([]string{
		"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main",
	}, args...)...)
	c.Dir = y.dir
	c.Env = []string{"HOME=" + y.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := c.CombinedOutput()
	if err != nil {
		y.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestR116_UndoOnTheCommandLine(t *testing.T) {
	y := newYard(t)
	y.write("a.txt", "one\ntwo\nthree\nfour\n")
	y.write("b.txt", "b\n")
	if status, _ := y.belay("undo"); status != exitUsage {
		t.Errorf("without a session: %d", status)
	}
	y.play(`Read {"path":"a.txt"}`, `Edit {"path":"a.txt","old":"two","new":"TWO"}`, `Bash {"command":"perl -e 'unlink q(b.txt)'; mkdir d; echo x > d/x"}`)
	y.write("a.txt", "one\nTWO\nthree\nmine\n")
	check := func(a, b, x string) {
		t.Helper()
		if got := []string{y.read("a.txt"), y.read("b.txt"), y.read("d/x")}; !cmp.Equal(got, []string{a, b, x}) {
			t.Errorf("got %q, want %q", got, []string{a, b, x})
		}
	}
	status, out := y.belay("undo", "--preview")
	if status != exitDone || !strings.Contains(out, "Undo 3 files") || !strings.Contains(out, "-TWO\n+two\n") {
		t.Errorf("preview: %d %s", status, out)
	}
	check("one\nTWO\nthree\nmine\n", "(none)", "x\n")
	if status, out = y.belay("undo"); status != exitDone || out != "took back what c2, c3 changed: d/x, b.txt, a.txt\n" {
		t.Errorf("undo: %d %s", status, out)
	}
	check("one\ntwo\nthree\nmine\n", "b\n", "(none)")
	if _, err := os.Stat(filepath.Join(y.dir, "d")); err == nil {
		t.Error("the directory that was made is left")
	}
	if status, _ = y.belay("undo"); status != exitUsage {
		t.Errorf("nothing to undo: %d", status)
	}
	if status, out = y.belay("redo"); status != exitDone {
		t.Errorf("redo: %d %s", status, out)
	}
	check("one\nTWO\nthree\nmine\n", "(none)", "x\n")
	if status, out = y.belay("undo", "--call", "c3", "--json"); status != exitDone {
		t.Errorf("undo of a call: %d %s", status, out)
	}
	var e tool.Envelope
	if err := json.Unmarshal([]byte(out), &e); err != nil || e.Status != tool.Success || e.Context.Call == "" {
		t.Errorf("%v %+v", err, e)
	}
	y.write("a.txt", "one\nTWO and mine\nthree\nmine\n")
	for _, args := range [][]string{{"undo", "--file", "a.txt"}, {"undo", "--turn", "1", "--preview"}} {
		if status, _ = y.belay(args...); status != exitUnverified {
			t.Errorf("%q of lines that changed: %d", args, status)
		}
	}
	check("one\nTWO and mine\nthree\nmine\n", "b\n", "(none)")
	for _, args := range [][]string{{"undo", "--turn", "1", "--call", "c3"}, {"undo", "--turn", "9"}, {"undo", "--call", "c99"}, {"redo", "a", "b"}} {
		if status, _ = y.belay(args...); status != exitUsage {
			t.Errorf("%q: %d", args, status)
		}
	}
}

// A fork takes back what its parent did before it.
func TestR116_AForkUndoesWhatItsParentDid(t *testing.T) {
	y := newYard(t)
	y.write("a", "1\n2\n3\n")
	y.play(`Read {"path":"a"}`, `Edit {"path":"a","old":"2","new":"two"}`, `Bash {"command":"perl -e 'unlink q(a)'"}`)
	status, fork := y.belay("fork")
	if status != exitDone {
		t.Fatalf("fork: %d", status)
	}
	if status, out := y.belay("undo", strings.TrimSpace(fork)); status != exitDone || y.read("a") != "1\n2\n3\n" {
		t.Errorf("undo: %d %s; %q", status, out, y.read("a"))
	}
}

// TestR117_UndoLeavesTheUsersGitAlone: index, refs, stash and objects are as they
// were, and what was dirty before is dirty as before.
func TestR117_UndoLeavesTheUsersGitAlone(t *testing.T) {
	y := newYard(t)
	y.git("init", "-q")
	y.write("a", "a\n")
	y.write("b", "b\n")
	y.git("add", ".")
	y.git("commit", "-qm", "one")
	y.write("b", "stashed\n")
	y.git("stash", "-q")
	y.write("a", "staged\n")
	y.git("add", "a")
	y.write("a", "dirty\n")
	y.write("untracked", "u\n")
	y.write(".git/index.lock", "") // the user's, old or not
	before := y.snapshot(".git")
	y.play(`Read {"path":"a"}`, `Edit {"path":"a","old":"dirty","new":"agent"}`, `Bash {"command":"perl -e 'unlink q(b), q(untracked)'; echo more >> a"}`)
	if status, out := y.belay("undo"); status != exitDone {
		t.Fatalf("undo: %d %s", status, out)
	}
	if got := []string{y.read("a"), y.read("b"), y.read("untracked")}; !cmp.Equal(got, []string{"dirty\n", "b\n", "u\n"}) {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff(before, y.snapshot(".git")); diff != "" {
		t.Errorf("the repository changed: %s", diff)
	}
}

// snapshot returns what is below dir: bytes, and when they changed.
func (y *yard) snapshot(dir string) map[string]string {
	y.t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(filepath.Join(y.dir, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b := []byte(nil)
		if info.Mode().IsRegular() {
			b, err = os.ReadFile(path)
		}
		out[path] = fmt.Sprint(info.Mode(), info.ModTime(), string(b))
		return err
	})
	if err != nil {
		y.t.Fatal(err)
	}
	return out
}

// TestBug_V02_AnOldLockKeepsNothingFromUndo: the user's own is left where it is
// (see above); of a store of ours nothing is in the way.
func TestBug_V02_AnOldLockKeepsNothingFromUndo(t *testing.T) {
	y := newYard(t)
	y.git("init", "-q")
	y.write("a", "a\n")
	y.write(".git/index.lock", "old")
	y.play(`Bash {"command":"echo b > a"}`)
	sessions, err := filepath.Glob(filepath.Join(y.home, ".local/state/belay/sessions/*/undo"))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%v, %v", sessions, err)
	}
	for _, left := range []string{"writing-1", ".half-1", "tree.lock", "index.lock", "pending-c9", "tree", "tree.pack"} {
		if err := os.WriteFile(filepath.Join(sessions[0], left), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, out := y.belay("undo"); status != exitDone || y.read("a") != "a\n" {
		t.Errorf("undo: %d %s; %q", status, out, y.read("a"))
	}
	if y.read(".git/index.lock") != "old" {
		t.Error("the user's lock is gone")
	}
}

// TestBug_V03_UndoWorksInOddRepositories: wherever .git is and whatever git's
// variables say, and nothing is written in any of it.
func TestBug_V03_UndoWorksInOddRepositories(t *testing.T) {
	commit := func(y *yard) {
		y.git("init", "-q")
		y.write("f", "1\n2\n3\n")
		y.git("add", ".")
		y.git("commit", "-qm", "one")
	}
	tests := map[string]func(y *yard){
		"no repository": func(*yard) {},
		"fresh":         func(y *yard) { y.git("init", "-q") },
		"detached":      func(y *yard) { commit(y); y.git("checkout", "-q", "--detach") },
		"linked worktree": func(y *yard) {
			commit(y)
			y.git("worktree", "add", "-q", "../linked")
			y.dir = filepath.Join(filepath.Dir(y.dir), "linked")
		},
		"submodule": func(y *yard) {
			commit(y)
			from := y.dir
			y.dir = filepath.Join(filepath.Dir(y.dir), "super")
			if err := os.Mkdir(y.dir, 0o755); err != nil {
				y.t.Fatal(err)
			}
			y.git("init", "-q")
			y.git("submodule", "add", "-q", from, "sub")
			y.dir = filepath.Join(y.dir, "sub")
		},
		"subfolder": func(y *yard) { commit(y); y.write("sub/f", ""); y.dir = filepath.Join(y.dir, "sub") },
		"bare":      func(y *yard) { y.git("init", "-q", "--bare") },
		"mid-rebase": func(y *yard) {
			commit(y)
			y.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "--root")
		},
		"variables of a hook": func(y *yard) {
			commit(y)
			y.env = []string{"GIT_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere/index", "GIT_WORK_TREE=/", "GIT_OBJECT_DIRECTORY=/nowhere/o"}
		},
		"a git that takes its time": func(y *yard) {
			commit(y)
			bin := filepath.Join(y.home, "bin")
			stub := "#!/bin/sh\nsleep 30\n"
			if err := os.MkdirAll(bin, 0o755); err != nil {
				y.t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(bin, "git"), []byte(stub), 0o755); err != nil {
				y.t.Fatal(err)
			}
			y.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			prepare(y)
			y.write("f", "1\n2\n3\n")
			before := y.snapshot("..")
			began := time.Now()
			y.play(`Read {"path":"f"}`, `Edit {"path":"f","old":"2","new":"two"}`, `Bash {"command":"echo 4 >> f; echo n > n"}`)
			if y.read("f") != "1\ntwo\n3\n4\n" {
				t.Fatalf("f: %q", y.read("f"))
			}
			if status, out := y.belay("undo"); status != exitDone {
				t.Fatalf("undo: %d %s", status, out)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			after := y.snapshot("..")
			outside := func(path, _ string) bool { return !strings.Contains(path, ".git") }
			maps.DeleteFunc(before, outside)
			maps.DeleteFunc(after, outside)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("in .git: %s", diff)
			}
			if y.read("f") != "1\n2\n3\n" || y.read("n") != "(none)" {
				t.Errorf("f: %q, n: %q", y.read("f"), y.read("n"))
			}
		})
	}
}
