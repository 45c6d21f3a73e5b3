package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/belay-agent/belay/internal/world/failpoint"
)

// small is how much of an artifact is held in memory before it needs a file.
const small = 64 << 10

// diskShelf keeps artifacts: short ones in packs, each of the others in a file
// artifacts/ab/<digest>. Each is written once.
type diskShelf struct {
	disk    disk
	session string

	mu    sync.Mutex
	packs packs
	loose map[string]bool // digests that are not on stable storage yet
	temps int             // files that were begun
}

func newDiskShelf(d disk, session string) *diskShelf {
	return &diskShelf{disk: d, session: session, packs: packs{disk: d, dir: session}, loose: map[string]bool{}}
}

func (s *diskShelf) dir() string { return filepath.Join(s.session, "artifacts") }

func (s *diskShelf) path(digest string) string { return filepath.Join(s.dir(), digest[:2], digest) }

func (s *diskShelf) open(digest string) (io.ReadSeekCloser, error) {
	f, err := s.disk.open(s.path(digest), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return s.unpack(digest)
	}
	if err != nil {
		return nil, err
	}
	n, err := f.size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return section{io.NewSectionReader(f, 0, n), f}, nil
}

type section struct {
	*io.SectionReader
	io.Closer
}

func (s *diskShelf) unpack(digest string) (io.ReadSeekCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.packs.get(digest)
	if err != nil {
		return nil, err
	}
	return memoryFile{bytes.NewReader(b)}, nil
}

func (s *diskShelf) sink() sink { return &diskSink{shelf: s} }

// sweep removes what was being written when an earlier life of the session
// ended, and returns its names.
func (s *diskShelf) sweep() ([]string, error) {
	left, err := leftovers(s.disk, s.session)
	for _, name := range left {
		err = errors.Join(err, s.disk.remove(filepath.Join(s.session, name)))
	}
	return left, err
}

// leftovers returns the names of files that were not finished.
func leftovers(d disk, session string) ([]string, error) {
	var left []string
	names, err := d.list(filepath.Join(session, "artifacts"))
	for _, name := range names {
		if strings.HasPrefix(name, "tmp-") {
			left = append(left, filepath.Join("artifacts", name))
		}
	}
	if err != nil {
		return nil, err
	}
	names, err = d.list(session)
	for _, name := range names {
		if strings.HasPrefix(name, "snapshot-") && strings.HasSuffix(name, ".tmp") {
			left = append(left, name)
		}
	}
	return left, err
}

func (s *diskShelf) close() error {
	_, err := s.sweep()
	return errors.Join(err, s.packs.close())
}

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
	}
	return nil
}

// sync puts one artifact and the names that lead to it on stable storage.
func (s *diskShelf) sync(digest string) error {
	if s.packs.has(digest) {
		if err := s.packs.sync(); err != nil {
			return err
		}
		delete(s.loose, digest)
		return nil
	}
	name := s.path(digest)
	f, err := s.disk.open(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.syncData(), f.Close()); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(name), s.dir(), s.session} {
		if err := s.disk.syncDir(dir); err != nil {
			return err
		}
	}
	delete(s.loose, digest)
	return nil
}

// temp begins a file that has no name of its own yet.
func (s *diskShelf) temp() (file, string, error) {
	if err := s.disk.mkdir(s.dir()); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	s.temps++
	name := filepath.Join(s.dir(), fmt.Sprintf("tmp-%d", s.temps))
	s.mu.Unlock()
	f, err := s.disk.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	return f, name, err
}

// diskSink writes to memory first: most artifacts are small, and many are there
// already.
type diskSink struct {
	shelf *diskShelf
	head  bytes.Buffer // until there is a file
	f     file
	name  string
	n     int64
}

func (s *diskSink) Write(p []byte) (int, error) {
	if s.f == nil && s.n+int64(len(p)) <= small {
		s.n += int64(len(p))
		return s.head.Write(p)
	}
	if err := s.spill(); err != nil {
		return 0, err
	}
	n, err := s.f.WriteAt(p, s.n)
	s.n += int64(n)
	return n, err
}

// spill moves what is in memory to a file.
func (s *diskSink) spill() error {
	if s.f != nil {
		return nil
	}
	f, name, err := s.shelf.temp()
	if err != nil {
		return err
	}
	s.f, s.name = f, name
	_, err = f.WriteAt(s.head.Bytes(), 0)
	s.head = bytes.Buffer{}
	return err
}

func (s *diskSink) keep(digest string, as care) error {
	short := s.f == nil && s.n <= packLimit
	there := !short && s.there(digest)
	if !short && !there {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	switch {
	case short:
		if err := s.shelf.packs.put(digest, s.head.Bytes()); err != nil {
			return err
		}
	case !there && !s.there(digest): // an equal one may have come meanwhile, and be in use
		if err := s.place(s.shelf.path(digest)); err != nil {
			return err
		}
	}
	if as == pinned {
		return s.shelf.sync(digest)
	}
	s.shelf.loose[digest] = true // also one that was there: who knows how safe it is
	return nil
}

// there reports whether the artifact has a file, and if so drops this one. A
// crash can leave one that is shorter, which does not count.
func (s *diskSink) there(digest string) bool {
	f, err := s.shelf.disk.open(s.shelf.path(digest), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	n, err := f.size()
	f.Close()
	if err != nil || n != s.n {
		return false
	}
	s.drop()
	return true
}

// place gives the file its name for good; no other has it.
func (s *diskSink) place(name string) error {
	err := s.f.Close()
	if err != nil {
		return err
	}
	d := s.shelf.disk
	failpoint.Hit("artifact before link")
	err = d.rename(s.name, name)
	if errors.Is(err, fs.ErrNotExist) { // the first one under these two digits
		if err = d.mkdir(filepath.Dir(name)); err == nil {
			err = d.rename(s.name, name)
		}
	}
	failpoint.Hit("artifact linked")
	return err
}

func (s *diskSink) drop() {
	s.head = bytes.Buffer{}
	if s.f != nil {
		s.f.Close()
		s.shelf.disk.remove(s.name) // what stays behind is swept at the next Open
	}
}
