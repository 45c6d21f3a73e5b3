package journal

import (
	"bytes"
	"io"
	"io/fs"
	"iter"
	"slices"
	"sync"
)

// memoryLog is a log that ends with the program.
type memoryLog struct {
	mu    sync.Mutex
	lines [][]byte
}

func (l *memoryLog) append(frames []byte, _ joint, _ need) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(frames) > 0 {
		n := frameLen(frames)
		l.lines = append(l.lines, bytes.Clone(frames[:n]))
		frames = frames[n:]
	}
	return nil
}

func (l *memoryLog) frames(after int64) iter.Seq2[frame, error] {
	l.mu.Lock()
	lines := slices.Clip(l.lines) // what is appended meanwhile goes elsewhere
	l.mu.Unlock()
	lines = lines[min(max(int(after), 0), len(lines)):]
	return func(yield func(frame, error) bool) {
		for _, raw := range lines {
			f, why := parseFrame(raw)
			if why != "" {
				panic("journal: a frame in memory changed: " + why)
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

func (l *memoryLog) roll() (bool, error) { return false, nil }

func (l *memoryLog) close() error { return nil }

// memoryShelf keeps artifacts up to a limit. What is pinned counts, but stays.
type memoryShelf struct {
	mu    sync.Mutex
	kept  map[string]stored
	order []string // of what may be forgotten, oldest first
	size  int
	limit int
}

type stored struct {
	bytes  []byte
	pinned bool
}

func newMemoryShelf(limit int) *memoryShelf {
	return &memoryShelf{kept: map[string]stored{}, limit: limit}
}

func (s *memoryShelf) sink() sink { return &memorySink{shelf: s} }

func (s *memoryShelf) open(digest string) (io.ReadSeekCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.kept[digest]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{bytes.NewReader(a.bytes)}, nil
}

func (s *memoryShelf) settle([]byte) error { return nil }

func (s *memoryShelf) close() error { return nil }

func (s *memoryShelf) keep(digest string, b []byte, as care) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.kept[digest]
	s.order = slices.DeleteFunc(s.order, func(d string) bool { return d == digest })
	if !known {
		s.size += len(b)
	}
	s.kept[digest] = stored{bytes: b, pinned: as == pinned || old.pinned}
	if !s.kept[digest].pinned {
		s.order = append(s.order, digest)
	}
	for s.size > s.limit && len(s.order) > 0 {
		s.size -= len(s.kept[s.order[0]].bytes)
		delete(s.kept, s.order[0])
		s.order = s.order[1:]
	}
}

type memorySink struct {
	bytes.Buffer
	shelf *memoryShelf
}

func (s *memorySink) keep(digest string, as care) error {
	s.shelf.keep(digest, s.Bytes(), as)
	return nil
}

func (s *memorySink) drop() { s.Buffer = bytes.Buffer{} }

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
