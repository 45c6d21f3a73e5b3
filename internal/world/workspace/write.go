package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Diff returns what Write would do with edits, or why it would not, and changes
// nothing.
func (w *Workspace) Diff(edits []edit.Intent) (Diff, error) {
	changes, err := w.prepare(edits)
	if err != nil {
		return Diff{}, err
	}
	return describe(changes), nil
}

// Write makes all the edits or none, and returns when they are on disk. Each
// file must be as its intent's Base says, before and while it is replaced;
// ErrStale reports one that is not. Where the system cannot exchange two names
// in one step (other than Linux, and some file systems), a change that others
// make within some microseconds may go unnoticed.
//
// A file is replaced by a new one with the same permissions, owner and extended
// attributes, as far as they may be set. A path that leads through links changes
// the file at their end; the links stay. What has other hard links is detached
// from them, and Diff says so. A new file is 0644 and a new directory 0755, less
// the umask. A removal is of a file: a link is ErrNotRegular. Two edits of one
// file are edit.ErrInvalid.
//
// Writes through one Workspace never mix. An error that also says that something
// could not be restored names where the bytes are.
func (w *Workspace) Write(edits []edit.Intent) (Diff, error) {
	return w.WriteAs(Temp(), edits)
}

// WriteAs is Write with a name, from Temp, for the files that it needs until it
// is done. Whoever keeps the name can call Clear after a crash.
func (w *Workspace) WriteAs(temp string, edits []edit.Intent) (Diff, error) {
	changes, err := w.prepare(edits)
	if err != nil {
		return Diff{}, err
	}
	d := describe(changes)
	b := batch{w: w, temp: temp, folders: make(map[string]*folder)}
	defer b.close()
	if err := b.run(changes); err != nil {
		return Diff{}, err
	}
	return d, nil
}

// A change is an intent on a file as it was found.
type change struct {
	edit.Intent
	path   string      // canonical
	at     string      // the same as a name of the system
	info   fs.FileInfo // nil if there is no file yet
	before []byte
	after  []byte

	temp  string      // a name beside the file: first of what replaces it, then of what it replaced
	made  fs.FileInfo // what replaces it
	moved bool        // it has been replaced, created or removed
}

// same reports whether the change changes nothing.
func (c *change) same() bool {
	return c.info != nil && !c.Remove && bytes.Equal(c.before, c.after) && c.mode() == c.info.Mode().Perm()
}

// mode returns the permission bits that the file is to have.
func (c *change) mode() fs.FileMode {
	switch m, err := strconv.ParseUint(c.Mode, 8, 32); {
	case err == nil:
		return fs.FileMode(m)
	case c.info != nil:
		return c.info.Mode().Perm()
	}
	return 0o644
}

// prepare reads the files that edits are about and checks that each can be made.
func (w *Workspace) prepare(edits []edit.Intent) ([]*change, error) {
	var changes []*change
	seen := make(map[string]bool)
	for _, e := range edits {
		c, err := w.prepareOne(e)
		if err == nil && seen[c.at] {
			err = fmt.Errorf("%w: two edits of one file", edit.ErrInvalid)
		}
		if err != nil {
			return nil, fmt.Errorf("edit %s: %w", e.Path, err)
		}
		seen[c.at] = true
		changes = append(changes, c)
	}
	return changes, nil
}

func (w *Workspace) prepareOne(e edit.Intent) (*change, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	at, err := w.resolve(e.Path)
	if err != nil {
		return nil, err
	}
	if at == "." {
		return nil, ErrIsDirectory
	}
	if e.Remove && w.isLink(e.Path) {
		return nil, fmt.Errorf("%w: remove the link itself by other means", ErrNotRegular)
	}
	c := &change{Intent: e, path: slash(at), at: at}
	c.before, c.info, err = w.bytes(at)
	have := ""
	switch {
	case err == nil:
		have = edit.Digest(c.before)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if have != e.Base {
		return nil, &StaleError{Path: c.path, Want: e.Base, Have: have}
	}
	if c.after, err = e.Apply(c.before); err != nil {
		return nil, err
	}
	switch {
	case len(c.after) > MaxFile:
		return nil, fmt.Errorf("%w: %d bytes, at most %d can be written", ErrTooLarge, len(c.after), MaxFile)
	case e.Result != "" && e.Result != edit.Digest(c.after):
		return nil, fmt.Errorf("%w: the regions do not give the result", edit.ErrMismatch)
	}
	return c, nil
}

// isLink reports whether the last element of path is itself a link.
func (w *Workspace) isLink(path string) bool {
	full := filepath.FromSlash(name(path))
	if !filepath.IsAbs(full) {
		full = filepath.Join(w.dir, full)
	}
	dir, err := follow(w.dir, filepath.Dir(full))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(w.dir, filepath.Join(dir, filepath.Base(full)))
	if err != nil {
		return false
	}
	info, err := w.root.Lstat(rel)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
