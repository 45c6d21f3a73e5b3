package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// exchange swaps two files of the folder in one step.
func (f *folder) exchange(temp, target string) error {
	err := f.rename(temp, target, unix.RENAME_EXCHANGE)
	if unsupported(err) {
		return f.exchangeSteps(temp, target)
	}
	return err
}

// place renames a file; fs.ErrExist if the new name is taken.
func (f *folder) place(from, to string) error {
	err := f.rename(from, to, unix.RENAME_NOREPLACE)
	if unsupported(err) {
		return f.placeSteps(from, to)
	}
	return err
}

func (f *folder) rename(from, to string, flags uint) error {
	fd := int(f.dir.Fd())
	for {
		if err := unix.Renameat2(fd, from, fd, to, flags); err != unix.EINTR {
			return err
		}
	}
}

// unsupported reports whether a file system cannot do what was asked.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP)
}

func syncDir(dir *os.File) error { return dir.Sync() }

// maxAttributes is how much is read of a file's extended attributes, in bytes.
const maxAttributes = 64 << 10

// keepAttributes gives file the owner, group and extended attributes of the
// file called name, as far as it may.
func keepAttributes(file *os.File, root *os.Root, name string, info fs.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		if file.Chown(int(s.Uid), int(s.Gid)) != nil {
			_ = file.Chown(-1, int(s.Gid))
		}
	}
	from, _, err := open(root, name)
	if err != nil {
		return
	}
	defer from.Close()
	names := make([]byte, maxAttributes)
	n, err := unix.Flistxattr(int(from.Fd()), names)
	if err != nil {
		return
	}
	value := make([]byte, maxAttributes)
	for _, attribute := range splitNames(names[:n]) {
		switch attribute {
		case "security.capability", "security.ima", "security.evm":
			continue // vouch for the old bytes
		}
		if size, err := unix.Fgetxattr(int(from.Fd()), attribute, value); err == nil {
			_ = unix.Fsetxattr(int(file.Fd()), attribute, value[:size], 0)
		}
	}
}

// splitNames splits a list of names that each end in a NUL.
func splitNames(b []byte) []string {
	var names []string
	for len(b) > 0 {
		s := unix.ByteSliceToString(b)
		names = append(names, s)
		b = b[min(len(s)+1, len(b)):]
	}
	return names
}

func sameOwner(a, b fs.FileInfo) bool {
	s, ok := a.Sys().(*syscall.Stat_t)
	t, also := b.Sys().(*syscall.Stat_t)
	return ok && also && s.Uid == t.Uid && s.Gid == t.Gid
}

// links returns how many names a file has.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// inode returns the number of a file on its file system.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

// descriptors returns how many files this process may have open.
func descriptors() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<20))
}
