package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// ErrLost reports an image whose bytes are not those of its name any more.
var ErrLost = errors.New("its bytes were lost")

// Images keeps bytes by their digest in a directory, as they are: no secret is
// taken out of them, and nobody but the user can read them. It may be used by
// several goroutines.
type Images struct{ dir string }

// OpenImages returns what is kept in dir, which it makes if need be.
func OpenImages(dir string) (*Images, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open images: %w", err)
	}
	return &Images{dir}, nil
}

// Put keeps b and returns its digest. A crash leaves all of it or nothing; whether
// it survives a power cut is up to the system.
func (i *Images) Put(b []byte) (string, error) {
	digest := edit.Digest(b)
	path := filepath.Join(i.dir, digest)
	if _, err := i.Get(digest); err == nil {
		return digest, nil
	}
	if err := write(path, b, 0o400); err != nil {
		return "", fmt.Errorf("keep an image: %w", err)
	}
	return digest, nil
}

// Get returns the bytes of that digest. What is not there is fs.ErrNotExist, what
// is damaged ErrLost.
func (i *Images) Get(digest string) ([]byte, error) {
	if filepath.Base(digest) != digest {
		return nil, fmt.Errorf("read image %q: %w", digest, fs.ErrInvalid)
	}
	b, err := os.ReadFile(filepath.Join(i.dir, digest))
	if err != nil {
		return nil, fmt.Errorf("read image: %w", err)
	}
	if edit.Digest(b) != digest {
		return nil, fmt.Errorf("read image %s: %w", digest, ErrLost)
	}
	return b, nil
}

// write puts b at path in one step.
func write(path string, b []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // else the next Open does
		}
	}()
	_, err = f.Write(b)
	if err := errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// temporary begins the names of files that are being written.
const temporary = "writing-"
