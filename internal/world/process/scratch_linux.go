package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// scratch returns a file in memory that has no path, and is gone once nobody has
// it open.
func scratch(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
