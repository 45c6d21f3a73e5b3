package tooltest

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A tree is what is in the workspace by relative path, and beside it by absolute
// path.
type tree map[string]node

// A node is all of a file but its times.
type node struct {
	mode   fs.FileMode
	digest string // of a regular file
	target string // of a symbolic link
}

// snapshot reads what is in dir's parent.
func snapshot(t testing.TB, dir string) tree {
	t.Helper()
	all := make(tree)
	err := filepath.WalkDir(filepath.Dir(dir), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n := node{mode: info.Mode()}
		switch {
		case n.mode.IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			n.digest = digest(b)
		case n.mode&fs.ModeSymlink != 0:
			if n.target, err = os.Readlink(p); err != nil {
				return err
			}
		}
		if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
			p = filepath.ToSlash(rel)
		}
		all[p] = n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// changes returns the paths that differ between before and after, sorted.
func (before tree) changes(after tree) []string {
	var paths []string
	for p, n := range before {
		if m, ok := after[p]; !ok || m != n {
			paths = append(paths, p)
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
