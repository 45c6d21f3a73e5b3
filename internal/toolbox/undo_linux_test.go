package toolbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// accessList lets user 12345 write, beside the owner: entries of tag, permissions
// and id, after the version.
const accessList = "\x02\x00\x00\x00" +
	"\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\x39\x30\x00\x00" + "\x04\x00\x04\x00\xff\xff\xff\xff" +
	"\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x04\x00\xff\xff\xff\xff"

// Owner, extended attributes and access list come back with a file that a command
// or a tool removed, moved or replaced, and where only they were changed.
func TestPromise_P08_OwnersAndAttributesComeBack(t *testing.T) {
	files := map[string]string{"removed": "1\n", "replaced": "2\n", "attributed": "3\n", "given": "4\n", "deleted": "5\n", "moved": "6\n", "plain": "7\n"}
	p := newPast(t, t.TempDir(), files)
	at := func(name string) string { return filepath.Join(p.dir, name) }
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for name := range files {
		if name == "plain" {
			continue
		}
		if err := unix.Setxattr(at(name), "user.belay", []byte(name), 0); err != nil {
			t.Skipf("set an attribute: %v", err)
		}
		if err := unix.Setxattr(at(name), "system.posix_acl_access", []byte(accessList), 0); err != nil {
			t.Logf("set an access list: %v", err)
		}
		if os.Getuid() == 0 {
			do(os.Chown(at(name), 12345, 23456), os.Chmod(at(name), 0o660))
		}
	}
	zero := p.tree()
	p.command(func() {
		do(os.Remove(at("removed")))
		put(t, p.dir, "new", "2b\n")
		do(os.Rename(at("new"), at("replaced")))
		do(unix.Setxattr(at("attributed"), "user.other", []byte("x"), 0), unix.Removexattr(at("attributed"), "user.belay"))
		do(unix.Setxattr(at("plain"), "user.new", []byte("x"), 0))
		if os.Getuid() == 0 {
			do(os.Chown(at("given"), 0, 0))
		}
	})
	r := p.change(Patch(p.w), `{"patch":"*** Begin Patch\n*** Delete File: deleted\n*** Update File: moved\n*** Move to: there\n@@\n-6\n+six\n*** End Patch"}`)
	if r.Status != tool.Success {
		t.Fatal(r.Text)
	}
	one := p.tree()
	if was, is := zero["moved"], one["there"]; is != strings.Replace(was, "6\n", "six\n", 1) {
		t.Errorf("moved, %q is %q", was, is)
	}
	for range 2 {
		for _, step := range []struct {
			args string
			want map[string]string
		}{{`{}`, zero}, {`{"redo":true}`, one}} {
			if r := p.call(p.undo, step.args, nil); r.Status != tool.Success {
				t.Errorf("%s: %s", step.args, r.Text)
			}
			p.want(step.want)
		}
	}
}

// Where an owner cannot be given back, undo says so.
func TestR117_UndoSaysWhatComesBackBare(t *testing.T) {
	dir, real := folding(t, true) // on which nobody can be made the owner
	p := newPast(t, dir, map[string]string{"f": "1\n"})
	if err := os.Chown(filepath.Join(real, "f"), 12345, 23456); err != nil {
		t.Fatal(err)
	}
	p.command(func() {
		if err := os.Remove(filepath.Join(dir, "f")); err != nil {
			t.Fatal(err)
		}
	})
	r := p.call(p.undo, `{}`, nil)
	if r.Status != tool.Partial || !strings.Contains(r.Text, "\nwithout the owner, attributes or access list that it had: f") {
		t.Errorf("%s: %s", r.Status, r.Text)
	}
	if b, err := os.ReadFile(filepath.Join(real, "f")); err != nil || string(b) != "1\n" {
		t.Errorf("%q, %v", b, err)
	}
}
