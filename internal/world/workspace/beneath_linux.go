package workspace

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openDir opens the directory at a resolved path in one step: the kernel keeps
// the path beneath the root, off every link and on the root's mount. Where it
// cannot, or the path is no such thing, os.Root goes along it and finds out why.
func (w *Workspace) openDir(at string) (*os.File, error) {
	d, err := w.beneath(at, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return w.openDirSteps(at)
	}
	return d, nil
}

// openFile opens the regular file at a resolved path in the same way. What it is
// is found out first by a descriptor that does not open it.
func (w *Workspace) openFile(at string) (*os.File, fs.FileInfo, error) {
	known, err := w.beneath(at, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return w.openFileSteps(at)
	}
	info, err := known.Stat()
	_ = known.Close()
	if err != nil || !info.Mode().IsRegular() {
		return w.openFileSteps(at)
	}
	f, err := w.beneath(at, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return w.openFileSteps(at)
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return w.openFileSteps(at)
	}
	return f, info, nil
}

func (w *Workspace) beneath(at string, flags uint64) (*os.File, error) {
	fd, err := unix.Openat2(int(w.base.Fd()), at, &unix.OpenHow{
		Flags:   flags | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(w.dir, at)), nil
}
