//go:build soak

package journal

import "testing"

func TestPromise_P04_EveryCallFailsOnce(t *testing.T) {
	var faults []fault
	for _, call := range []string{
		"pwrite64", "write", "pread64", "openat", "ftruncate", "fallocate", "renameat", "unlinkat", "mkdirat",
		"fsync", "fdatasync", "getdents64", "flock",
	} {
		for _, err := range []string{"EIO", "ENOSPC", "EDQUOT", "EROFS", "EMFILE", "EINTR"} {
			faults = append(faults, fault{call, err})
		}
	}
	straced(t, 1, faults...)
}
