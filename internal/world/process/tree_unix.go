//go:build unix

package process

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A tree is everything that a command started.
type tree struct {
	marks   []string // how an entry of its environment begins
	leaders []int    // of its sessions
	since   uint64   // nothing in it started before
	known   map[int]uint64
	group   *group       // that all of it is in, if there is one
	asked   map[int]bool // to end, by process id
	orphans *orphans     // where those that leave it end up; nil where they do not come to us
}

// newTree returns the tree of p, which has not been waited for.
func newTree(mark string, p *os.Process, g *group) (*tree, error) {
	return &tree{marks: []string{mark}, leaders: []int{p.Pid}, since: startOf(p.Pid), group: g}, nil
}

// release gives back what the system lent for t.
func (t *tree) release() {}

// ask asks all of t to end, also what is stopped.
func (t *tree) ask() {
	t.asked = make(map[int]bool)
	for _, pid := range t.pids() {
		t.asked[pid] = true
	}
	t.signal(syscall.SIGTERM)
	t.signal(syscall.SIGCONT)
}

// remind asks those that were born since t was asked. A shell that was about to
// start a program when it was asked waits for that program to end.
func (t *tree) remind() {
	for _, pid := range t.pids() {
		if !t.asked[pid] {
			t.asked[pid] = true
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// grouped reports whether the groups that the leaders of t made still have
// members.
func (t *tree) grouped() bool {
	return slices.ContainsFunc(t.leaders, func(pid int) bool { return syscall.Kill(-pid, 0) == nil })
}

// unused returns those of leaders, all waited for, whose id no later process
// has got.
func unused(leaders []int) []int {
	return slices.DeleteFunc(leaders, func(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH })
}

func status(s *os.ProcessState) (code int, signal string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok {
		return statusOf(ws)
	}
	return s.ExitCode(), ""
}

func statusOf(ws syscall.WaitStatus) (code int, signal string) {
	if ws.Signaled() {
		return -1, unix.SignalName(ws.Signal())
	}
	return ws.ExitStatus(), ""
}

// seal keeps what is open now from being inherited. What Go opens is sealed
// already; this is about what we inherited ourselves.
func seal() {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// syncDir puts the names in dir on stable storage.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// polled returns f, which it closes, as a file that the runtime waits for: reads
// of it then end at their deadline.
func polled(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
