package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A File is an entry of a directory: a file, a link, or, from List, anything.
type File struct {
	Path    string      // canonical, but for the entry itself, which may be a link
	Target  string      // where a link leads: a canonical path; "" if it is none, or leads out or nowhere
	Type    fs.FileMode // the type bits, of the entry itself
	Hidden  bool        // its name begins with a dot
	Ignored bool        // by a .gitignore, but not only because its directory is

	at   string
	root *os.Root
}

// Info describes the entry itself, as it is now.
func (f File) Info() (fs.FileInfo, error) {
	info, err := f.root.Lstat(f.at)
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", f.Path, reason(err))
	}
	return info, nil
}

// Files yields the regular files below dir that are neither hidden nor ignored,
// and the links to regular files of the workspace (those have a Target). It
// goes by name, a directory's files in its place, and follows no link to a
// directory. What dir itself is called does not matter: a hidden or ignored
// directory that is asked for is walked. A directory that cannot be read yields
// an error, and the walk goes on; the end of ctx yields its error and ends it.
func (w *Workspace) Files(ctx context.Context, dir string) iter.Seq2[File, error] {
	return w.Walk(dir).Files(ctx)
}

// A Walk is one run of Files that can tell what it left out.
type Walk struct {
	// Hidden and Ignored count the entries left out so far. A directory counts
	// as one: nobody looked into it.
	Hidden, Ignored int

	w   *Workspace
	dir string
}

// Walk returns a walk below dir that has not begun.
func (w *Workspace) Walk(dir string) *Walk { return &Walk{w: w, dir: dir} }

// Files yields as Workspace.Files does. It is to be used once.
func (k *Walk) Files(ctx context.Context) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		at, err := k.w.resolve(k.dir)
		if err != nil {
			yield(File{Path: k.dir}, fmt.Errorf("list %s: %w", k.dir, err))
			return
		}
		k.descend(ctx, at, k.w.ignores(at), yield)
	}
}

// descend yields what is in and below the directory at, and reports whether to go on.
func (k *Walk) descend(ctx context.Context, at string, rules ignores, yield func(File, error) bool) bool {
	if err := ctx.Err(); err != nil {
		yield(File{Path: slash(at)}, err)
		return false
	}
	rules = rules.with(k.w.root, at)
	files, err := k.w.entries(at, rules)
	if err != nil {
		return yield(File{Path: slash(at)}, fmt.Errorf("list %s: %w", slash(at), err))
	}
	for _, f := range files {
		goOn := true
		switch {
		case f.Hidden:
			k.Hidden++
		case f.Ignored:
			k.Ignored++
		case f.Type.IsDir():
			goOn = k.descend(ctx, f.at, rules, yield)
		case f.Type.IsRegular():
			goOn = yield(f, nil)
		case f.Type&fs.ModeSymlink != 0:
			if f.Target = k.w.target(f.at); f.Target != "" && k.w.holdsFile(f.Target) {
				goOn = yield(f, nil)
			}
		}
		if !goOn {
			return false
		}
	}
	return true
}

// List returns all that is in the directory that path leads to, by name, also
// what is hidden or ignored.
func (w *Workspace) List(path string) ([]File, error) {
	at, err := w.resolve(path)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	files, err := w.entries(at, w.ignores(at).with(w.root, at))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	for i, f := range files {
		if f.Type&fs.ModeSymlink != 0 {
			files[i].Target = w.target(f.at)
		}
	}
	return files, nil
}

// entries returns what is in the directory at, by name, without targets.
func (w *Workspace) entries(at string, rules ignores) ([]File, error) {
	d, err := w.openDir(at)
	if err != nil {
		return nil, reason(err)
	}
	defer d.Close()
	found, err := d.ReadDir(-1)
	if err != nil {
		return nil, reason(err)
	}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	files := make([]File, len(found))
	for i, e := range found {
		inner := filepath.Join(at, e.Name())
		files[i] = File{
			Path: slash(inner), Type: e.Type(), Hidden: strings.HasPrefix(e.Name(), "."),
			Ignored: rules.ignored(inner, e.IsDir()),
			at:      inner, root: w.root,
		}
	}
	return files, nil
}

// openDirSteps opens the directory at a resolved path, element by element. What
// is none is not opened.
func (w *Workspace) openDirSteps(at string) (*os.File, error) {
	info, err := w.root.Lstat(at)
	if err == nil && !info.IsDir() {
		err = ErrNotDirectory
	}
	if err != nil {
		return nil, err
	}
	d, err := w.root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := w.holds(d); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// target returns where the link at leads to, if that is in the workspace and exists.
func (w *Workspace) target(at string) string {
	to, err := w.resolve(slash(at))
	if err != nil {
		return ""
	}
	if _, err := w.root.Lstat(to); err != nil {
		return ""
	}
	return slash(to)
}

func (w *Workspace) holdsFile(path string) bool {
	info, err := w.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
