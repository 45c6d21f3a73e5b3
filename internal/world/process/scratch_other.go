//go:build !linux

package process

import (
	"errors"
	"os"
)

// scratch fails: only Linux has files that bash can open by their descriptor
// more than once.
func scratch(string) (*os.File, error) { return nil, errors.ErrUnsupported }
