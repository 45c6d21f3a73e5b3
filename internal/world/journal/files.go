package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A disk is what the journal needs of a file system. Names are paths.
type disk interface {
	// enter makes dir if need be, on stable storage, and locks it until what it
	// returns is closed.
	enter(dir string, now time.Time) (io.Closer, error)

	open(name string, flag int, perm fs.FileMode) (file, error)
	list(dir string) ([]string, error) // sorted; nothing if there is no such directory
	mkdir(dir string) error            // also where it is there
	rename(from, to string) error
	remove(name string) error
	syncDir(dir string) error // puts the names in it on stable storage
}

// A file is open until it is closed.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	size() (int64, error)
	truncate(n int64) error
	reserve(at, n int64) error // extends it by n zeros, if the disk has room for them
	sync() error
	syncData() error // all that reading the bytes again needs
}

// system is the disk that the operating system has.
type system struct{}

func (system) enter(dir string, now time.Time) (io.Closer, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	return acquire(dir, now)
}

// open does not follow a link nor wait for whoever is at the other end of a pipe, and
// for writing takes only a file that is ours alone.
func (system) open(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := os.OpenFile(name, flag|noFollow, perm)
	if err != nil {
		return nil, err
	}
	if err := ours(f, flag&(os.O_WRONLY|os.O_RDWR) != 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

// ours reports why f is not to be read, or written.
func ours(f *os.File, write bool) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", f.Name())
	case write && !private(info):
		return fmt.Errorf("%s is not ours alone: others can write to it", f.Name())
	}
	return nil
}

func (system) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (system) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (system) rename(from, to string) error { return os.Rename(from, to) }

func (system) remove(name string) error { return os.Remove(name) }

func (system) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncNames(d), d.Close())
}

type osFile struct{ *os.File }

func (f osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) truncate(n int64) error    { return f.Truncate(n) }
func (f osFile) reserve(at, n int64) error { return preallocate(f.File, at, n) }
func (f osFile) sync() error               { return f.Sync() }

func (f osFile) syncData() error {
	if err := syncData(f.File); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && removed(info) {
		err = fmt.Errorf("%s was removed", f.Name())
	}
	return err
}

// makeDir creates dir and what is missing above it, each on stable storage, and
// checks that nobody else can write to it.
func makeDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if parent := filepath.Dir(dir); parent != dir {
			if err := makeParent(parent); err != nil {
				return err
			}
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := (system{}).syncDir(filepath.Dir(dir)); err != nil {
			return err
		}
		info, err = os.Stat(dir)
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case !private(info):
		return fmt.Errorf("%s is not ours alone: others can write to it", dir)
	}
	return nil
}

func makeParent(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return makeDir(dir)
}

// replace makes name hold b, or leaves it as it was; a crash can leave name
// with .tmp behind it.
func replace(d disk, name string, b []byte) error {
	temp := name + ".tmp"
	f, err := d.open(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, d.remove(temp))
	}
	return nil
}

// readFile returns what is in a file of at most limit bytes.
func readFile(d disk, name string, limit int64) ([]byte, error) {
	f, err := d.open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := f.size()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("%s has %d bytes, over the limit of %d", name, n, limit)
	}
	b := make([]byte, n)
	got, err := f.ReadAt(b, 0)
	if err == io.EOF && int64(got) < n { // it has just become shorter
		return b[:got], nil
	}
	if err == io.EOF {
		err = nil
	}
	return b, err
}
