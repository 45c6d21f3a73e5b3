package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// mount identifies the mount that an open file is on, 0 if the kernel does not say.
func mount(f *os.File) uint64 {
	var stat unix.Statx_t
	if err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &stat); err != nil || stat.Mask&unix.STATX_MNT_ID == 0 {
		return 0
	}
	return stat.Mnt_id
}
