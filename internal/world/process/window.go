package process

import (
	"io"
	"sync"
)

// A window is what is kept of a command's output while it comes, and who else
// gets it. It takes any length in bounded memory.
type window struct {
	mu   sync.Mutex
	to   io.Writer // nil once it has failed, or was let go
	all  ends
	errs ends // what of that was stderr
}

func newWindow(c Command) *window {
	return &window{to: c.Output, all: ends{keep: c.Keep}, errs: ends{keep: c.Keep}}
}

// take adds b. It returns once b was handed on.
func (w *window) take(b []byte, fromErr bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.write(b)
	if fromErr {
		w.errs.write(b)
	}
	if w.to != nil {
		if _, err := w.to.Write(b); err != nil {
			w.to = nil
		}
	}
}

// letGo hands nothing on from now on.
func (w *window) letGo() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = nil
}

// into sets what e has of the output.
func (w *window) into(e *Exit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.Head, e.Tail, e.Dropped = w.all.parts()
	e.Err.Head, e.Err.Tail, e.Err.Dropped = w.errs.parts()
}

// read returns at most so many bytes that follow the first from of the output,
// or the next that are still kept, and how many come before them.
func (w *window) read(from int64, most int) (b []byte, at, total int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	head, tail, dropped := w.all.parts()
	from = max(0, min(from, w.all.total))
	start := int64(len(head)) + dropped // of the tail
	switch {
	case from < int64(len(head)):
		b = head[from:]
	case from < start:
		from, b = start, tail
	default:
		b = tail[from-start:]
	}
	b = b[:min(len(b), most)]
	return append([]byte(nil), b...), from, w.all.total
}

// ends keeps the first and the last bytes of a stream in bounded memory.
type ends struct {
	keep  int // of each
	head  []byte
	ring  []byte
	at    int // in a full ring, where its oldest byte is
	total int64
}

func (e *ends) write(b []byte) {
	e.total += int64(len(b))
	if n := min(len(b), e.keep-len(e.head)); n > 0 {
		e.head = append(e.head, b[:n]...)
		b = b[n:]
	}
	if over := len(b) - e.keep; over > 0 {
		b = b[over:]
	}
	if n := min(len(b), e.keep-len(e.ring)); n > 0 {
		e.ring = append(e.ring, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(e.ring[e.at:], b)
		e.at = (e.at + n) % e.keep
		b = b[n:]
	}
}

// parts returns the first and the last bytes, and how many are between them.
func (e *ends) parts() (head, tail []byte, dropped int64) {
	if len(e.ring) > 0 {
		tail = append(append(tail, e.ring[e.at:]...), e.ring[:e.at]...)
	}
	return e.head, tail, e.total - int64(len(e.head)) - int64(len(tail))
}
