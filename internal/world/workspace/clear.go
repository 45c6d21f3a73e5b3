package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Clear removes what a WriteAs of edits that was cut off by a crash has left
// beside the files. Of several changes those that were made are taken back
// first, unless all were, or someone has changed one of the files since. And what
// someone saved in the moment of a change, which only shows when it is made,
// goes back to its place. ErrStale reports a file whose bytes may be nowhere
// else, and where it is.
func (w *Workspace) Clear(temp string, edits []edit.Intent) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if len(edits) > 1 {
		if err := w.takeBack(temp, edits); err != nil {
			return err
		}
	}
	for n, e := range edits {
		if err := w.clear(tempOf(temp, n), e); err != nil {
			return fmt.Errorf("clear what a change of %s left: %w", e.Path, reason(err))
		}
	}
	return nil
}

func (w *Workspace) clear(temp string, e edit.Intent) error {
	at, _, err := w.place(e)
	if err != nil {
		return err
	}
	f, err := openFolder(w.root, filepath.Dir(at))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nor was the directory made
	}
	if err != nil {
		return err
	}
	defer f.close()
	name := filepath.Base(at)
	if _, err := f.root.Lstat(name); errors.Is(err, fs.ErrNotExist) && e.Base != "" && !e.Remove {
		// Between the steps of an exchange that takes two, without hard links.
		if err := f.place(asideOf(temp), name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, left := range []string{temp, asideOf(temp)} {
		if err := f.clear(left, name, e); err != nil {
			return err
		}
	}
	return syncDir(f.dir)
}

// clear removes left, unless it may hold what someone else has saved as name.
func (f *folder) clear(left, name string, e edit.Intent) error {
	have, err := f.either(left, e)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case have == e.Base, have == e.Result, e.Base == "": // what creates a file replaces none
		return f.root.Remove(left)
	}
	target, err := f.either(name, e)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case target == e.Base: // nothing was exchanged yet: left is half of what was to be written
		return f.root.Remove(left)
	case target == e.Result && e.Result != "":
		return f.giveBack(left, name, e)
	}
	return fmt.Errorf("%w: bytes that may be nowhere else are in %s", ErrStale, f.path(left))
}

// either returns the digest of a file or, if e may be about one, of a link.
func (f *folder) either(name string, e edit.Intent) (string, error) {
	have, err := f.digest(name)
	if errors.Is(err, ErrNotRegular) && (e.Remove || e.Links()) {
		return f.target(name)
	}
	return have, err
}

// giveBack puts left where name is, which holds what e made, and removes that;
// unless someone saves once more at this very moment.
func (f *folder) giveBack(left, name string, e edit.Intent) error {
	if err := f.exchange(left, name); err != nil {
		return err
	}
	if have, err := f.either(left, e); err == nil && have == e.Result {
		return f.root.Remove(left)
	}
	return fmt.Errorf("%w: bytes that may be nowhere else are in %s", ErrStale, f.path(left))
}
