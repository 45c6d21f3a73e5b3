// Package journal keeps a session's events and artifacts: on disk, or in memory
// where no directory can be written.
//
// A session is a directory with one writer at a time. Its log is a sequence of
// frames, one event each, that is only ever appended to; docs/journal.md has the
// format, what is synced when, and what is repaired. All that is stored has gone
// through the Redactor first, and what Append returns is what a later Since
// yields: nobody ever works with an event that differs from the one on disk.
package journal

import (
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A Redactor replaces secrets in all that is stored.
type Redactor interface {
	// Bytes gets one encoded event; the result is still JSON. A value under
	// the key "raw" is kept or, if it holds a secret, becomes null.
	Bytes(json []byte) []byte

	// Writer passes on to w what it gets, across chunk borders. Its Close
	// passes on the rest and leaves w open.
	Writer(w io.Writer) io.WriteCloser
}

// Options are how a journal is kept. The zero Options redact nothing.
type Options struct {
	Redactor Redactor
	Now      func() time.Time // nil is time.Now

	segment int64 // bytes of a log file after which the next begins
}

// A Journal is an append-only list of events, and the artifacts they name. Its
// methods may be called at the same time.
type Journal struct {
	redact Redactor
	now    func() time.Time
	shelf  shelf

	mu     sync.Mutex // guards the rest: one Append at a time
	log    log
	last   position
	failed error // why nothing can be appended any more
}

// A log keeps frames. Once append or roll has returned an error it is not used
// any more, but to close it.
type log interface {
	append(frames []byte, durable bool) error
	roll() (bool, error) // begins a new file if it is time to
	frames() iter.Seq2[frame, error]
	close() error
}

// Open locks the session in dir, which it creates if need be, reads what is
// there and cuts off a torn last record, of which it keeps a copy. Errors:
// *Locked, *Corrupt, *event.Newer.
func Open(dir string, r Redactor) (*Journal, error) {
	return Options{Redactor: r}.Open(dir)
}

// Memory returns a journal that is gone when the program ends. It keeps 64 MiB
// of artifacts and forgets the oldest beyond that.
func Memory(r Redactor) *Journal { return Options{Redactor: r}.Memory() }

// Memory is the function Memory with these options.
func (o Options) Memory() *Journal {
	j := o.journal()
	j.shelf = newMemoryShelf(artifactLimit)
	j.log = &memoryLog{}
	j.last = newPosition()
	j.last.epoch = 1
	return j
}

func (o Options) journal() *Journal {
	j := &Journal{redact: o.Redactor, now: o.Now}
	if j.redact == nil {
		j.redact = plain{}
	}
	if j.now == nil {
		j.now = time.Now
	}
	return j
}

// Append numbers and stamps the events, and returns them as they stand on disk,
// in order, followed by records of the journal's own, as event.Opaque, if it
// made any. They are on stable storage unless each of bodies may wait. Time
// never goes back from one event to the next, whatever the clock does.
//
// A body that cannot be encoded is an error that leaves the journal as it was.
// An error of the disk is a *Failed, which every later Append returns again: a
// sync that failed once says nothing when it succeeds later.
func (j *Journal) Append(bodies ...event.Body) ([]event.Event, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return nil, j.failed
	}
	drafts := make([]draft, 0, len(bodies)+1)
	durable := false
	for _, b := range bodies {
		d, err := j.draft(b)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
		durable = durable || !b.Waits()
	}
	if n, ok := note(drafts, j.last.seq); ok {
		drafts = append(drafts, n)
	}
	return j.commit(drafts, durable)
}

// commit writes drafts as one piece, then the records that have come due.
func (j *Journal) commit(drafts []draft, durable bool) ([]event.Event, error) {
	now := event.Stamp(j.now())
	var events []event.Event
	var frames []byte
	add := func(d draft) error {
		e, err := j.last.add(&frames, d, now)
		events = append(events, e)
		return err
	}
	for _, d := range drafts {
		if err := add(d); err != nil {
			return nil, j.fail(err)
		}
	}
	if j.last.unchained >= chainEvery {
		if err := add(j.last.chain()); err != nil {
			return nil, j.fail(err)
		}
	}
	if err := j.write(frames, durable); err != nil {
		return nil, j.fail(err)
	}
	rolled, err := j.log.roll()
	if err != nil {
		return nil, j.fail(err)
	}
	if rolled { // a file begins with what all before it add up to
		frames = frames[:0]
		if err := add(j.last.chain()); err != nil {
			return nil, j.fail(err)
		}
		if err := j.write(frames, true); err != nil {
			return nil, j.fail(err)
		}
	}
	return events, nil
}

func (j *Journal) write(frames []byte, durable bool) error {
	if durable {
		if err := j.shelf.settle(frames); err != nil {
			return err
		}
	}
	return j.log.append(frames, durable)
}

func (j *Journal) fail(err error) error {
	j.failed = &Failed{Err: err}
	return j.failed
}

// Since yields the events after seq that were there when the iteration began,
// in order, and ends at the first error.
func (j *Journal) Since(seq int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		j.mu.Lock()
		last := j.last.seq
		j.mu.Unlock()
		if seq >= last {
			return
		}
		for f, err := range j.log.frames() {
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if f.Seq <= seq {
				continue
			}
			e, err := restore(f.Record, j.shelf)
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if !yield(e, nil) || f.Seq == last {
				return
			}
		}
	}
}

// Close ends the log with a record of what it adds up to and gives the session
// free. Nothing can be appended after it.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == errClosed {
		return nil
	}
	var errs []error
	if j.failed == nil && j.last.unchained > 0 {
		_, err := j.commit([]draft{j.last.chain()}, true)
		errs = append(errs, err)
	}
	errs = append(errs, j.shelf.close(), j.log.close())
	j.failed = errClosed
	return firstOf(errs)
}

func firstOf(errs []error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// plain is the Redactor that redacts nothing.
type plain struct{}

func (plain) Bytes(json []byte) []byte          { return json }
func (plain) Writer(w io.Writer) io.WriteCloser { return unclosed{w} }

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
