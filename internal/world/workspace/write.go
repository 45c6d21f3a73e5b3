package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Diff returns what Write would do with edits if it may break links, or why it
// would not, and changes nothing.
func (w *Workspace) Diff(edits []edit.Intent) (Diff, error) {
	changes, err := w.prepare(edits)
	if err != nil {
		return Diff{}, err
	}
	return w.describe(changes), nil
}

// Write makes all the edits or none, and returns when they are on disk. Each
// file must be as its intent's Base says, before and while it is replaced;
// ErrStale reports one that is not. Where the system cannot exchange two names
// in one step (other than Linux, and some file systems), a change that others
// make within some microseconds may go unnoticed.
//
// A file is replaced by a new one with the same permissions, owner and extended
// attributes, as far as they may be set. A path that leads through links changes
// the file at their end; the links stay. A file with several names is a
// LinkedError, unless WriteOptions say otherwise. A new file is 0644 and a new directory 0755, less
// the umask. A removal of a link removes the link itself and must be based on the
// digest that Link gives, or it is ErrNotRegular. Two edits of one file are
// edit.ErrInvalid.
//
// Writes through one Workspace never mix. An error that also says that something
// could not be restored names where the bytes are.
func (w *Workspace) Write(edits []edit.Intent) (Diff, error) {
	return w.WriteWith(WriteOptions{}, edits)
}

// WriteOptions say how a Write is done. The zero value is what Write does.
type WriteOptions struct {
	// Temp, from Temp, is how the names begin of the files that it needs until it
	// is done. Whoever keeps the name can call Clear after a crash.
	Temp string

	// BreakLinks says of a file with several names whether it may be replaced; nil
	// means no file may. The other names keep the old bytes: see Diff.Names.
	BreakLinks func(path string) bool
}

// WriteAs is Write with a name for what it needs until it is done: see WriteOptions.
func (w *Workspace) WriteAs(temp string, edits []edit.Intent) (Diff, error) {
	return w.WriteWith(WriteOptions{Temp: temp}, edits)
}

// WriteWith is Write with options.
func (w *Workspace) WriteWith(o WriteOptions, edits []edit.Intent) (Diff, error) {
	changes, err := w.prepare(edits)
	if err != nil {
		return Diff{}, err
	}
	d := w.describe(changes)
	for path, names := range d.Names {
		if o.BreakLinks == nil || !o.BreakLinks(path) {
			return Diff{}, fmt.Errorf("edit %s: %w", path, &LinkedError{Path: path, Names: names})
		}
	}
	b := batch{w: w, temp: cmp.Or(o.Temp, Temp()), folders: make(map[string]*folder)}
	defer b.close()
	if err := b.run(changes); err != nil {
		return Diff{}, err
	}
	return d, nil
}

// Link returns where the link leads that path itself is, and the digest of that,
// which a removal of the link is to be based on.
func (w *Workspace) Link(path string) (target, digest string, err error) {
	at, ok := w.link(path)
	if !ok {
		return "", "", fmt.Errorf("read link %s: %w", path, fs.ErrInvalid)
	}
	if target, err = w.root.Readlink(at); err != nil {
		return "", "", fmt.Errorf("read link %s: %w", path, reason(err))
	}
	return text(target), edit.Digest([]byte(target)), nil
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
	link  bool        // it is a link, and before is where it leads
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
	if e.Remove {
		if at, ok := w.link(e.Path); ok {
			return w.foundLink(e, at)
		}
	}
	at, err := w.resolve(e.Path)
	if err != nil {
		return nil, err
	}
	if at == "." {
		return nil, ErrIsDirectory
	}
	return w.found(e, at)
}

// found returns the change that e is of the file at a resolved path.
func (w *Workspace) found(e edit.Intent, at string) (c *change, err error) {
	c = &change{Intent: e, path: slash(at), at: at}
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

// foundLink returns the change that removes the link at a name of the system.
func (w *Workspace) foundLink(e edit.Intent, at string) (*change, error) {
	info, err := w.root.Lstat(at)
	if err != nil {
		return nil, reason(err)
	}
	target, err := w.root.Readlink(at)
	if err != nil {
		return nil, reason(err)
	}
	if edit.Digest([]byte(target)) != e.Base {
		return nil, fmt.Errorf("%w: it is a link", ErrNotRegular)
	}
	return &change{Intent: e, path: slash(at), at: at, info: info, before: []byte(target), link: true}, nil
}

// link returns the name of the system of the link that path itself is, and
// reports whether it is one.
func (w *Workspace) link(path string) (at string, ok bool) {
	full := filepath.FromSlash(name(path))
	if !filepath.IsAbs(full) {
		full = filepath.Join(w.dir, full)
	}
	dir, err := follow(w.dir, filepath.Dir(full))
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(w.dir, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	last := filepath.Base(full)
	info, err := w.root.Lstat(filepath.Join(rel, last))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return filepath.Join(rel, last), false
	}
	return filepath.Join(rel, spelled(dir, last, info)), true
}
