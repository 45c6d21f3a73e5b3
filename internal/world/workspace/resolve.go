package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links a path may lead through, as in the Linux kernel.
const maxLinks = 40

// maxPath is how many bytes a path may have, as in the Linux kernel.
const maxPath = 4096

// Resolve returns the canonical form of path: two paths name the same file if
// and only if their canonical forms are equal, hard links aside; each element is
// spelled as the directory has it that it is in. Links are
// followed, also those that are absolute or leave the workspace, as long as the
// end is inside it. Elements that do not exist yet are taken as they are
// written. ErrOutside reports a path that ends outside.
//
// What Resolve found can be changed by others at any time. It is for policy and
// for messages; what acts on a path is confined on its own.
func (w *Workspace) Resolve(path string) (string, error) {
	at, err := w.resolve(path)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	return slash(at), nil
}

// resolve returns the canonical form of path as a name of the system, relative
// to the root.
func (w *Workspace) resolve(path string) (string, error) {
	path = filepath.FromSlash(name(path))
	switch {
	case path == "":
		return "", fmt.Errorf("empty path: %w", fs.ErrInvalid)
	case len(path) > maxPath:
		return "", syscall.ENAMETOOLONG
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("path with a NUL: %w", fs.ErrInvalid)
	}
	at, err := follow(w.dir, path)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(w.dir, at)
	if err != nil || !filepath.IsLocal(rel) {
		return "", ErrOutside
	}
	return rel, nil
}

// A walker goes along a path as the system would, and on through what does not exist.
type walker struct {
	at      string // absolute, without links
	missing int    // how many of its last elements do not exist
	links   int    // followed so far
}

// follow walks path from dir and returns an absolute path without links.
func follow(dir, path string) (string, error) {
	w, rest := walker{at: dir}, path
	for {
		if filepath.IsAbs(rest) {
			volume := filepath.VolumeName(rest)
			w.at, w.missing, rest = volume+string(filepath.Separator), 0, rest[len(volume):]
		}
		var element string
		element, rest = cut(rest)
		switch element {
		case "":
			return w.at, nil
		case ".":
			continue
		case "..":
			w.at, w.missing = filepath.Dir(w.at), max(w.missing-1, 0)
			continue
		}
		target, err := w.step(element, rest == "")
		if err != nil {
			return "", err
		}
		if target != "" {
			rest = target + string(filepath.Separator) + rest
		}
	}
}

// step goes to an element, or returns where to go instead if that is a link.
func (w *walker) step(element string, last bool) (target string, err error) {
	next := filepath.Join(w.at, element)
	if w.missing > 0 {
		w.at, w.missing = next, w.missing+1
		return "", nil
	}
	info, err := os.Lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.at, w.missing = next, 1
		return "", nil
	case err != nil:
		return "", reason(err)
	case info.Mode()&fs.ModeSymlink != 0:
		if w.links++; w.links > maxLinks {
			return "", syscall.ELOOP
		}
		target, err := os.Readlink(next)
		return target, reason(err)
	case !last && !info.IsDir():
		return "", fmt.Errorf("%w: %s", ErrNotDirectory, element)
	}
	w.at = filepath.Join(w.at, spelled(w.at, element, info))
	return "", nil
}

// cut splits off the first element of path, and the separators around it.
func cut(path string) (element, rest string) {
	isSeparator := func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }
	path = strings.TrimLeftFunc(path, isSeparator)
	i := strings.IndexFunc(path, isSeparator)
	if i < 0 {
		return path, ""
	}
	return path[:i], strings.TrimLeftFunc(path[i:], isSeparator)
}

// slash returns a name of the system, relative to the root, as canonical path.
func slash(at string) string { return text(filepath.ToSlash(at)) }
