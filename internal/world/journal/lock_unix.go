//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// hold takes the lock on f, or reports false if another process has it. It goes
// with the process, however that ends.
func hold(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

// noFollow opens no link, and does not wait for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// private reports whether only we can write to the file.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm()&0o022 == 0 && ok && int(stat.Uid) == os.Geteuid()
}

func syncNames(dir *os.File) error { return dir.Sync() }

// removed reports whether a file has no name any more: nobody will find what is
// written to it.
func removed(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
