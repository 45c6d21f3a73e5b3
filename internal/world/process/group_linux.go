package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groupPrefix begins the names of the cgroups that Hosts make.
const groupPrefix = "belay-"

// Groups are the cgroups (v2) of a Host: one below another for each run. What is
// started in one cannot leave it, so its end is the end of everything. All
// methods of nil groups do nothing.
type groups struct {
	dir   string
	guard sync.Once
	life  *lifeline
}

// newGroups makes the cgroup of a Host below our own. It fails where there is
// none, or we may not.
func newGroups(id string) (*groups, error) {
	own, err := ownGroup()
	if err != nil {
		return nil, err
	}
	sweepGroups(own)
	name := fmt.Sprintf("%s%d-%d-%s", groupPrefix, os.Getpid(), startOf(os.Getpid()), id)
	g := &groups{dir: filepath.Join(own, name)}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(g.dir, "cgroup.kill")); err != nil { // before Linux 5.14
		return nil, errors.Join(err, os.Remove(g.dir))
	}
	return g, nil
}

// sweepGroups removes what Hosts that are gone have made and nothing lives in.
func sweepGroups(own string) {
	names, _ := filepath.Glob(filepath.Join(own, groupPrefix+"*-*-*"))
	for _, dir := range names {
		fields := strings.Split(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		pid, err := strconv.Atoi(fields[0])
		if start, e := strconv.ParseUint(fields[1], 10, 64); err == nil && e == nil && startOf(pid) != start {
			removeGroup(dir)
		}
	}
}

// ownGroup returns the directory of the cgroup that we are in.
func ownGroup() (string, error) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	path := ""
	for line := range strings.Lines(string(b)) {
		if in, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path = in
		}
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		root, at := fields[3], fields[4]
		if rest, ok := strings.CutPrefix(path+"/", strings.TrimSuffix(root, "/")+"/"); ok && path != "" {
			return filepath.Join(at, rest), nil
		}
	}
	return "", fs.ErrNotExist
}

// add makes a cgroup for one run, nil if that cannot be.
func (g *groups) add(name string) *group {
	if g == nil {
		return nil
	}
	dir := filepath.Join(g.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		_ = os.Remove(dir)
		return nil
	}
	return &group{dir: dir, file: f}
}

// guarded returns once what runs in g will not outlive us.
func (g *groups) guarded() {
	if g != nil {
		g.guard.Do(func() { g.life = newLifeline(g.dir) })
	}
}

// path is what a record names, for those who come after us.
func (g *groups) path() string {
	if g == nil {
		return ""
	}
	return g.dir
}

// end kills what is left in g and removes it. It reports whether that worked.
func (g *groups) end() bool {
	if g == nil {
		return true
	}
	gone := killGroup(g.dir)
	g.life.cut()
	return gone
}

// killGroup ends all of the cgroup dir, and it.
func killGroup(dir string) (gone bool) {
	all := group{dir: dir}
	deadline := time.Now().Add(killing)
	for look := firstLook / 5; all.populated() && time.Now().Before(deadline); look = min(2*look, lastLook) {
		all.kill()
		time.Sleep(look)
	}
	if all.populated() {
		return false
	}
	removeGroup(dir)
	return true
}

// removeGroup removes an empty cgroup and those in it.
func removeGroup(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			removeGroup(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.Remove(dir)
}

// fenceGroup ends what an earlier life left in the cgroup that it recorded. What
// no Host can have made is left alone.
func fenceGroup(dir string) (gone bool) {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir || !strings.HasPrefix(filepath.Base(dir), groupPrefix) {
		return true
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		return true
	}
	return killGroup(dir)
}

// A group is the cgroup of one run. All methods of a nil group do nothing.
type group struct {
	dir  string
	file *os.File
}

// join has what is started with a be in g from its first moment.
func (g *group) join(a *syscall.SysProcAttr) {
	if g != nil {
		a.UseCgroupFD, a.CgroupFD = true, int(g.file.Fd())
	}
}

// pids lists what is in g, but not in groups that those have made.
func (g *group) pids() []int {
	b, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for field := range bytes.FieldsSeq(b) {
		if pid, err := strconv.Atoi(string(field)); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// populated reports whether anything in g, or in a group in it, is alive.
func (g *group) populated() bool {
	b, err := os.ReadFile(filepath.Join(g.dir, "cgroup.events"))
	return err == nil && bytes.Contains(b, []byte("populated 1"))
}

func (g *group) kill() { _ = os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0) }

// release removes g unless something lives in it.
func (g *group) release() {
	if g == nil {
		return
	}
	_ = g.file.Close()
	if !g.populated() {
		removeGroup(g.dir)
	}
}

// refusal reports whether err, of a start, may be due to the cgroup.
func refusal(err error) bool {
	for _, e := range []error{unix.EACCES, unix.EPERM, unix.EBUSY, unix.EOPNOTSUPP, unix.ENOSYS, unix.EINVAL, unix.EBADF, unix.ENODEV, unix.ENOENT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// A lifeline is a small program that kills a cgroup once we are gone, however we
// end: it waits for the end of a pipe that only we hold.
type lifeline struct {
	cmd  *exec.Cmd
	held *os.File
}

const lifelineText = `read -r x
[ -d "$1" ] || exit 0
n=0
until echo 1 >"$1/cgroup.kill" && rmdir "$1"/*/ "$1" || [ $n -gt 100 ] || ! [ -d "$1" ]; do n=$((n+1)); sleep 0.05; done 2>/dev/null`

// newLifeline returns a lifeline for the cgroup dir, nil where there is no shell
// for it: then the next Host that is opened on our records ends what we left.
func newLifeline(dir string) *lifeline {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", lifelineText, "belay-lifeline", dir},
		Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Stdin: r,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if kin.start(cmd, false) != nil {
		_ = w.Close()
		return nil
	}
	return &lifeline{cmd, w}
}

// cut ends l, and what it guards if that is still there.
func (l *lifeline) cut() {
	if l == nil {
		return
	}
	_ = l.held.Close()
	_ = l.cmd.Wait()
	kin.waited(l.cmd.Process)
}
