//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// pasteWait is how many milliseconds the lines of a paste are apart at most.
const pasteWait = 20

// pending reports whether a line can be read from terminal f without waiting for a
// person.
func pending(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, pasteWait)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
}
