package snapshot

import (
	"io/fs"
	"syscall"
)

// identity returns the time of the last change of a file's status, and its inode.
func identity(info fs.FileInfo) (ctime int64, inode uint64) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return stat.Ctim.Nano(), stat.Ino
}
