package process

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// A wall is what Landlock lets a command write: the second wall behind a view,
// and the only one without.
type wall struct {
	Dirs  []string // and all below them
	Files []string
	Alone bool // nothing else holds writes: it has to stand
}

// raise raises w around us and all that we start from now on.
func (w *wall) raise() error {
	config := landlock.V7.BestEffort()
	if w.Alone {
		config = landlock.V3 // the first that holds truncation
	}
	config.HandledAccessNet = 0 // what is not let through has no network to go to
	rules := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWFiles(deviceFiles()...).WithIoctlDev().IgnoreIfMissing(),
		landlock.RWDirs("/dev/pts", "/dev/shm").WithIoctlDev().IgnoreIfMissing(), // as root the others are disks
		landlock.RWDirs(w.Dirs...).WithRefer().IgnoreIfMissing(),
		landlock.RWFiles(w.Files...).IgnoreIfMissing(),
	}
	if err := config.Restrict(rules...); err != nil {
		return err
	}
	if w.Alone {
		return landlock.V7.BestEffort().RestrictScoped()
	}
	return nil
}

func deviceFiles() (paths []string) {
	for _, name := range devices {
		paths = append(paths, "/dev/"+name)
	}
	return append(paths, "/dev/ptmx")
}

// A lock takes powers from a command.
type lock struct {
	Inet  bool // it may talk to a network, where it sees one
	Modes bool // it may change modes, owners, times and attributes of files
}

// apply takes from this thread, and from what it starts, every capability, the
// way to get one back, and the system calls that nobody needs who only builds
// and tests software.
func (l *lock) apply() error {
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	program, err := l.filter(runtime.GOARCH)
	if err != nil {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}

func dropCapabilities() error {
	for c := uintptr(0); c < 64; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // there are no more
		}
		if err != nil && !errors.Is(err, unix.EPERM) { // without the right to, there is nothing to regain: see no_new_privs
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
