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
	"errors"
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

	// Rescue is a directory, best on another disk, for what the log can no
	// longer take: each *Failed names the file in it. "" is none.
	Rescue string

	segment int64 // bytes of a log file after which the next begins
	disk    disk  // nil is the system's
}

// A Journal is an append-only list of events, and the artifacts they name. Its
// methods may be called at the same time.
type Journal struct {
	dir    string // "" in memory
	redact Redactor
	now    func() time.Time
	shelf  shelf
	rescue rescue

	repairs []string // what Open did to a session that was cut

	mu     sync.Mutex // guards the rest: one Append at a time
	log    log
	last   position
	begun  bool  // something was appended in this life
	failed error // why nothing can be appended any more
	lost   int64 // events that were not, since
}

// A log keeps frames. Once append or roll has returned an error other than a
// *Full it is not used any more, but to close it.
type log interface {
	append(frames []byte, before joint, as need) error
	roll() (bool, error)                        // begins a new file if it is time to
	frames(after int64) iter.Seq2[frame, error] // from somewhere at or before what follows that event
	close() error
}

// A need is what frames are to a log.
type need struct {
	durable bool // on stable storage before append returns
	result  bool // of something that has happened: they may use the last room there is
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
	j := &Journal{redact: o.Redactor, now: o.Now, rescue: rescue{dir: o.Rescue}}
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
// A body that cannot be encoded is an error that leaves the journal as it was,
// and so is a *Full, unless all of bodies say how something ended: for those
// there is room kept. Any other error of the disk is a *Failed, which every
// later Append returns again: a sync that failed once says nothing when it
// succeeds later. What could not be appended is then in a file that it names.
func (j *Journal) Append(bodies ...event.Body) ([]event.Event, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == errClosed {
		return nil, j.failed
	}
	as := need{result: true}
	for _, b := range bodies {
		as.durable = as.durable || !b.Waits()
		as.result = as.result && ends(b)
	}
	drafts := make([]draft, 0, len(bodies)+1)
	for _, b := range bodies {
		d, err := j.draft(b)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	if n, ok := note(drafts, j.last.seq); ok {
		drafts = append(drafts, n)
	}
	if j.failed != nil {
		return nil, j.save(drafts)
	}
	for i := range drafts {
		err := drafts[i].outsource(j.shelf)
		switch {
		case isFull(err) && !as.result:
			return nil, &Full{Dir: j.dir, Err: err}
		case err != nil:
			return nil, j.fail(err, drafts)
		}
	}
	return j.commit(drafts, as)
}

// ends reports whether b only says how something ended that has happened.
func ends(b event.Body) bool {
	switch b.(type) {
	case event.Finished, event.Settled, event.Stopped:
		return true
	}
	return false
}

// commit writes drafts as one piece, then the records that have come due.
func (j *Journal) commit(drafts []draft, as need) ([]event.Event, error) {
	before := j.last.clone()
	if j.last.unchained+len(drafts) >= chainEvery && drafts[len(drafts)-1].body != nil {
		drafts = append(drafts, draft{})
	}
	events, frames, err := j.frame(drafts)
	if err == nil {
		err = j.write(frames, before.joint, as)
	}
	if err != nil {
		j.last = before
		if _, full := errors.AsType[*Full](err); full {
			return nil, err
		}
		return nil, j.fail(err, drafts)
	}
	j.written(as)
	rolled, err := j.log.roll()
	if err != nil {
		return nil, j.fail(err, nil)
	}
	if rolled { // a file begins with what all before it add up to
		more, err := j.commit([]draft{{}}, need{durable: true, result: true})
		return append(events, more...), err
	}
	return events, nil
}

// frame numbers the drafts. The zero draft becomes a chain record.
func (j *Journal) frame(drafts []draft) (events []event.Event, frames []byte, err error) {
	now := event.Stamp(j.now())
	for i := range drafts {
		if drafts[i].body == nil {
			drafts[i] = j.last.chain()
		}
		e, err := j.last.add(&frames, drafts[i], now)
		if err != nil {
			return nil, nil, err
		}
		events = append(events, e)
	}
	return events, frames, nil
}

// written is after frames were.
func (j *Journal) written(as need) {
	j.begun = true
	if as.durable {
		j.last.safe = j.last.seq
	}
}

func (j *Journal) write(frames []byte, before joint, as need) error {
	if as.durable {
		if err := j.shelf.settle(frames); err != nil {
			return err
		}
	}
	return j.log.append(frames, before, as)
}

// Since yields the events after seq that were there when the iteration began,
// in order, and ends at the first error. What is before seq it does not decode.
func (j *Journal) Since(seq int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		j.mu.Lock()
		last := j.last.seq
		frames := j.log.frames(seq)
		j.mu.Unlock()
		if seq >= last {
			return
		}
		for f, err := range frames {
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

// Close ends the log with a record of that and of what it adds up to, and gives
// the session free. Nothing can be appended after it.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == errClosed {
		return nil
	}
	var errs []error
	if j.failed == nil && j.begun {
		_, err := j.commit([]draft{own(ended, struct{}{}), {}}, need{durable: true, result: true})
		errs = append(errs, err)
	}
	errs = append(errs, j.shelf.close(), j.log.close(), j.rescue.close())
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
