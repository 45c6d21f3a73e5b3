//go:build !linux

package journal

import (
	"errors"
	"os"
)

// preallocate is for where the system can: elsewhere the file grows as it is
// written.
func preallocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

// syncData puts the bytes of f on stable storage.
func syncData(f *os.File) error { return f.Sync() }
