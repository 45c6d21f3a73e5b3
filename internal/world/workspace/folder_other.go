//go:build !linux

package workspace

import (
	"io/fs"
	"os"
	"runtime"
)

// exchange swaps two files of the folder.
func (f *folder) exchange(temp, target string) error { return f.exchangeSteps(temp, target) }

// place renames a file; fs.ErrExist if the new name is taken.
func (f *folder) place(from, to string) error { return f.placeSteps(from, to) }

// syncDir puts the names of a directory on disk, where the system lets us ask.
func syncDir(dir *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return dir.Sync()
}

// keepAttributes keeps nothing but the permissions, which are set by the caller.
func keepAttributes(*os.File, *os.Root, string, fs.FileInfo) {}

// attributesOf says nothing.
func attributesOf(*os.File) string { return Plain }

// setAttributes sets nothing.
func setAttributes(*os.File, string) {}

func sameOwner(fs.FileInfo, fs.FileInfo) bool { return false }

// links returns how many names a file has, as far as is known.
func links(fs.FileInfo) uint64 { return 1 }

// inode returns the number of a file on its file system, 0 if it is not known.
func inode(fs.FileInfo) uint64 { return 0 }

// descriptors returns how many files this process may have open, as most systems
// let it.
func descriptors() int { return 256 }
