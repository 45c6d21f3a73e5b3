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
// the file at their end; the links stay, unless the intent is one of a link: see
// edit.Link. A file with several names is a
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

// Link returns the canonical path of the link that path itself is, with all its
// directories resolved, and where it leads, as it says itself: the bytes that a
// change of it is based on. It is fs.ErrInvalid for what is no link.
func (w *Workspace) Link(path string) (canonical string, target []byte, err error) {
	at, ok := w.link(path)
	if !ok {
		return "", nil, fmt.Errorf("read link %s: %w", path, fs.ErrInvalid)
	}
	to, err := w.root.Readlink(at)
	if err != nil {
		return "", nil, fmt.Errorf("read link %s: %w", path, reason(err))
	}
	return slash(at), []byte(to), nil
}

// A change is an intent on a file as it was found.
type change struct {
	edit.Intent
	path   string      // canonical
	at     string      // the same as a name of the system
	info   fs.FileInfo // nil if there is no file yet
	before []byte
	after  []byte

	had string // its attributes, if it goes or gets others
	has string // those it is to get; "" keeps

	temp  string      // a name beside the file: first of what replaces it, then of what it replaced
	made  fs.FileInfo // what replaces it
	link  bool        // it is a link, and before is where it leads
	moved bool        // it has been replaced, created or removed
}

// toLink reports whether it will be a link, and after is where it is to lead.
func (c *change) toLink() bool { return c.Mode == edit.Link }

// same reports whether the change changes nothing.
func (c *change) same() bool {
	return c.info != nil && !c.Remove && bytes.Equal(c.before, c.after) && c.was() == c.is() && (c.has == "" || c.has == c.had)
}

// was and is return the permission bits as an intent has them, or edit.Link.
func (c *change) was() string {
	if c.link {
		return edit.Link
	}
	return fmt.Sprintf("%04o", c.info.Mode().Perm())
}

func (c *change) is() string {
	if c.toLink() {
		return edit.Link
	}
	return fmt.Sprintf("%04o", c.mode())
}

// mode returns the permission bits that the file is to have.
func (c *change) mode() fs.FileMode {
	switch m, err := strconv.ParseUint(c.Mode, 8, 32); {
	case err == nil:
		return fs.FileMode(m)
	case c.info != nil && !c.link:
		return c.info.Mode().Perm()
	}
	return 0o644
}

// prepare reads the files that edits are about and checks that each can be made,
// at a moment when nothing is made that may be taken back.
func (w *Workspace) prepare(edits []edit.Intent) ([]*change, error) {
	w.writing.RLock()
	defer w.writing.RUnlock()
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
	return changes, w.attribute(changes)
}

func (w *Workspace) prepareOne(e edit.Intent) (*change, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	at, link, err := w.place(e)
	if err != nil {
		return nil, err
	}
	if at == "." {
		return nil, ErrIsDirectory
	}
	if link {
		return w.foundLink(e, at)
	}
	return w.found(e, at)
}

// place returns where e is to be made as a name of the system, and whether there is
// a link that it is about.
func (w *Workspace) place(e edit.Intent) (at string, link bool, err error) {
	if e.Remove || e.Links() {
		at, link = w.link(e.Path)
		if link || e.Links() && at != "" {
			return at, link, nil
		}
	}
	at, err = w.resolve(e.Path)
	return at, false, err
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
	if have != e.Base || e.Was == edit.Link {
		return nil, &StaleError{Path: c.path, Want: e.Base, Have: have}
	}
	return c, c.apply()
}

// apply works out what c comes to.
func (c *change) apply() (err error) {
	e := c.Intent
	if c.after, err = e.Apply(c.before); err != nil {
		return err
	}
	switch {
	case len(c.after) > MaxFile:
		return fmt.Errorf("%w: %d bytes, at most %d can be written", ErrTooLarge, len(c.after), MaxFile)
	case e.Result != "" && e.Result != edit.Digest(c.after):
		return fmt.Errorf("%w: the regions do not give the result", edit.ErrMismatch)
	case c.toLink() && (len(c.after) == 0 || len(c.after) > maxPath || bytes.IndexByte(c.after, 0) >= 0):
		return fmt.Errorf("%w: a link that leads nowhere", edit.ErrInvalid)
	}
	return nil
}

// foundLink returns the change that e is of the link at a name of the system.
func (w *Workspace) foundLink(e edit.Intent, at string) (*change, error) {
	info, err := w.root.Lstat(at)
	if err != nil {
		return nil, reason(err)
	}
	target, err := w.root.Readlink(at)
	if err != nil {
		return nil, reason(err)
	}
	c := &change{Intent: e, path: slash(at), at: at, info: info, before: []byte(target), link: true}
	switch have := edit.Digest(c.before); {
	case e.Was == edit.Link && have != e.Base, e.Base == "":
		return nil, &StaleError{Path: c.path, Want: e.Base, Have: have}
	case have != e.Base, e.Was != edit.Link && !e.Remove:
		return nil, fmt.Errorf("%w: it is a link", ErrNotRegular)
	}
	return c, c.apply()
}

// link returns the name of the system that path itself has, "" if that is outside,
// and reports whether it is a link.
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
	if err != nil {
		return filepath.Join(rel, last), false
	}
	return filepath.Join(rel, spelled(dir, last, info)), info.Mode()&fs.ModeSymlink != 0
}
