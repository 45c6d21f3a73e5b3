package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// torn is the unfinished end of a log, as a crash leaves it.
type torn struct {
	segment string
	offset  int64
	tail    []byte // without the zeros at its end
}

func (t *torn) Error() string {
	return fmt.Sprintf("%s is cut off at byte %d", t.segment, t.offset)
}

// walk yields the intact frames of the log in dir, in order. At damage it yields
// a *Corrupt and, if the loop goes on, what is intact behind it. A torn end is
// the last thing it yields.
func walk(dir string) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		names, err := segments(dir)
		if err != nil {
			yield(frame{}, err)
			return
		}
		w := walker{yield: yield}
		next := 1
		for i, name := range names {
			number := numberOf(name)
			if number != next {
				err := &Corrupt{Segment: segmentName(next), LastSeq: w.seq, Why: "the file is missing"}
				if w.gap = true; !yield(frame{}, err) {
					return
				}
			}
			next = number + 1
			if !w.segment(dir, name, i == len(names)-1) {
				return
			}
		}
	}
}

func segmentName(n int) string { return fmt.Sprintf("log.%06d", n) }

func numberOf(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "log."))
	if err != nil {
		panic("journal: " + err.Error()) // segments looks only for digits
	}
	return n
}

// segments returns the names of the log's files in order.
func segments(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	var names []string
	for _, e := range entries {
		if ok, _ := filepath.Match("log.[0-9][0-9][0-9][0-9][0-9][0-9]", e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// A walker goes from frame to frame.
type walker struct {
	yield func(frame, error) bool
	seq   int64  // of the last frame
	crc   uint32 // of the last frame
	gap   bool   // what comes next need not follow the last frame
}

// segment yields the frames of one file and reports whether to go on.
func (w *walker) segment(dir, name string, last bool) bool {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return w.stop(fmt.Errorf("read session: %w", err))
	}
	defer f.Close()
	return w.scan(f, name, last)
}

func (w *walker) scan(file io.ReaderAt, name string, last bool) bool {
	s := scanner{r: bufio.NewReaderSize(io.NewSectionReader(file, 0, math.MaxInt64), 64<<10)}
	for {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return w.stop(fmt.Errorf("read %s: %w", name, err))
		}
		at := s.at - int64(len(raw))
		f, why := parseFrame(raw)
		if why == "" {
			f.segment, f.offset = name, at
			if !w.frame(f) {
				return false
			}
			continue
		}
		rest, err := readFrom(file, at)
		if err != nil {
			return w.stop(fmt.Errorf("read %s: %w", name, err))
		}
		if len(rest) == 0 { // space that was set aside
			return true
		}
		skip := nextFrame(rest)
		if skip < 0 && last {
			return w.stop(&torn{name, at, rest})
		}
		if skip != 0 { // at 0 a writer has finished it meanwhile
			w.gap = true
			if !w.yield(frame{}, &Corrupt{Segment: name, Offset: at, LastSeq: w.seq, Why: why}) {
				return false
			}
		}
		if skip < 0 {
			return true
		}
		s = scanner{r: bufio.NewReader(bytes.NewReader(rest[skip:])), at: at + int64(skip)}
	}
}

// stop yields what ends the walk.
func (w *walker) stop(err error) bool {
	w.yield(frame{}, err)
	return false
}

// frame yields f if it follows the frame before, or else a *Corrupt first.
func (w *walker) frame(f frame) bool {
	why := ""
	switch {
	case w.gap:
	case f.prev != w.crc:
		why = "it does not follow the record before"
	case f.Seq != w.seq+1:
		why = fmt.Sprintf("event %d is where %d should be", f.Seq, w.seq+1)
	}
	if why != "" && !w.yield(frame{}, &Corrupt{Segment: f.segment, Offset: f.offset, LastSeq: w.seq, Why: why}) {
		return false
	}
	w.seq, w.crc, w.gap = f.Seq, f.crc, false
	return w.yield(f, nil)
}

// readFrom returns f from offset at on, without zeros at the end.
func readFrom(f io.ReaderAt, at int64) ([]byte, error) {
	const limit = 2 * segmentLimit
	b, err := io.ReadAll(io.NewSectionReader(f, at, limit))
	if err == nil && len(b) == limit {
		err = fmt.Errorf("more than %d bytes after damage at byte %d", limit, at)
	}
	return bytes.TrimRight(b, "\x00"), err
}

// A scanner cuts a stream into what look like frames.
type scanner struct {
	r   *bufio.Reader
	at  int64 // behind what next returned last
	buf []byte
}

// next returns the bytes up to where the frame that begins here should end. They
// are no frame if none begins here or the stream ends too early; io.EOF says
// that it ended before them.
func (s *scanner) next() ([]byte, error) {
	head, err := s.take(0, headLen)
	if err != nil || len(head) < headLen {
		return head, err
	}
	n := frameLen(head)
	if n == 0 {
		return head, nil
	}
	return s.take(headLen, n)
}

// take fills buf from start to end, or as far as the stream goes.
func (s *scanner) take(start, end int) ([]byte, error) {
	if cap(s.buf) < end {
		s.buf = append(make([]byte, 0, max(2*end, 4<<10)), s.buf[:start]...)
	}
	n, err := io.ReadFull(s.r, s.buf[start:end])
	s.at += int64(n)
	s.buf = s.buf[:start+n]
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && start > 0 {
		err = nil
	}
	return s.buf, err
}
