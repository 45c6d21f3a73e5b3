//go:build !unix

package journal

import (
	"errors"
	"io/fs"
	"os"
)

// hold refuses: a session that two processes could write is none.
func hold(*os.File) (bool, error) { return false, errors.ErrUnsupported }

const noFollow = 0

func private(fs.FileInfo) bool { return true }

func syncNames(*os.File) error { return nil }

// removed is false: what is open cannot be removed there.
func removed(fs.FileInfo) bool { return false }
