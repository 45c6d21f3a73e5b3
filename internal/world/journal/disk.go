package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

const (
	segmentLimit = 64 << 20 // bytes of a file of the log, about
	ahead        = 1 << 20  // bytes set aside in front of what is written
)

// diskLog is the log in a directory. Its last file is open for writing.
type diskLog struct {
	dir    string
	f      *os.File
	lock   *os.File
	number int   // of the file, from 1
	end    int64 // of what is written; zeros follow up to size
	size   int64
	limit  int64
}

// open opens or creates the file of that number, whose frames end at end.
func (l *diskLog) open(number int, end int64) error {
	name := filepath.Join(l.dir, segmentName(number))
	_, err := os.Lstat(name)
	fresh := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	l.f, l.number, l.end = f, number, end
	info, err := f.Stat()
	if err != nil {
		return err
	}
	l.size = info.Size()
	if !fresh {
		return nil
	}
	l.reserve(ahead)
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(l.dir)
}

// reserve sets space aside for n more bytes, so that a sync need not also write
// down a new size. Where that cannot be done, the file just grows.
func (l *diskLog) reserve(n int64) {
	want := (l.end + n + ahead - 1) / ahead * ahead
	if want > l.size && preallocate(l.f, l.size, want-l.size) == nil {
		l.size = want
	}
}

func (l *diskLog) append(frames []byte, durable bool) error {
	if n := int64(len(frames)); l.end+n > l.size {
		l.reserve(n)
	}
	if _, err := l.f.WriteAt(frames, l.end); err != nil {
		l.f.Truncate(l.end) // half a frame may be there; if this fails too, the next Open cuts it off
		return err
	}
	l.end += int64(len(frames))
	l.size = max(l.size, l.end)
	if !durable {
		return nil
	}
	return syncData(l.f)
}

func (l *diskLog) roll() (bool, error) {
	if l.end < l.limit {
		return false, nil
	}
	if err := l.finish(); err != nil {
		return false, err
	}
	return true, l.open(l.number+1, 0)
}

// finish gives back the space set aside and closes the file.
func (l *diskLog) finish() error {
	err := l.f.Truncate(l.end)
	if err == nil {
		err = l.f.Sync()
	}
	return errors.Join(err, l.f.Close())
}

func (l *diskLog) frames() iter.Seq2[frame, error] { return walk(l.dir) }

// close also lets go of the lock.
func (l *diskLog) close() error {
	return errors.Join(l.finish(), release(l.lock))
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
		if err := syncDir(filepath.Dir(dir)); err != nil {
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

// syncDir puts the names in dir on stable storage.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncNames(d), d.Close())
}
