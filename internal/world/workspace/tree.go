package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// An Entry is what is somewhere in the tree: a file, a directory, a link, or
// anything else.
type Entry struct {
	Path string // canonical, but for the entry itself, which may be a link
	Info fs.FileInfo

	dir *os.Root
}

// A Content is all of a file that can be kept.
type Content struct {
	Bytes []byte
	Attrs string // see Raw.Attributes
	Info  fs.FileInfo
}

// Content returns what a regular file holds. It is to be called before the next
// entry is asked for.
func (e Entry) Content() (Content, error) {
	f, info, err := open(e.dir, e.Info.Name())
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	b, err := slurp(f, info.Size())
	return Content{b, attributesOf(f), info}, err
}

// Target returns where a link leads, as it says itself. It is to be called before
// the next entry is asked for.
func (e Entry) Target() (string, error) {
	to, err := e.dir.Readlink(e.Info.Name())
	return to, reason(err)
}

// Tree yields all that is in the workspace and not ignored, hidden entries too,
// a directory before what is in it. A .git is left out, and what is in a directory that
// has one of its own, as a submodule does, is not. It follows no link. What cannot
// be read yields an error, and the walk goes on; the end of ctx yields its error
// and ends it.
func (w *Workspace) Tree(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		root, err := w.root.OpenRoot(".")
		if err != nil {
			yield(Entry{Path: "."}, fmt.Errorf("list .: %w", reason(err)))
			return
		}
		w.tree(ctx, root, ".", w.ignores("."), yield)
	}
}

// tree yields what is in and below dir, and closes it.
func (w *Workspace) tree(ctx context.Context, dir *os.Root, at string, rules ignores, yield func(Entry, error) bool) bool {
	defer dir.Close()
	if err := ctx.Err(); err != nil {
		yield(Entry{Path: slash(at)}, err)
		return false
	}
	found, err := readDir(dir)
	if err != nil {
		return yield(Entry{Path: slash(at)}, fmt.Errorf("list %s: %w", slash(at), err))
	}
	if slices.ContainsFunc(found, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" }) {
		rules = rules.with(w.root, at)
	}
	for _, d := range found {
		inner := filepath.Join(at, d.Name())
		if d.Name() == ".git" || isOurs(d.Name()) || rules.ignored(inner, d.IsDir()) {
			continue
		}
		info, err := d.Info() // of the listing
		if err != nil {       // gone since
			continue
		}
		if !yield(Entry{Path: slash(inner), Info: info, dir: dir}, nil) {
			return false
		}
		if !d.IsDir() {
			continue
		}
		below, err := dir.OpenRoot(d.Name())
		if err == nil && !w.tree(ctx, below, inner, rules, yield) ||
			err != nil && !yield(Entry{Path: slash(inner)}, fmt.Errorf("list %s: %w", slash(inner), reason(err))) {
			return false
		}
	}
	return true
}

// isOurs reports whether name is of a file that a Write needs while it runs: what
// Temp gives, and what may follow it.
func isOurs(name string) bool {
	const letters, length = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 26
	name, ours := strings.CutPrefix(name, tempPrefix)
	return ours && len(name) >= length && strings.Trim(name[:length], letters) == "" && strings.Trim(name[length:], "-0123456789~") == ""
}

func readDir(dir *os.Root) ([]fs.DirEntry, error) {
	d, err := dir.OpenFile(".", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer d.Close()
	found, err := d.ReadDir(-1)
	return found, reason(err)
}

// Prune removes n directories, from the one of the file at path up, as far as they
// are empty.
func (w *Workspace) Prune(path string, n int) error {
	at, err := w.resolve(path)
	if err != nil {
		return fmt.Errorf("remove directories of %s: %w", path, err)
	}
	for dir := filepath.Dir(at); n > 0 && dir != "."; n-- {
		parent, err := w.root.Open(filepath.Dir(dir))
		if err == nil {
			if info, e := w.root.Lstat(dir); e == nil && info.IsDir() {
				err = w.root.Remove(dir) // fails unless it is empty
			} else {
				err = errors.Join(e, ErrNotDirectory)
			}
			err = errors.Join(err, syncDir(parent), parent.Close())
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("remove directories of %s: %w", path, reason(err))
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
