package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A file is read in chunks that become larger as it turns out to be long.
const (
	firstChunk = 8 << 10
	lastChunk  = 256 << 10
)

// A scanner cuts a file into what look like frames, where they lie in its
// memory.
type scanner struct {
	r     io.ReaderAt
	at    int64  // in the file, of what comes next
	buf   []byte // what was read of it
	mem   []byte // in which buf lies
	ended bool   // the file has no more than buf
}

// next returns the bytes up to where the frame that begins here should end. They
// are no frame if none begins here or the file ends too early; io.EOF says that
// it ended before them. They stay until the next call.
func (s *scanner) next() ([]byte, error) {
	if err := s.fill(headLen); err != nil {
		return nil, err
	}
	if len(s.buf) == 0 {
		return nil, io.EOF
	}
	if len(s.buf) < headLen {
		return s.buf, nil
	}
	n := frameLen(s.buf)
	if n == 0 {
		return s.buf[:headLen], nil
	}
	if err := s.fill(n); err != nil {
		return nil, err
	}
	return s.buf[:min(n, len(s.buf))], nil
}

// pass moves on by n bytes of what next returned.
func (s *scanner) pass(n int) {
	s.at += int64(n)
	s.buf = s.buf[n:]
}

// fill reads until n bytes are there, or the file ends.
func (s *scanner) fill(n int) error {
	if len(s.buf) >= n || s.ended {
		return nil
	}
	if len(s.mem) < max(n, lastChunk) {
		s.mem = make([]byte, max(2*n, min(max(4*len(s.mem), firstChunk), lastChunk)))
	}
	have := copy(s.mem, s.buf)
	more, err := s.r.ReadAt(s.mem[have:], s.at+int64(have))
	s.buf = s.mem[:have+more]
	if errors.Is(err, io.EOF) {
		s.ended, err = true, nil
	}
	return err
}

// readFrom returns f from offset at on, without the zeros at the end.
func readFrom(f io.ReaderAt, at int64) ([]byte, error) {
	const limit = 2 * segmentLimit
	end, err := written(f, at)
	if err != nil {
		return nil, err
	}
	if end-at > limit {
		return nil, fmt.Errorf("more than %d bytes after damage at byte %d", limit, at)
	}
	b := make([]byte, end-at)
	n, err := f.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// written returns the offset behind the last byte from at on that is not zero.
func written(f io.ReaderAt, at int64) (int64, error) {
	end := at
	b := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(b, at)
		if !allZero(b[:n]) {
			end = at + int64(len(bytes.TrimRight(b[:n], "\x00")))
		}
		at += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return end, nil
		case err != nil:
			return 0, err
		}
	}
}

func allZero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}
