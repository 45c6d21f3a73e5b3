package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// maxRef bounds what is read of a file of git's that names a commit.
const maxRef = 4 << 20 // packed-refs of a large repository

// Head returns the commit that is checked out around the workspace, "" where
// there is none: no repository, no commit yet, or one that cannot be read. It
// reads git's files and runs nothing.
func (w *Workspace) Head() string {
	git := gitDir(w.Root())
	if git == "" {
		return ""
	}
	head := readRef(filepath.Join(git, "HEAD"))
	name, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return commitOf(head)
	}
	common := git
	if dir := readRef(filepath.Join(git, "commondir")); dir != "" { // a linked worktree
		common = within(git, dir)
	}
	if commit := commitOf(readRef(filepath.Join(common, filepath.FromSlash(name)))); commit != "" {
		return commit
	}
	for line := range strings.Lines(readRef(filepath.Join(common, "packed-refs"))) {
		if commit, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && ref == name {
			return commitOf(commit)
		}
	}
	return ""
}

// gitDir returns the directory of the repository that dir is in: .git, or what
// a file of that name points to.
func gitDir(dir string) string {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return path
			}
			if target, ok := strings.CutPrefix(readRef(path), "gitdir: "); ok {
				return within(dir, target)
			}
			return ""
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readRef returns the text of one of git's small files, "" if it cannot be read.
func readRef(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRef {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// commitOf returns s if it is the hexadecimal name of an object.
func commitOf(s string) string {
	if len(s) != 40 && len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}
