//go:build !linux

package workspace

import "os"

// openDir opens the directory at a resolved path.
func (w *Workspace) openDir(at string) (*os.File, error) { return w.openDirSteps(at) }
