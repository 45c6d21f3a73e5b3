package journal

import (
	"errors"
	"os"
	"syscall"
)

// preallocate extends f by n zeros from offset at.
func preallocate(f *os.File, at, n int64) error {
	return onDescriptor(f, func(fd int) error { return syscall.Fallocate(fd, 0, at, n) })
}

// syncData puts the bytes of f on stable storage.
func syncData(f *os.File) error {
	if err := onDescriptor(f, syscall.Fdatasync); err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}

// onDescriptor calls do again for as long as a signal interrupts it.
func onDescriptor(f *os.File, do func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for {
			if failed = do(int(fd)); !errors.Is(failed, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, failed)
}
