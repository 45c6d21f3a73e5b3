package journal

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// torn is the unfinished end of a log, as a crash leaves it.
type torn struct {
	segment int
	offset  int64
	tail    []byte // without the zeros at its end
}

func (t *torn) Error() string {
	return fmt.Sprintf("%s is cut off at byte %d", segmentName(t.segment), t.offset)
}

// A joint is what a frame must know of the one before it.
type joint struct {
	seq int64
	crc uint32
}

// A mark is a place between two frames. The zero mark is the beginning.
type mark struct {
	joint   // what is before it
	segment int
	offset  int64
}

// walk yields the intact frames of the log in dir from a mark on, in order. At
// damage it yields a *Corrupt and, if the loop goes on, what is intact behind
// it. A torn end is the last thing it yields.
func walk(d disk, dir string, from mark) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		numbers, err := segments(d, dir)
		if err != nil {
			yield(frame{}, err)
			return
		}
		w := walker{disk: d, dir: dir, yield: yield, joint: from.joint}
		next := max(from.segment, 1)
		for i, number := range numbers {
			if number < from.segment {
				continue
			}
			if number != next {
				err := &Corrupt{Segment: segmentName(next), LastSeq: w.seq, Why: "the file is missing"}
				if w.gap = true; !yield(frame{}, err) {
					return
				}
			}
			next = number + 1
			at := int64(0)
			if number == from.segment {
				at = from.offset
			}
			if !w.segment(number, at, i == len(numbers)-1) {
				return
			}
		}
	}
}

func segmentName(n int) string { return fmt.Sprintf("log.%06d", n) }

// segments returns the numbers of the log's files in order.
func segments(d disk, dir string) ([]int, error) { return numbered(d, dir, "log.") }

// numbered returns the numbers of the files whose names are prefix and six
// digits.
func numbered(d disk, dir, prefix string) ([]int, error) {
	names, err := d.list(dir)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	var numbers []int
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, prefix)
		n, err := strconv.ParseUint(digits, 10, 31)
		if ok && err == nil && len(digits) == 6 {
			numbers = append(numbers, int(n))
		}
	}
	return numbers, nil
}

// A walker goes from frame to frame.
type walker struct {
	disk  disk
	dir   string
	yield func(frame, error) bool
	joint      // the last frame
	gap   bool // what comes next need not follow it
	mem   []byte
}

// segment yields the frames of one file and reports whether to go on.
func (w *walker) segment(number int, at int64, last bool) bool {
	f, err := w.disk.open(filepath.Join(w.dir, segmentName(number)), os.O_RDONLY, 0)
	if err != nil {
		return w.stop(fmt.Errorf("read session: %w", err))
	}
	defer f.Close()
	return w.scan(f, mark{segment: number, offset: at}, last)
}

func (w *walker) scan(file io.ReaderAt, from mark, last bool) bool {
	s := scanner{r: file, at: from.offset, mem: w.mem}
	defer func() { w.mem = s.mem }()
	for {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return w.stop(fmt.Errorf("read %s: %w", segmentName(from.segment), err))
		}
		f, why := parseFrame(raw)
		if why == "" {
			f.segment, f.offset = from.segment, s.at
			if !w.frame(f) {
				return false
			}
			s.pass(len(raw))
			continue
		}
		skip, more := w.damage(file, mark{segment: from.segment, offset: s.at}, why, last)
		if !more || skip < 0 {
			return more
		}
		s = scanner{r: file, at: s.at + int64(skip), mem: s.mem}
	}
}

// damage looks at what is behind a frame that is not intact. It returns how far
// the next one is, -1 if there is none, and whether to go on.
func (w *walker) damage(file io.ReaderAt, at mark, why string, last bool) (skip int, more bool) {
	rest, err := readFrom(file, at.offset)
	if err != nil {
		return -1, w.stop(fmt.Errorf("read %s: %w", segmentName(at.segment), err))
	}
	if len(rest) == 0 { // space that was set aside
		return -1, true
	}
	skip = nextFrame(rest)
	if skip == 0 { // a writer has finished it meanwhile
		return 0, true
	}
	if last && !w.wasSafe(rest) {
		return -1, w.stop(&torn{at.segment, at.offset, rest})
	}
	w.gap = true
	return skip, w.yield(frame{}, &Corrupt{Segment: segmentName(at.segment), Offset: at.offset, LastSeq: w.seq, Why: why})
}

// wasSafe reports whether an intact frame in rest says, or leaves it open, that
// the event now missing in front of it had been on stable storage. If none does,
// a power cut took that event, which nobody had been told was safe, and what is
// behind it is not either.
func (w *walker) wasSafe(rest []byte) bool {
	for {
		skip := nextFrame(rest)
		if skip < 0 {
			return false
		}
		n := frameLen(rest[skip:])
		f, why := parseFrame(rest[skip : skip+n])
		if why == "" && (f.Safe == 0 || f.Safe > w.seq+1) {
			return true
		}
		rest = rest[skip+n:]
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
	if why != "" {
		err := &Corrupt{Segment: segmentName(f.segment), Offset: f.offset, LastSeq: w.seq, Why: why}
		if !w.yield(frame{}, err) {
			return false
		}
	}
	w.joint, w.gap = joint{f.Seq, f.crc}, false
	return w.yield(f, nil)
}
