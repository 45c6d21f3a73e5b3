package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Images are the bytes of files as they were before and after each change, each
// in a file named by its digest. They are what a change can be taken back with.
type images struct{ root *os.Root }

// halfImage begins the name of an image that is not complete.
const halfImage = ".half-"

// openImages opens the directory of images, which it makes if need be, and
// removes what a crash has left half-written.
func openImages(dir string) (*images, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, reason(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, reason(err)
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), halfImage) {
			err = errors.Join(err, root.Remove(e.Name()))
		}
	}
	if err != nil {
		_ = root.Close()
		return nil, reason(err)
	}
	return &images{root}, nil
}

// put keeps raw, unless it is kept. It is on disk after the next sync.
func (s *images) put(digest string, raw []byte) error {
	if _, err := s.root.Lstat(digest); err == nil {
		return nil
	}
	half := halfImage + rand.Text()
	f, err := s.root.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return reason(err)
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.root.Rename(half, digest)
	}
	if err != nil {
		_ = s.root.Remove(half)
	}
	return reason(err)
}

// sync puts the names of the images on disk.
func (s *images) sync() error {
	d, err := s.root.Open(".")
	if err != nil {
		return reason(err)
	}
	return errors.Join(syncDir(d), d.Close())
}

// keep keeps what the changes are about to replace and what they put there. It
// does nothing without a directory for that.
func (w *Workspace) keep(changes []*change) error {
	if w.images == nil {
		return nil
	}
	some := false
	for _, c := range changes {
		var err error
		if c.same() {
			continue
		}
		if c.info != nil {
			err = w.images.put(c.Base, c.before)
		}
		if was := c.wasAttrs(); err == nil && was != "" {
			err = w.images.put(was, []byte(c.had))
		}
		if err == nil && c.has != "" {
			err = w.images.put(c.Attrs, []byte(c.has))
		}
		if err == nil && !c.Remove {
			err = w.images.put(edit.Digest(c.after), c.after)
		}
		if err != nil {
			return fmt.Errorf("keep an image of %s: %w", c.path, ownFault(err))
		}
		some = true
	}
	if !some {
		return nil
	}
	if err := w.images.sync(); err != nil {
		return fmt.Errorf("keep images: %w", ownFault(err))
	}
	return nil
}

// ownFault makes err one that is not taken for the lack of the file that is changed.
func ownFault(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New(err.Error())
	}
	return err
}

// Image returns the bytes of a file that a Write replaced or put there, by their
// digest. It is fs.ErrNotExist if none are kept, and edit.ErrMismatch if what is
// kept is damaged.
func (w *Workspace) Image(digest string) ([]byte, error) {
	if w.images == nil || len(digest) == 0 || strings.Trim(digest, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("image %s: %w", digest, fs.ErrNotExist)
	}
	f, info, err := open(w.images.root, digest)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", digest, err)
	}
	defer f.Close()
	raw, err := slurp(f, info.Size())
	if err == nil && edit.Digest(raw) != digest {
		err = edit.ErrMismatch
	}
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", digest, err)
	}
	return raw, nil
}
