package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// limit sets how many files may be open, of which Go itself needs five: it does
// not start without.
func limit(files string) {
	if n, err := strconv.ParseUint(files, 10, 32); err == nil {
		must(os.Open(os.DevNull)).Close()
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			panic(err)
		}
	}
}

func TestPromise_P04_NoFilesLeftToOpen(t *testing.T) {
	for files := 5; files <= 13; files++ {
		dir := filepath.Join(t.TempDir(), "s")
		said := runSession(t, dir, []string{fmt.Sprint("JOURNAL_TEST_FILES=", files)})
		if files < 7 && !strings.Contains(said, "too many open files") {
			t.Errorf("with %d files: %s", files, said)
		}
		goesOn(t, dir)
	}
}

// A fault is one that strace makes a system call return.
type fault struct{ call, err string }

// straced lets each of the calls fail in turn: the first time it is made, the
// second, and so on, in steps, until it is not made so often.
func straced(t *testing.T, step int, faults ...fault) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("skipped (P04, P05: no strace)")
	}
	if out, err := exec.Command("strace", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("skipped (P04, P05: strace may not trace: %s)", out)
	}
	for _, f := range faults {
		t.Run(f.call+" "+f.err, func(t *testing.T) {
			hits := 0
			for k := 1; k < 1000; k += step {
				parent := t.TempDir()
				dir, trace := filepath.Join(parent, "s"), filepath.Join(parent, "trace")
				said := runSession(t, dir, []string{"JOURNAL_TEST_RESCUE=" + parent},
					"strace", "-f", "-qq", "-o", trace, "-e", "trace="+f.call,
					"-e", fmt.Sprintf("inject=%s:error=%s:when=%d", f.call, f.err, k))
				if !bytes.Contains(must(os.ReadFile(trace)), []byte("INJECTED")) {
					break
				}
				hits++
				if f.call == "fdatasync" && f.err != "EINTR" && !strings.Contains(said, "failed:") {
					t.Errorf("at %d nothing failed: %s", k, said)
				}
				if strings.Contains(said, "failed: append") && !strings.Contains(said, "belay-rescue-") {
					t.Errorf("at %d nothing was rescued: %s", k, said)
				}
				goesOn(t, dir)
			}
			if hits == 0 {
				t.Error("it was never made")
			}
		})
	}
}

func TestPromise_P05_NothingIsAcknowledgedAfterAFailedSync(t *testing.T) {
	straced(t, 1, fault{"fdatasync", "EIO"}, fault{"fsync", "EIO"})
}

func TestPromise_P04_NothingIsTornByAFailedWrite(t *testing.T) {
	straced(t, 3, fault{"pwrite64", "EIO"}, fault{"pwrite64", "ENOSPC"}, fault{"fallocate", "ENOSPC"},
		fault{"ftruncate", "EIO"}, fault{"flock", "ENOLCK"})
}

func TestFileSystemWithoutLocks(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("skipped (P06: no strace)")
	}
	dir := filepath.Join(t.TempDir(), "s")
	said := runSession(t, dir, nil, "strace", "-f", "-qq", "-o", os.DevNull, "-e", "inject=flock:error=EOPNOTSUPP")
	if !strings.HasPrefix(said, "no lock: open: ") || !strings.Contains(said, "cannot lock files") {
		t.Error(said)
	}
}

// mounted returns a directory on a disk of its own, of that many KiB.
func mounted(t *testing.T, kib int) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=700", kib))
	if err != nil {
		t.Skipf("skipped (P04: no right to mount: %v)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestPromise_P04_FullDisksOfAnySize(t *testing.T) {
	t.Parallel()
	for kib := 4; kib <= 4096; kib = kib*4/3 + 4 {
		dir := filepath.Join(mounted(t, kib), "s")
		said := runSession(t, dir, nil)
		for line := range strings.Lines(said) {
			what, _, _ := strings.Cut(line, ":")
			if strings.HasPrefix(line, "ack ") || what == "full" {
				continue
			}
			if !strings.Contains(line, "no space left on device") {
				t.Errorf("on %d KiB: %s", kib, line)
			}
		}
		if kib > 3500 && strings.Count(said, "ack") != 13 {
			t.Errorf("on %d KiB: %s", kib, said)
		}
	}
}

// When the disk is full nothing begins any more, but what has begun is recorded;
// and once there is room again the session goes on.
func TestPromise_P04_ResultsFindRoomOnAFullDisk(t *testing.T) {
	disk := mounted(t, 8<<10)
	dir := filepath.Join(disk, "s")
	j := must(Open(dir, nil))
	must(j.Append(event.Asked{Text: "fill it"}, event.Started{Call: "c1"}, event.Started{Call: "c2"}))
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	var full *Full
	var err error
	begun := 0
	for ; err == nil; begun++ { // what was set aside in front of the ballast
		_, err = j.Append(event.Asked{Text: strings.Repeat("x", 10_000)})
	}
	if !errors.As(err, &full) || full.Dir != dir || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for call := range 9 { // 900 KB
		e, err := j.Append(event.Finished{Call: fmt.Sprint("c", call), Result: tool.Result{Text: strings.Repeat("y", 100_000)}})
		if err != nil || len(e) == 0 {
			t.Fatal(call, err)
		}
	}
	if _, err := j.Append(event.Planned{}); !errors.As(err, &full) {
		t.Fatal("something began:", err)
	}
	must(j.Append(event.Stopped{Reason: "error"}))
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	must(j.Append(event.Asked{Text: "there is room again"}, event.Started{Call: "c3"}))
	want := theirs(all(t, j.Since(0)))
	if n := 3 + begun - 1 + 9 + 1 + 2; len(want) != n {
		t.Errorf("%d events, want %d", len(want), n)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	goesOn(t, dir)
}

func TestPromise_P04_ReadOnlyDisk(t *testing.T) {
	disk := mounted(t, 8<<10)
	dir := filepath.Join(disk, "s")
	j := must(Open(dir, nil))
	must(j.Append(few()...))
	j.Close()
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, filepath.Join(disk, "new")} {
		if _, err := Open(at, nil); !errors.Is(err, syscall.EROFS) {
			t.Errorf("open %s: %v", at, err)
		}
	}
	if n := len(all(t, Read(dir))); n != len(few())+2 {
		t.Errorf("%d events", n)
	}
	if report, err := Verify(dir); err != nil || !report.Sound() || !report.Closed {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := Repair(dir); !errors.Is(err, syscall.EROFS) {
		t.Error(err)
	}
}

// A disk that meets an error becomes read-only at once, with files open.
func TestPromise_P04_ADiskBecomesReadOnly(t *testing.T) {
	parent := t.TempDir()
	image, disk := filepath.Join(parent, "image"), filepath.Join(parent, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"truncate", "-s", "16M", image}, {"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, disk},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("skipped (P04: %s: %v: %s)", args[0], err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", disk).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	dir := filepath.Join(disk, "s")
	j := must(Options{Rescue: parent}.Open(dir))
	want := must(j.Append(few()...))
	if out, err := exec.Command("mount", "-o", "remount,abort", disk).CombinedOutput(); err != nil {
		t.Skipf("skipped (P04: %v: %s)", err, out)
	}
	var failed *Failed
	var err error
	for range 100 {
		if _, err = j.Append(event.Finished{Call: "c9"}); err != nil {
			break
		}
	}
	if !errors.As(err, &failed) || failed.Rescue == "" {
		t.Fatal(err)
	}
	if text := must(os.ReadFile(failed.Rescue)); !bytes.Contains(text, []byte(`"call":"c9"`)) {
		t.Errorf("rescued: %s", text)
	}
	j.Close()
	if got := all(t, Read(dir)); len(got) < len(want) {
		t.Errorf("%d events of %d", len(got), len(want))
	}
}
