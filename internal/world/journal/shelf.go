package journal

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

// small is how much of an artifact is held in memory before it needs a file.
const small = 64 << 10

// diskShelf keeps artifacts in artifacts/ab/<digest>, each written once.
type diskShelf struct {
	session string

	mu    sync.Mutex
	loose map[string]bool // digests that are not on stable storage yet
}

func newDiskShelf(session string) *diskShelf {
	return &diskShelf{session: session, loose: map[string]bool{}}
}

func (s *diskShelf) dir() string { return filepath.Join(s.session, "artifacts") }

func (s *diskShelf) path(digest string) string { return filepath.Join(s.dir(), digest[:2], digest) }

func (s *diskShelf) open(digest string) (io.ReadSeekCloser, error) { return os.Open(s.path(digest)) }

func (s *diskShelf) sink() sink { return &diskSink{shelf: s} }

// sweep removes what was being written when an earlier life of the session
// ended.
func (s *diskShelf) sweep() error {
	names, err := filepath.Glob(filepath.Join(s.dir(), "tmp-*"))
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func (s *diskShelf) close() error { return s.sweep() }

// settle looks through the frames for handles rather than being told them, so
// that no event can be forgotten.
func (s *diskShelf) settle(frames []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.loose) > 0 {
		i := bytes.Index(frames, []byte(prefix))
		if i < 0 {
			break
		}
		frames = frames[i+len(prefix):]
		digest := string(frames[:min(digestLen, len(frames))])
		if !s.loose[digest] {
			continue
		}
		if err := s.sync(digest); err != nil {
			return err
		}
		delete(s.loose, digest)
	}
	return nil
}

// sync puts one artifact and the names that lead to it on stable storage.
func (s *diskShelf) sync(digest string) error {
	name := s.path(digest)
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	if err := errors.Join(syncData(f), f.Close()); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(name), s.dir(), s.session} {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// diskSink writes to memory first: most artifacts are small, and many are there
// already.
type diskSink struct {
	shelf *diskShelf
	head  bytes.Buffer // until there is a file
	f     *os.File
	n     int64
}

func (s *diskSink) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	if s.f == nil && s.n <= small {
		return s.head.Write(p)
	}
	if err := s.spill(); err != nil {
		return 0, err
	}
	return s.f.Write(p)
}

// spill moves what is in memory to a file.
func (s *diskSink) spill() error {
	if s.f != nil {
		return nil
	}
	if err := os.MkdirAll(s.shelf.dir(), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.shelf.dir(), "tmp-*")
	if err != nil {
		return err
	}
	s.f = f
	_, err = f.Write(s.head.Bytes())
	s.head = bytes.Buffer{}
	return err
}

func (s *diskSink) keep(digest string, as care) error {
	name := s.shelf.path(digest)
	info, err := os.Lstat(name)
	if err == nil && info.Mode().IsRegular() && info.Size() == s.n { // a crash can leave a shorter one
		s.drop()
	} else if err := s.place(name); err != nil {
		return err
	}
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	if as == pinned {
		delete(s.shelf.loose, digest)
		return s.shelf.sync(digest)
	}
	s.shelf.loose[digest] = true // also one that was there: who knows how safe it is
	return nil
}

// place gives the file its name for good.
func (s *diskSink) place(name string) error {
	if err := s.spill(); err != nil {
		return err
	}
	if err := s.f.Chmod(0o400); err != nil {
		return err
	}
	err := s.f.Close()
	if err != nil {
		return err
	}
	failpoint.Hit("artifact before link")
	err = os.Rename(s.f.Name(), name)
	if errors.Is(err, fs.ErrNotExist) { // the first one under these two digits
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = os.Rename(s.f.Name(), name)
		}
	}
	failpoint.Hit("artifact linked")
	return err
}

func (s *diskSink) drop() {
	s.head = bytes.Buffer{}
	if s.f != nil {
		s.f.Close()
		os.Remove(s.f.Name()) // what stays behind is swept at the next Open
	}
}
