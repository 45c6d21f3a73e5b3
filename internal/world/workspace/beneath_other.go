//go:build !linux

package workspace

import (
	"io/fs"
	"os"
)

// openDir opens the directory at a resolved path.
func (w *Workspace) openDir(at string) (*os.File, error) { return w.openDirSteps(at) }

// openFile opens the regular file at a resolved path.
func (w *Workspace) openFile(at string) (*os.File, fs.FileInfo, error) { return w.openFileSteps(at) }
