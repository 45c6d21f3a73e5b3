package crash

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/eval/power"
	"github.com/belay-agent/belay/internal/contract/event"
)

// A lab is where a session is recorded together with all that its disk is sent.
type lab struct {
	fsys             fileSystem
	dir, base, mount string // base is the image as it was before the session
	disk             *power.Disk
	st               *stage
	from, to         int // how long the log was when the session began, and when it had ended
	told             []witness
	free             []string        // names of files that commands write
	versions         map[string]bool // digests of all that files may hold
}

// A witness is a line of --json, and how long the log was when it was seen.
type witness struct {
	line string
	at   int
}

// newLab makes an image with a file system that has the workspace.
func newLab(t *testing.T, fsys fileSystem) *lab {
	t.Helper()
	l := &lab{fsys: fsys, dir: inMemory(t), versions: make(map[string]bool)}
	l.base, l.mount = filepath.Join(l.dir, "base.img"), filepath.Join(l.dir, "mount")
	err := cmp.Or(os.Mkdir(l.mount, 0o755), os.WriteFile(l.base, nil, 0o600), os.Truncate(l.base, fsys.mib<<20))
	if err != nil {
		t.Fatal(err)
	}
	if err := do(append(slices.Clone(fsys.mkfs), l.base)...); err != nil {
		t.Fatal(err)
	}
	if err := l.mounted(l.base, func() error { return nil }); err != nil {
		t.Skipf("P03: %v", err)
	}
	return l
}

// able skips the test where a file system cannot be recorded.
func able(t *testing.T, fsys fileSystem) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("P03: recording what a disk is sent needs root")
	}
	for _, device := range []string{"/dev/fuse", "/dev/loop-control"} {
		if f, err := os.OpenFile(device, os.O_RDWR, 0); err != nil {
			t.Skipf("P03: %v", err)
		} else {
			f.Close()
		}
	}
	for _, program := range []string{fsys.mkfs[0], "losetup", "mount", "umount", "cp"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("P03: %s is not installed", program)
		}
	}
}

// alone reports whether this process has mounts of its own, as it must: those that
// others can see they may keep in use, and nothing is left of its own when it is
// killed. If not, alone runs the test in a process that has.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(builtEnv) != "" {
		return true
	}
	binary(t, plain)
	limit := 4 * time.Hour
	if end, ok := t.Deadline(); ok {
		limit = time.Until(end) - 10*time.Second
	}
	var pattern []string
	for part := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	c := exec.Command(os.Args[0], "-test.v", "-test.timeout="+limit.String(), "-test.run="+strings.Join(pattern, "/"), fmt.Sprint("-seed=", *seedFlag))
	c.Env = append(os.Environ(), builtEnv+"="+built)
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := c.CombinedOutput()
	switch {
	case c.ProcessState == nil:
		t.Skipf("P03: mounts of its own: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("%s", out)
	default:
		t.Logf("%s", out)
	}
	return false
}

// do runs a program that says nothing if all went well.
func do(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// mounted calls f while image, or the device that it is, is mounted.
func (l *lab) mounted(image string, f func() error) (err error) {
	options := l.fsys.options
	if !strings.HasPrefix(image, "/dev/") {
		options += ",loop"
	}
	if err := do("mount", "-t", l.fsys.name, "-o", options, image, l.mount); err != nil {
		return err
	}
	defer func() {
		if busy := do("umount", l.mount); busy != nil {
			err = errors.Join(err, busy, do("umount", "--lazy", l.mount))
		}
	}()
	return f()
}

// record runs the session from its beginning, with something in front of the
// program, on a disk that logs.
func (l *lab) record(t *testing.T, binary string, before []string) {
	t.Helper()
	l.st = open(t, binary, "session.play", "needs_approval", "nonzero_exit")
	l.written(t)
	err := l.mounted(l.base, func() error {
		l.st.top = l.mount
		s, err := l.st.story()
		if err != nil {
			return err
		}
		if err := os.Rename(s.top, l.place().top); err != nil { // it is to be found again
			return err
		}
		return do("git", "-C", l.place().dir, "config", "core.fsync", "all") // else git itself loses commits
	})
	if err == nil {
		err = l.logged(func() error { return l.witnessed(before) })
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s, of which %d are of the session; %d events", l.fsys.name, &l.disk.Log, l.to-l.from, len(l.told))
}

// logged calls f while a copy of the base is mounted, and what the disk is sent is
// logged.
func (l *lab) logged(f func() error) error {
	image, offered := filepath.Join(l.dir, "recorded.img"), filepath.Join(l.dir, "offered")
	err := cmp.Or(os.MkdirAll(offered, 0o700), do("cp", "--sparse=always", l.base, image))
	if err != nil {
		return err
	}
	defer os.Remove(image)
	if l.disk, err = power.Open(offered, image); err != nil {
		return err
	}
	err = l.looped(func(device string) error {
		return l.mounted(device, func() error {
			if err := do("sync", "-f", l.mount); err != nil {
				return err
			}
			l.from = l.disk.Len()
			err := f()
			l.to = l.disk.Len() // an ext4 that is unmounted writes its superblock, which may not be torn
			return err
		})
	})
	if err := errors.Join(err, l.disk.Close()); err != nil {
		return err
	}
	if l.disk.Flushes() == 0 {
		return fmt.Errorf("%s: no flush reaches the disk", l.fsys.name)
	}
	return nil
}

// again returns a lab in which the session that one cut ended is resumed on a disk
// that logs.
func (l *lab) again(c power.Cut) (*lab, error) {
	next := *l
	next.base = filepath.Join(l.dir, "again.img")
	next.versions = maps.Clone(l.versions)
	next.told = nil
	lines, err := l.acknowledged(c.After)
	for _, line := range lines {
		next.told = append(next.told, witness{line: line})
	}
	if err == nil {
		_, err = l.left(next.base, c)
	}
	if err == nil {
		err = next.logged(func() error { return next.witnessed(nil) })
	}
	return &next, err
}

// looped calls f with a loop device over the disk, which passes on each flush.
func (l *lab) looped(f func(device string) error) (err error) {
	out, err := exec.Command("losetup", "--find", "--show", "--direct-io=on",
		"--sector-size", fmt.Sprint(l.fsys.sector), l.disk.File).Output()
	if err != nil {
		return fmt.Errorf("losetup: %w", err)
	}
	device := strings.TrimSpace(string(out))
	defer func() { err = errors.Join(err, do("losetup", "--detach", device)) }()
	return f(device)
}

// place returns where the session is, whatever is mounted there.
func (l *lab) place() *place {
	top := filepath.Join(l.mount, "run")
	return &place{top: top, dir: filepath.Join(top, "w"), home: filepath.Join(top, "home"), binary: l.st.binary}
}

// Write notes what the session tells, and when.
func (l *lab) Write(text []byte) (int, error) {
	at := l.disk.Len()
	for line := range strings.Lines(string(text)) {
		if n := len(l.told); n > 0 && !strings.HasSuffix(l.told[n-1].line, "\n") {
			l.told[n-1].line += line
			l.told[n-1].at = at
			continue
		}
		l.told = append(l.told, witness{line, at})
	}
	return len(text), nil
}

// errOver reports a session with nothing to go on with.
var errOver = errors.New("the session has ended")

// witnessed runs the session, or resumes it, to its end.
func (l *lab) witnessed(before []string) error {
	s := &story{place: l.place()}
	all, err := s.events()
	if err != nil {
		return err
	}
	if done(all) {
		return errOver
	}
	args := []string{"run", "--mode", "full", "-m", "script:" + l.st.play, "--json", goal}
	if len(bodies[event.Asked](all)) > 0 {
		args = []string{"resume", "--mode", "full", "--json"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	c := l.place().command(ctx, before, args...)
	var errs bytes.Buffer
	c.Stdout, c.Stderr = l, &errs
	err = c.Run()
	if code := c.ProcessState.ExitCode(); code != 0 && code != 3 { // 3: what nobody was there to approve
		return fmt.Errorf("the session: %w: %s", err, &errs)
	}
	return l.learn()
}

var (
	digestRE  = regexp.MustCompile(`[0-9a-f]{64}`)
	writtenRE = regexp.MustCompile(`>>?([\w./-]+)`)
)

// written notes which files the commands of the session write: those are not
// Belay's to sync.
func (l *lab) written(t *testing.T) {
	t.Helper()
	play, err := os.ReadFile(l.st.play)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range writtenRE.FindAllStringSubmatch(string(play), -1) {
		l.free = append(l.free, m[1])
	}
}

// learn notes what files may hold: what they held at first, and what each change
// was to make of them.
func (l *lab) learn() error {
	for _, w := range l.told {
		e, _, err := event.Decode([]byte(strings.TrimSuffix(w.line, "\n")))
		if err != nil {
			return err
		}
		if s, ok := e.Body.(event.Started); ok {
			for _, d := range digestRE.FindAllString(string(s.Fingerprint), -1) {
				l.versions[d] = true
			}
		}
	}
	for name, want := range l.st.files {
		if !slices.Contains(l.free, name) {
			l.versions[digest(want)] = true
		}
	}
	first := place{dir: l.st.template}
	files, err := first.files()
	for _, content := range files {
		l.versions[digest(content)] = true
	}
	return err
}

func digest(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
