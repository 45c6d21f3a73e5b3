package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A half is one edit of several, as a crash left it.
type half struct {
	edit.Intent
	folder     *folder
	name, left string // the file, and what lies beside it
}

// takeBack undoes those of edits that were made, if a crash came before the last
// of them, so that all or none are. It does nothing where a file is neither as it
// was nor as it should have become, or where what it needs is not there.
func (w *Workspace) takeBack(temp string, edits []edit.Intent) error {
	var made []half
	waiting := 0
	for n, e := range edits {
		if e.Base == e.Result {
			continue // of its permissions alone: they cannot tell
		}
		h, err := w.half(tempOf(temp, n), e)
		if err != nil || h.folder == nil {
			return err
		}
		defer h.folder.close()
		switch have, err := h.holds(h.name); {
		case err != nil:
			return err
		case have == e.Base:
			waiting++
		case have == e.Result && h.can():
			made = append(made, h)
		default:
			return nil
		}
	}
	if waiting == 0 {
		return nil
	}
	for _, h := range slices.Backward(made) {
		if err := h.takeBack(); err != nil {
			return fmt.Errorf("take back a change of %s that a crash left half done: %w", h.Path, reason(err))
		}
	}
	return nil
}

// half finds the file of e. Its folder is nil if there is none.
func (w *Workspace) half(left string, e edit.Intent) (half, error) {
	at, _, err := w.place(e)
	if err != nil {
		return half{}, err
	}
	f, err := openFolder(w.root, filepath.Dir(at))
	if errors.Is(err, fs.ErrNotExist) {
		return half{}, nil
	}
	return half{e, f, filepath.Base(at), left}, err
}

// holds returns the digest of a file of the folder, "" if there is none.
func (h half) holds(name string) (string, error) {
	have, err := h.folder.either(name, h.Intent)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return have, err
}

// can reports whether what was replaced, if anything was, is still beside the
// file.
func (h half) can() bool {
	have, err := h.holds(h.left)
	return err == nil && (have == h.Base || h.Base == "" && have == h.Result)
}

// takeBack undoes one edit. What was made for it is then what is left.
func (h half) takeBack() error {
	switch {
	case h.Base == "":
		err := h.folder.place(h.name, h.left)
		if errors.Is(err, fs.ErrExist) { // made in two steps, by a link
			err = h.folder.root.Remove(h.name)
		}
		return errors.Join(err, syncDir(h.folder.dir))
	case h.Remove:
		return errors.Join(h.folder.place(h.left, h.name), syncDir(h.folder.dir))
	}
	if err := h.folder.exchange(h.left, h.name); err != nil {
		return err
	}
	if have, err := h.holds(h.left); err != nil || have != h.Result { // saved at this very moment
		return errors.Join(ErrStale, err, h.folder.exchange(h.left, h.name))
	}
	return syncDir(h.folder.dir)
}
