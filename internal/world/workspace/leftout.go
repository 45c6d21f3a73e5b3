package workspace

import (
	"path/filepath"
	"strings"
)

// LeftOut reports whether Files from the root would not yield the file at path,
// because an element of its path is hidden or ignored, or it is not there.
func (w *Workspace) LeftOut(path string) bool {
	at, err := w.resolve(path)
	if err != nil {
		return true
	}
	dir := "."
	for element := range strings.SplitSeq(filepath.ToSlash(at), "/") {
		inner := filepath.Join(dir, element)
		info, err := w.root.Lstat(inner)
		if err != nil || strings.HasPrefix(element, ".") && inner != "." ||
			w.ignores(dir).with(w.root, dir).ignored(inner, info.IsDir()) {
			return true
		}
		dir = inner
	}
	return false
}
