package workspace

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openDir opens the directory at a resolved path in one step: the kernel keeps
// the path beneath the root, off every link and on the root's mount. Where it
// cannot, or the path is no such thing, os.Root goes along it and finds out why.
func (w *Workspace) openDir(at string) (*os.File, error) {
	fd, err := unix.Openat2(int(w.base.Fd()), at, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
	})
	if err != nil {
		return w.openDirSteps(at)
	}
	return os.NewFile(uintptr(fd), filepath.Join(w.dir, at)), nil
}
