package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}

// controls has the program's input be the terminal of its session.
func controls(a *syscall.SysProcAttr) { a.Setctty, a.Ctty = true, 0 }

// signal sends sig to the groups of t, and returns how many are left. What has
// left its group is not found here.
func (t *tree) signal(sig syscall.Signal) (groups int) {
	for _, pid := range t.leaders {
		if syscall.Kill(-pid, sig) == nil {
			groups++
		}
	}
	return groups
}

func (t *tree) count() int { return t.signal(0) }

// pids are not told here, so that nobody is reminded.
func (t *tree) pids() []int { return nil }

// kill kills all of t, and returns how many there were to kill.
func (t *tree) kill() int { return t.signal(syscall.SIGKILL) }

// exact reports whether count is sure of what it says.
func (t *tree) exact() bool { return false }

// holders are not told here.
func (t *tree) holders(source) []string { return nil }

// startOf returns when pid started, in microseconds, or 0 where it is gone.
func startOf(pid int) uint64 {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	began := info.Proc.P_starttime
	return uint64(began.Sec)*1e6 + uint64(began.Usec)
}

// boot names this run of the system.
func boot() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
