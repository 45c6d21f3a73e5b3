//go:build !linux

package process

import (
	"errors"
	"os"
)

// canPair says that standard error can be told apart.
const canPair = false

func newPair(_, _ *os.File) (source, error) { return nil, errors.ErrUnsupported }

// widen does nothing: a pipe grows by itself, or not at all.
func widen(*os.File) {}
