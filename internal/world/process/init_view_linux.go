package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// A view is how a command sees the files of the system: all of it read-only, but
// for what is named. Mounts are made in a namespace of its own.
type view struct {
	Open []string // directories and files that may be written
	Pin  []string // in those, directories that stay where they are; outer ones first
	Shut []string // in those, what is read-only again
	Hide []string // what cannot be seen at all; what is not there is passed over
	Keep []string // what stays of /run, and may be missing
	Show []string // what stays of /tmp, to be read
	Over []layer  // directories that seem to be writable
	User bool     // in a namespace of users
	Tmp  string   // the directory that is /tmp, with the one that is /var/tmp beside it
}

// varTmp is what /var/tmp is, for a directory that is /tmp.
func varTmp(tmp string) string { return tmp + "-var" }

// devices are what a command sees of /dev, beside its own terminals and memory.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// staged is where, below /dev, what hides others is made.
const staged = "/dev/.hidden"

// A piece is a part of the old view that is to be in the new one.
type piece struct {
	tree int // descriptor of a mount that is nowhere
	at   string
}

// mount makes the view. Everything that stays is taken out of the old view
// first, since what was shut once is not opened again.
func (v *view) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("the root as private: %w", err)
	}
	dev, err := take("/dev", devices, 0)
	if err != nil {
		return err
	}
	run, err := take("/", v.Keep, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return err
	}
	show, err := take("/", v.Show, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return err
	}
	open, err := take("/", v.Open, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return err
	}
	tmp, err := takeTmp(v.Tmp)
	if err != nil {
		return err
	}
	over := v.overlays()
	shut := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &shut); err != nil {
		return fmt.Errorf("all read-only: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := mountDev(dev); err != nil {
		return err
	}
	if err := mountRun(run); err != nil {
		return err
	}
	if err := place(slices.Concat(tmp, show, over, open)); err != nil {
		return err
	}
	if err := v.narrow(); err != nil {
		return err
	}
	return unix.Mount("", "/dev", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NOEXEC, "")
}

// take copies the mounts at paths, relative to dir, with flags set.
func take(dir string, paths []string, flags uint64) (taken []piece, err error) {
	for _, path := range paths {
		path = filepath.Join(dir, path)
		tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("a copy of %s: %w", path, err)
		}
		if flags != 0 {
			attr := unix.MountAttr{Attr_set: flags}
			if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
				return nil, fmt.Errorf("what %s allows: %w", path, err)
			}
		}
		taken = append(taken, piece{tree, path})
	}
	return taken, nil
}

func takeTmp(tmp string) (taken []piece, err error) {
	for at, from := range map[string]string{"/tmp": tmp, "/var/tmp": varTmp(tmp)} {
		p, err := take("/", []string{from}, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(at); err != nil || len(p) == 0 {
			continue
		}
		taken = append(taken, piece{p[0].tree, at})
	}
	return taken, nil
}

// place puts pieces where they were, or where they are to be. What they cover is
// made where the new /tmp or /run has it no more.
func place(pieces []piece) error {
	for _, p := range pieces {
		err := put(p)
		if errors.Is(err, unix.ENOENT) {
			if err = makePoint(p); err == nil {
				err = put(p)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.at, err)
		}
		_ = unix.Close(p.tree)
	}
	return nil
}

func put(p piece) error {
	return unix.MoveMount(p.tree, "", unix.AT_FDCWD, p.at, unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_SYMLINKS)
}

// makePoint makes what p can be mounted on.
func makePoint(p piece) error {
	var s unix.Stat_t
	if err := unix.Fstat(p.tree, &s); err != nil {
		return err
	}
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(p.at, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(p.at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p.at, nil, 0o600)
}

// mountDev makes a /dev without the devices of the system.
func mountDev(dev []piece) error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=64k,mode=755"); err != nil {
		return fmt.Errorf("/dev: %w", err)
	}
	if err := place(dev); err != nil {
		return err
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/dev/shm", "/dev/pts", staged, staged + "/dir"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(staged+"/file", nil, 0); err != nil {
		return err
	}
	if err := os.Chmod(staged+"/dir", 0); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1g,mode=1777"); err != nil {
		return fmt.Errorf("/dev/shm: %w", err)
	}
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("/dev/pts: %w", err)
	}
	return nil
}

// mountRun takes everything out of /run: sockets of services, keys.
func mountRun(keep []piece) error {
	if _, err := os.Stat("/run"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=755"); err != nil {
		return fmt.Errorf("/run: %w", err)
	}
	if err := place(keep); err != nil {
		return err
	}
	return unix.Mount("", "/run", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}

// narrow takes back, in what was opened, what is not for the command.
func (v *view) narrow() error {
	for _, path := range v.Pin { // where something is mounted cannot be renamed
		pin, err := take("/", []string{path}, 0)
		if err == nil {
			err = place(pin)
		}
		if err != nil {
			return err
		}
	}
	for _, path := range v.Shut {
		shut, err := take("/", []string{path}, unix.MOUNT_ATTR_RDONLY)
		if err == nil {
			err = place(shut)
		}
		if err != nil {
			return err
		}
	}
	return v.hide()
}

// hide covers what is not to be seen with something that cannot be read.
func (v *view) hide() error {
	var done []string
	for _, path := range v.Hide {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || slices.Contains(done, real) {
			continue // what is not there, or cannot be reached, shows nothing
		}
		info, err := os.Stat(real)
		if err != nil {
			continue
		}
		cover := staged + "/file"
		if info.IsDir() {
			cover = staged + "/dir"
		}
		pieces, err := take("/", []string{cover}, unix.MOUNT_ATTR_RDONLY) // so that nobody can open it up
		if err == nil {
			pieces[0].at = real
			err = place(pieces)
		}
		if err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
		done = append(done, real)
	}
	return nil
}

// raiseLo brings up the loopback device of a new network namespace.
func raiseLo() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}
