package toolbox

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// noPrograms mounts a file system in memory that no program can be run from.
func noPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOEXEC|unix.MS_NOSUID|unix.MS_NODEV, "size=64m"); err != nil {
		t.Skipf("mount without programs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Where no program can be run, all file tools, what they keep for undo, and undo
// itself work as elsewhere, and what can be executed by its mode still can be.
func TestPromise_P10_P11_R114_WithoutPrograms(t *testing.T) {
	dir := noPrograms(t)
	p := newPast(t, dir, map[string]string{"run.sh": "#!/bin/sh\necho one\n", "a.go": greeting, "gone": "x\n"})
	run := filepath.Join(dir, "run.sh")
	if err := os.Chmod(run, 0o751); err != nil {
		t.Fatal(err)
	}
	start := p.tree()
	for _, c := range []struct {
		tool tool.Tool
		args string
	}{
		{LS(p.w), `{}`},
		{Glob(p.w), `{"pattern":"*.sh"}`},
		{grep(p.w), `{"pattern":"echo"}`},
		{Read(p.w), `{"path":"run.sh"}`},
		{Edit(p.w), `{"path":"run.sh","old":"one","new":"two"}`},
		{MultiEdit(p.w), `{"path":"run.sh","edits":[{"old":"two","new":"three"}]}`},
		{Write(p.w), `{"path":"new/f","content":"f\n"}`},
		{Rename(p.w), `{"path":"a.go","symbol":"Hello","to":"Hi"}`},
		{Patch(p.w), `{"patch":"*** Begin Patch\n*** Delete File: gone\n*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-echo three\n+echo four\n*** End Patch"}`},
	} {
		if r := p.change(c.tool, c.args); r.Status != tool.Success {
			t.Fatalf("%s %s: %s", c.tool.Spec().Name, c.args, r.Text)
		}
	}
	moved := filepath.Join(dir, "bin/run.sh")
	if info, err := os.Stat(moved); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	p.command(func() {
		if err := os.WriteFile(moved, []byte("#!/bin/sh\n"), 0o751); err != nil {
			t.Fatal(err)
		}
	})
	if r := p.change(p.undo, `{}`); r.Status != tool.Success {
		t.Fatalf("undo: %s", r.Text)
	}
	p.want(start)
}
