package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A Raw is a regular file of any size, open to be read at any place, and as it
// was when it was opened. It must be closed.
type Raw struct {
	Path    string // canonical
	Size    int64
	Mode    fs.FileMode
	ModTime time.Time
	Inode   uint64 // 0 where the system does not say

	f *os.File
}

// OpenRaw opens the file that path leads to, with the errors of Read but for
// ErrBinary and ErrTooLarge. It waits for nobody.
func (w *Workspace) OpenRaw(path string) (*Raw, error) {
	at, err := w.resolve(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	f, info, err := w.openFile(at)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Raw{
		Path: slash(at), Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime(), Inode: inode(info), f: f,
	}, nil
}

// openFileSteps opens the regular file at a resolved path, element by element.
func (w *Workspace) openFileSteps(at string) (*os.File, fs.FileInfo, error) {
	f, info, err := openAny(w.root, at)
	if err != nil {
		return nil, nil, err
	}
	if err := w.holds(f); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadAt reads as io.ReaderAt says. What has been written to the file since it
// was opened shows.
func (r *Raw) ReadAt(p []byte, off int64) (int, error) { return r.f.ReadAt(p, off) }

// Close closes the file.
func (r *Raw) Close() error { return r.f.Close() }

// Decode returns the text that raw is, as Read shows it, or ErrBinary. It has
// neither a path nor a digest.
func Decode(raw []byte) (Text, error) {
	code := detect(raw)
	if code == nil {
		return Text{}, ErrBinary
	}
	t := decode(raw, code)
	t.Size = int64(len(raw))
	return t, nil
}

// Own returns where in the file's own bytes the character at offset in Content
// starts; offset must be where one does, or the end.
func (t Text) Own(offset int) int { return t.own(offset) }
