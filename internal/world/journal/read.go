package journal

import (
	"bytes"
	"iter"

	"github.com/belay-agent/belay/internal/contract/event"
)

// Read yields every intact event in dir, also while another process writes
// there: it takes no lock and changes nothing. It stops quietly at an unfinished
// end. A *Corrupt says where something is missing, and what is intact behind it
// follows. An event beside an error is one that cannot be shown in full: it is
// sealed, as it stands in the log.
func Read(dir string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { Watch(dir).Next()(yield) }
}

// restore returns the event that r is. If that cannot be done, its body is r's
// own.
func restore(r event.Record, s shelf) (event.Event, error) {
	e := event.Event{Seq: r.Seq, Time: r.Time}
	sealed := r.Body
	var err error
	if sealed.JSON, err = insource(r.Body.JSON, r.Out, s); err == nil {
		e.Body, err = sealed.Unseal()
	}
	if err != nil {
		r.Body.JSON = bytes.Clone(r.Body.JSON)
		e.Body = r.Body
	}
	return e, err
}
