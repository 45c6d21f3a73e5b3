package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writePage has write fill the file name, which then is all there or as it was
// before. What is there is replaced only if it is a regular file.
func writePage(name string, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0o600) // a session is its user's
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return usage("write %s: %v", name, reasonOf(err))
	case info.IsDir():
		return usage("%s is a directory: name a file in it, as in -o %s", name, filepath.Join(name, "trace.html"))
	case !info.Mode().IsRegular():
		return usage("%s is not a regular file; -o - writes to standard output", name)
	default:
		mode = info.Mode().Perm()
	}
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to // a link goes on leading there
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".belay-trace-*")
	if errors.Is(err, fs.ErrNotExist) {
		return usage("the directory %s does not exist", filepath.Dir(name))
	}
	if err != nil {
		return usage("write %s: %v", name, reasonOf(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, reasonOf(err))
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return fmt.Errorf("write %s: %w", name, reasonOf(err))
	}
	return nil
}

// reasonOf returns why err is, without the path, which is said anyway.
func reasonOf(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
