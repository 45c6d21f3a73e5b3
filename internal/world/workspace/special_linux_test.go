package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/belay-agent/belay/internal/contract/edit"
)

func fifo(t *testing.T, full string) {
	t.Helper()
	if err := unix.Mkfifo(full, 0o644); err != nil {
		t.Fatal(err)
	}
}

// device makes one that yields zeros for ever.
func device(t *testing.T, full string) {
	t.Helper()
	if err := unix.Mknod(full, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil {
		t.Skipf("make a device: %v", err)
	}
}

// bind mounts a directory in another place, as only root may.
func bind(t *testing.T, from, to string) {
	t.Helper()
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(to, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func TestR089_Bug_R02_ReadRefuses(t *testing.T) {
	w := tree(t, map[string]string{
		"d/": "", "nul": "text\x00more", "utf16": "\xff\xfea\x00\x00\x00", "noise": "\xff\x01\x02\x80\x03", "f": "x",
	})
	fifo(t, filepath.Join(w.Root(), "fifo"))
	if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		t.Fatal(err)
	} else {
		t.Cleanup(func() { _ = unix.Close(fd) })
		t.Chdir(w.Root()) // socket names are short
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "socket"}); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(filepath.Join(w.Root(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.Truncate(MaxFile+1), large.Close()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"d": ErrIsDirectory, ".": ErrIsDirectory, "nul": ErrBinary, "utf16": ErrBinary, "noise": ErrBinary,
		"fifo": ErrNotRegular, "socket": ErrNotRegular, "large": ErrTooLarge,
		"none": fs.ErrNotExist, "none/f": fs.ErrNotExist, "f/g": ErrNotDirectory, "": fs.ErrInvalid,
	} {
		least := time.Hour // of some, as the machine may be busy
		for range 5 {
			start := time.Now()
			if _, err := w.Read(path); !errors.Is(err, want) || err.Error() == want.Error() {
				t.Errorf("read %q: %v, want %v", path, err, want)
			}
			least = min(least, time.Since(start))
		}
		if least > 100*time.Millisecond {
			t.Errorf("read %q took %v", path, least)
		}
	}
}

// asNobody runs f as a user without rights to anything of root's.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	runtime.LockOSThread() // the kernel keeps this per thread
	defer runtime.UnlockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Skipf("become another user: %v", err)
	}
	defer func() {
		if _, err := unix.SetfsuidRetUid(0); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

func TestReadOnlyDirectory(t *testing.T) {
	w := tree(t, map[string]string{"open/f": "x\n", "shut/f": "x\n", "shut/secret": "x\n"})
	for path, mode := range map[string]fs.FileMode{"open": 0o777, "shut": 0o555, "shut/secret": 0} {
		if err := os.Chmod(filepath.Join(w.Root(), path), mode); err != nil {
			t.Fatal(err)
		}
	}
	edits := []edit.Intent{create("open/g", "g\n"), replace(t, read(t, w, "shut/f"), "x", "y")}
	asNobody(t, func() {
		if _, err := w.Read("shut/secret"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("read: %v", err)
		}
		if _, err := w.Write(edits); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("write: %v", err)
		}
	})
	if got := onDisk(t, w, "shut/f"); got != "x\n" {
		t.Errorf("shut/f holds %q", got)
	}
	if _, err := w.Stat("open/g"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open/g: %v", err)
	}
	noLeftovers(t, w)
	if err := os.Chmod(filepath.Join(w.Root(), "shut"), 0o755); err != nil { // or TempDir cannot remove it
		t.Fatal(err)
	}
}

func TestFilesGoesOnAfterAnError(t *testing.T) {
	w := tree(t, map[string]string{"a/1": "", "shut/1": "", "z": ""})
	shut := filepath.Join(w.Root(), "shut")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(shut, 0o755)
	asNobody(t, func() {
		got, errs := walked(w.Walk("."))
		if diff := cmp.Diff([]string{"a/1", "z"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(errs) != 1 || !errors.Is(errs[0], fs.ErrPermission) || !strings.Contains(errs[0].Error(), "list shut") {
			t.Errorf("errors: %v", errs)
		}
	})
}

func TestModes(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	w := tree(t, map[string]string{"run.sh": "a\n", "private": "a\n", "set": "a\n"})
	for path, mode := range map[string]fs.FileMode{"run.sh": 0o755, "private": 0o600, "set": 0o755 | fs.ModeSetgid} {
		if err := os.Chmod(filepath.Join(w.Root(), path), mode); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.Write([]edit.Intent{
		replace(t, read(t, w, "run.sh"), "a", "b"), replace(t, read(t, w, "private"), "a", "b"),
		replace(t, read(t, w, "set"), "a", "b"), create("new/file", "x"), {Path: "tool", Mode: "0777"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{
		"run.sh": 0o755, "private": 0o600, "set": 0o755 | fs.ModeSetgid, "new/file": 0o640, "new": 0o750 | fs.ModeDir, "tool": 0o777,
	} {
		if info, err := w.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode(), err, want)
		}
	}
}

func TestAttributesStay(t *testing.T) {
	w := tree(t, map[string]string{"f": "a\n"})
	full := filepath.Join(w.Root(), "f")
	if err := unix.Setxattr(full, "user.belay", []byte("kept"), 0); err != nil {
		t.Skipf("set an attribute: %v", err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(full, 12345, 23456); err != nil {
			t.Fatal(err)
		}
		const capabilities = "\x01\x00\x00\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		if err := unix.Setxattr(full, "security.capability", []byte(capabilities), 0); err != nil {
			t.Logf("set capabilities: %v", err) // not every root may
		}
	}
	before, err := w.Stat("f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]edit.Intent{replace(t, read(t, w, "f"), "a", "b")}); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 64)
	if n, err := unix.Getxattr(full, "user.belay", value); err != nil || string(value[:n]) != "kept" {
		t.Errorf("attribute: %q, %v", value, err)
	}
	if n, err := unix.Getxattr(full, "security.capability", value); err == nil {
		t.Errorf("new bytes have the capabilities of the old: %q", value[:n])
	}
	if after, err := w.Stat("f"); err != nil || !sameOwner(before, after) {
		t.Errorf("owner changed (%v)", err)
	}
}
