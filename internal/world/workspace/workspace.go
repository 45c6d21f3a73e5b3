// Package workspace is the file tree the agent works in.
//
// Every path that a function here takes is what a model or a person wrote:
// relative to the root or absolute inside it, with slashes, "." and "..", links
// and all. Every path that one returns is canonical: relative to the root,
// slash-separated, free of links, "." for the root itself. Both are UTF-8 text
// in which an undecodable byte of a name is \xHH and a backslash is \\.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Conditions that the functions of this package report, beside fs.ErrNotExist,
// fs.ErrExist and fs.ErrPermission. All are to be matched with errors.Is.
var (
	// ErrOutside reports a path that leads out of the workspace, also where
	// something else is mounted in it.
	ErrOutside = errors.New("path leads out of the workspace")
	// ErrStale reports a file that changed since it was read; see StaleError.
	ErrStale = errors.New("file changed since it was read")
	// ErrNotRegular reports a FIFO, socket or device; it was not opened.
	ErrNotRegular = errors.New("not a regular file")
	// ErrIsDirectory reports a directory where a file is needed.
	ErrIsDirectory = errors.New("is a directory")
	// ErrNotDirectory reports a file where a directory is needed.
	ErrNotDirectory = errors.New("not a directory")
	// ErrBinary reports a file that is not text: it holds a NUL or is UTF-16.
	ErrBinary = errors.New("not a text file")
	// ErrLinked reports a file with several names; see LinkedError.
	ErrLinked = errors.New("file has several names")
	// ErrTooLarge reports a file of more than MaxFile bytes.
	ErrTooLarge = errors.New("file too large")
)

// MaxFile is how many bytes a file may have to be read or written.
const MaxFile = 64 << 20

// A StaleError says which digest was expected and which was found. It matches
// ErrStale; one that expected no file also matches fs.ErrExist, one that found
// none also fs.ErrNotExist. Its text leaves the path to the error around it.
type StaleError struct {
	Path       string
	Want, Have string // digests; "" for no file
}

func (e *StaleError) Error() string {
	switch {
	case e.Want == "":
		return "file exists"
	case e.Have == "":
		return "file is gone since it was read"
	}
	return ErrStale.Error()
}

// Is reports whether target is a condition that e stands for.
func (e *StaleError) Is(target error) bool {
	switch target {
	case ErrStale:
		return true
	case fs.ErrExist:
		return e.Want == ""
	case fs.ErrNotExist:
		return e.Have == "" && e.Want != ""
	}
	return false
}

// A LinkedError says how many names, hard links, a file has that is to be
// replaced: all but the one would keep the old bytes. It matches ErrLinked.
type LinkedError struct {
	Path  string
	Names uint64
}

func (e *LinkedError) Error() string {
	return fmt.Sprintf("file has %d names (hard links), of which all but this would keep the old content", e.Names)
}

// Is reports whether target is ErrLinked.
func (e *LinkedError) Is(target error) bool { return target == ErrLinked }

// A Workspace is a directory tree that no path and no symbolic link leads out
// of. It holds the directory open: renaming or replacing it redirects nothing.
// Its methods may be called from several goroutines.
type Workspace struct {
	dir  string // absolute, links resolved
	root *os.Root
	base *os.File // the root's directory, for what os.Root cannot do
	on   uint64   // the mount that the root is on, 0 if it is not known

	images *images // nil if none are kept

	writing  sync.RWMutex // held from the first change of a batch to its last, and shared by whoever decides by what is in a file
	made     func()       // called when a batch has made its changes and not yet verified them; nil but in tests
	replaced watch
}

// Options say how a workspace is opened. The zero value is what Open does.
type Options struct {
	// Undo is a directory, made if need be, outside the workspace, where Write
	// keeps the bytes of each file before and after it is changed: see Image.
	Undo string
}

// Open opens the tree below root, which may be relative or a link, until Close.
func Open(root string) (*Workspace, error) { return OpenWith(root, Options{}) }

// OpenWith is Open with options.
func OpenWith(root string, o Options) (*Workspace, error) {
	abs, err := filepath.Abs(root)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil {
		abs, err = follow(abs, abs) // as it is spelled
	}
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open workspace %s: %w", root, ErrNotDirectory)
	}
	r, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	w := &Workspace{dir: abs, root: r}
	if w.base, err = r.Open("."); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	w.on = mount(w.base)
	w.replaced.room = min(maxWatched, descriptors()/8)
	if o.Undo != "" {
		if w.images, err = openImages(o.Undo); err != nil {
			_ = w.Close()
			return nil, fmt.Errorf("open images in %s: %w", o.Undo, err)
		}
	}
	return w, nil
}

// holds returns ErrOutside for an open file that is on another mount than the
// root: someone has put it there who may mount, and it may be anything.
func (w *Workspace) holds(f *os.File) error {
	if m := mount(f); m != w.on && m != 0 && w.on != 0 {
		return fmt.Errorf("%w: something else is mounted there", ErrOutside)
	}
	return nil
}

// Close releases what is held open. Nothing else may be called after it.
func (w *Workspace) Close() error {
	w.replaced.close()
	err := errors.Join(w.base.Close(), w.root.Close())
	if w.images != nil {
		err = errors.Join(err, w.images.root.Close())
	}
	return err
}

// Root returns the absolute path of the root as the system knows it, links resolved.
func (w *Workspace) Root() string { return w.dir }

// Stat describes what path leads to, links followed.
func (w *Workspace) Stat(path string) (fs.FileInfo, error) {
	at, err := w.resolve(path)
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", path, err)
	}
	info, err := w.root.Lstat(at)
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", path, reason(err))
	}
	return info, nil
}

// open opens the regular file at a resolved path, of at most MaxFile bytes.
func open(root *os.Root, at string) (*os.File, fs.FileInfo, error) {
	f, info, err := openAny(root, at)
	if err != nil {
		return nil, nil, err
	}
	if err := small(info); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func small(info fs.FileInfo) error {
	if info.Size() > MaxFile {
		return fmt.Errorf("%w: %d bytes, at most %d can be read", ErrTooLarge, info.Size(), MaxFile)
	}
	return nil
}

// openAny opens the regular file at a resolved path. What is no regular file is
// refused without being opened, as opening it may block or have an effect; as
// it may take the file's place meanwhile, the open does not block either.
func openAny(root *os.Root, at string) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(at)
	if err != nil {
		return nil, nil, reason(err)
	}
	if err := regular(info); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, reason(err)
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, reason(err)
	}
	return f, info, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrIsDirectory
	case !info.Mode().IsRegular():
		return ErrNotRegular
	}
	return nil
}

// reason strips the operation and path that the standard library put around a
// cause: callers name the path as it was given to them.
func reason(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return ErrNotDirectory
	}
	return err
}
