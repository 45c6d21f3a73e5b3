//go:build unix

package toolbox

import (
	"os"
	"syscall"
)

// owned reports whether only the owner of the system can put a program into dir.
func owned(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}
