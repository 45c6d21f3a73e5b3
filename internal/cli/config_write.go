package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	lockWait  = 10 * time.Second // for another process to finish its change
	lockEvery = 5 * time.Millisecond
	maxLinks  = 40 // symbolic links from a file to where it is
)

// errMoved reports a file that was replaced while it was waited for.
var errMoved = errors.New("file was replaced")

// rewrite gives file the bytes that change makes of those it has, "" if it is
// absent. Two processes that do so wait for each other. The file is replaced as
// a whole or not at all, and not if anyone changed it meanwhile; a symbolic link
// stays one. New files are for the user alone.
func rewrite(file string, change func(old []byte) ([]byte, error)) error {
	target, err := follow(file)
	if err != nil {
		return cannotChange(file, err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return cannotChange(file, err)
	}
	for deadline := time.Now().Add(lockWait); ; {
		err := rewriteOnce(file, target, deadline, change)
		if !errors.Is(err, errMoved) {
			return err
		}
		if time.Now().After(deadline) {
			return &ConfigError{File: file, Message: "not changed: others keep changing it"}
		}
	}
}

func rewriteOnce(file, target string, deadline time.Time, change func(old []byte) ([]byte, error)) (err error) {
	f, made, err := openLocked(target, deadline)
	if errors.Is(err, errMoved) {
		return err
	}
	if err != nil {
		return cannotChange(file, err)
	}
	defer f.Close() // and with it the lock
	defer func() {
		if err != nil && made && holds(f, target, nil) {
			os.Remove(target)
		}
	}()
	old, err := readAll(file, f)
	if err != nil {
		return err
	}
	text, err := change(old)
	if err != nil {
		return err
	}
	if bytes.Equal(text, old) && !made {
		return nil
	}
	if err := replace(f, target, old, text); err != nil {
		if errors.Is(err, errMoved) {
			return err
		}
		return cannotChange(file, err)
	}
	return nil
}

// openLocked opens target, which it makes if need be, and locks it. The lock is
// on the file itself, so that nothing is left behind.
func openLocked(target string, deadline time.Time) (f *os.File, made bool, err error) {
	f, err = os.OpenFile(target, os.O_RDONLY|os.O_CREATE|os.O_EXCL|openNow, 0o600)
	made = err == nil
	if errors.Is(err, fs.ErrExist) {
		f, err = os.OpenFile(target, os.O_RDONLY|openNow, 0)
	}
	if errors.Is(err, fs.ErrNotExist) && !made {
		return nil, false, errMoved
	}
	if err != nil {
		return nil, false, err
	}
	if err := lock(f, target, deadline); err != nil {
		f.Close()
		return nil, false, err
	}
	return f, made, nil
}

func lock(f *os.File, target string, deadline time.Time) error {
	for {
		locked, err := tryLock(f)
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if locked {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("another process holds its lock")
		}
		time.Sleep(lockEvery)
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if !mine.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	now, err := os.Stat(target)
	if err != nil || !os.SameFile(mine, now) {
		return errMoved // who held the lock before replaced it
	}
	return nil
}

// replace puts text where target is, which f is open on and holds old.
func replace(f *os.File, target string, old, text []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("it is read-only: %w", fs.ErrPermission)
	}
	dir := filepath.Dir(target)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it is renamed
	if err := errors.Join(fill(tmp, text, info.Mode().Perm()), tmp.Close()); err != nil {
		return err
	}
	if !holds(f, target, old) {
		return errMoved // an editor takes no lock
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return err
	}
	return syncDir(dir)
}

// holds reports whether target is still the file that f is open on, and holds
// text.
func holds(f *os.File, target string, text []byte) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(target)
	if err != nil || !os.SameFile(mine, now) {
		return false
	}
	b, err := os.ReadFile(target)
	return err == nil && bytes.Equal(b, text)
}

func fill(tmp *os.File, text []byte, mode fs.FileMode) error {
	if err := tmp.Chmod(mode); err != nil {
		return err
	}
	if _, err := io.Copy(tmp, bytes.NewReader(text)); err != nil {
		return err
	}
	return tmp.Sync()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// follow returns what file leads to, which need not exist.
func follow(file string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(file)
		if err != nil { // not a link, or nothing there
			return file, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
	return "", errors.New("too many symbolic links")
}

func cannotChange(file string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &ConfigError{File: file, Message: "cannot be changed: " + err.Error(), Err: err}
}
