//go:build unix

package toolbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// asNobody runs the test again, as a user whom permissions hold.
func asNobody(t *testing.T) {
	const nobody = 65534
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nobody") // not below a directory of ours that nobody may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "test")
	if err := os.WriteFile(program, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as nobody: %v\n%s", err, out)
	}
}

func TestBug_G02_WhatCannotBeReadHidesNothingElse(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	d := newDesk(t, map[string]string{"a.go": "hit\n", "secret/b.go": "hit\n", "closed.go": "hit\n"})
	for link, target := range map[string]string{"broken": "missing", "d": ".", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"secret", "closed.go"} {
		if err := os.Chmod(filepath.Join(d.dir, path), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(d.dir, "secret"), 0o755) })
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"Glob", args{"pattern": "**/*.go"}, "a.go\nclosed.go\n(could not be read: secret)\n"},
		{"Glob", args{"pattern": "**/{.x,*.go}"}, "a.go\nclosed.go\n(could not be read: secret)\n"},
		{"Grep", args{"pattern": "hit"}, "a.go:1: hit\n(1 hit in 1 file)\n(could not be read: closed.go, secret)\n"},
		{"Grep", args{"pattern": "absent"}, "no line matches in 1 file searched\n(could not be read: closed.go, secret)\n"},
		{"Grep", args{"pattern": "hit", "path": "closed.go"}, "nothing was searched: there is no text file to search in closed.go\n(could not be read: closed.go)\n"},
	} {
		if r := d.call(c.tool, c.args); r.Status != tool.Partial || r.Text != c.want {
			t.Errorf("%s(%v): %s, %q; want partial, %q", c.tool, c.args, r.Status, r.Text, c.want)
		}
	}
	if f := d.fails(tool.NoPermission, "LS", args{"path": "secret"}); f.Retry {
		t.Errorf("LS of what cannot be read: %+v", f)
	}
}
