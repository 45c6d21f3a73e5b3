package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

// A folder is a directory held open, so that its files can be exchanged by name
// wherever it is moved.
type folder struct {
	name string // from the workspace's root
	root *os.Root
	dir  *os.File // the same, for what os.Root cannot do

	replaced *watch // what was discarded; nil for a folder that replaces nothing
}

func openFolder(root *os.Root, name string) (*folder, error) {
	r, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	dir, err := r.Open(".")
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &folder{name: name, root: r, dir: dir}, nil
}

func (f *folder) close() {
	_ = f.dir.Close()
	_ = f.root.Close()
}

// path returns the canonical path of a file of the folder.
func (f *folder) path(name string) string { return slash(filepath.Join(f.name, name)) }

// Temp returns a name that nothing has. It is hidden from Files.
func Temp() string { return tempPrefix + rand.Text() }

const tempPrefix = ".belay-"

// tempOf is the name of the temporary file of change n of a Write.
func tempOf(temp string, n int) string {
	if n == 0 {
		return temp
	}
	return fmt.Sprintf("%s-%d", temp, n)
}

// asideOf is where exchangeSteps has the old file between its steps.
func asideOf(temp string) string { return temp + "~" }

// create writes the bytes that c is to have to a new file, on disk, with the
// attributes of the file that it will replace.
func (f *folder) create(temp string, c *change) (fs.FileInfo, error) {
	if c.toLink() {
		if err := f.root.Symlink(string(c.after), temp); err != nil {
			return nil, err
		}
		return f.root.Lstat(temp)
	}
	mode := fs.FileMode(0o644)
	if c.info != nil || c.has != "" {
		mode = 0o600 // nobody else may look before it has the right owner
	}
	failpoint.Hit("workspace before temp")
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	failpoint.Hit("workspace temp created")
	_, err = file.Write(c.after)
	if err == nil && c.info != nil && !c.link {
		keepAttributes(file, f.root, filepath.Base(c.at), c.info)
	}
	if err == nil && c.has != "" {
		setAttributes(file, c.has)
	}
	if err == nil && (c.info != nil || c.Mode != "" || c.has != "") {
		err = file.Chmod(c.mode() | special(file, c))
	}
	if err == nil {
		err = file.Sync()
	}
	var info fs.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = f.root.Remove(temp)
		return nil, err
	}
	failpoint.Hit("workspace temp written")
	return info, nil
}

// special returns the set-id and sticky bits that the new file may have: those
// of the old one, if it has the same owner and group.
func special(file *os.File, c *change) fs.FileMode {
	info, err := file.Stat()
	if err != nil || c.info == nil || c.link || !sameOwner(info, c.info) {
		return 0
	}
	return c.info.Mode() & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// exchangeSteps is exchange for systems that cannot do it in one step: target
// is never without a file, but what another writer puts there between the first
// two steps is lost.
func (f *folder) exchangeSteps(temp, target string) error {
	keep := asideOf(temp)
	back := func() error { return f.root.Remove(keep) }
	if err := f.root.Link(target, keep); err != nil {
		back = func() error { return f.root.Rename(keep, target) }
		if err := f.root.Rename(target, keep); err != nil {
			return err
		}
	}
	if err := f.root.Rename(temp, target); err != nil {
		return errors.Join(err, back())
	}
	return f.root.Rename(keep, temp)
}

// placeSteps is place for systems that cannot do it in one step. Where there
// are no hard links, what another writer puts at the new name meanwhile is lost.
func (f *folder) placeSteps(from, to string) error {
	err := f.root.Link(from, to)
	switch {
	case err == nil:
		return f.root.Remove(from)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := f.root.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return f.root.Rename(from, to)
}
