package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard drops what was typed on terminal f and not read yet.
func discard(f *os.File) {
	unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // what cannot be dropped is read
}
