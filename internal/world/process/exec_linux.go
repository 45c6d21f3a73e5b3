package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// A wall is what Landlock lets a command write: the second wall behind a view,
// and the only one without.
type wall struct {
	Dirs  []string // and all below them
	Files []string
	Alone bool     // nothing else holds the command: it has to stand
	Hide  []string // what, alone, it does not let be read
}

// raise raises w around this thread and all that it starts from now on.
func (w *wall) raise() error {
	config := landlock.V7.BestEffort()
	if abi, err := ll.LandlockGetABIVersion(); w.Alone && (err != nil || abi < 3) {
		return fmt.Errorf("version %d of Landlock does not hold truncation: %w", abi, errors.Join(err, errors.ErrUnsupported))
	}
	config.HandledAccessNet = 0 // what is not let through has no network to go to
	reads := []landlock.Rule{landlock.RODirs("/")}
	if w.Alone {
		dirs, files := readable("/", append(w.Hide, "/dev"))
		reads = []landlock.Rule{
			landlock.PathAccess(landlock.AccessFSSet(ll.AccessFSReadDir), "/"),
			landlock.RODirs(dirs...).IgnoreIfMissing(),
			landlock.ROFiles(files...).IgnoreIfMissing(),
		}
	}
	rules := append(reads,
		landlock.RWFiles(deviceFiles()...).WithIoctlDev().IgnoreIfMissing(),
		landlock.RWDirs("/dev/pts", "/dev/shm").WithIoctlDev().IgnoreIfMissing(), // as root the others are disks
		landlock.RWDirs(w.Dirs...).WithRefer().IgnoreIfMissing(),
		landlock.RWFiles(w.Files...).IgnoreIfMissing(),
	)
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil || fd < 0 {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	// For this thread alone, which starts the program: to do it to all of them
	// takes milliseconds.
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), uintptr(flags), 0); errno != 0 {
		return fmt.Errorf("restrict: %w", errno)
	}
	return nil
}

// readable returns what is in dir but for what is hidden, now: of the directories
// that hidden ones are in, all others.
func readable(dir string, hidden []string) (dirs, files []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(hidden, path) || e.Type()&(fs.ModeSymlink|fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
		case !e.IsDir():
			files = append(files, path)
		case names(hidden, path):
			d, f := readable(path, hidden)
			dirs, files = append(dirs, d...), append(files, f...)
		default:
			dirs = append(dirs, path)
		}
	}
	return dirs, files
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
