package stats

import (
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/undo"
)

// A Fold counts one session, whose events it is given in order. The zero Fold is
// of a session without events.
type Fold struct {
	stats   Stats
	running bool                 // a task
	end     string               // of the task before
	known   map[string]bool      // tools that are offered
	calls   map[string]tool.Call // of the model, without a result
	stopped map[string]bool      // tools whose last call met an open breaker
	changes undo.History
	fails   failures
}

// Add adds the next event.
func (f *Fold) Add(e event.Event) {
	f.changes.Add(e)
	f.fails.add(e)
	switch b := e.Body.(type) {
	case event.Opened:
		f.stats.Sessions = 1
		f.known = make(map[string]bool)
		for _, t := range b.Tools {
			f.known[t.Name] = true
		}
	case event.Asked:
		f.begin()
	case event.Replied:
		f.replied(b)
	case event.Decided:
		if _, asked := f.calls[b.Call]; asked && b.By == event.ByPerson {
			f.stats.Asked++
		}
	case event.Finished:
		f.finished(b)
	case event.Quarantined:
		f.stats.Rejected++
	case event.Switched:
		f.stats.Switched++
	case event.Compacted:
		if !b.GivenUp() {
			f.stats.Compactions++
		}
	case event.Stopped:
		if f.running {
			f.running, f.end = false, b.Reason
			count(&f.stats.Ends, b.Reason)
		}
	}
}

// begin starts a task, unless one goes on.
func (f *Fold) begin() {
	if !f.running {
		f.running = true
		f.stats.Tasks++
	}
}

// goOn makes the task that ended last go on: how it ended then is not how it
// ended.
func (f *Fold) goOn() {
	if f.running || f.stats.Tasks == 0 {
		return
	}
	f.running = true
	if f.stats.Ends[f.end]--; f.stats.Ends[f.end] == 0 {
		delete(f.stats.Ends, f.end)
	}
}

func (f *Fold) replied(b event.Replied) {
	f.goOn()
	f.stats.Steps++
	f.stats.Usage = f.stats.Usage.Plus(b.Usage)
	f.stats.Cost += b.Cost
	for _, c := range b.Message.Calls() {
		put(&f.calls, c.ID, c)
	}
}

func (f *Fold) finished(b event.Finished) {
	c, asked := f.calls[b.Call]
	if !asked {
		return
	}
	delete(f.calls, b.Call)
	f.stats.Calls++
	t := f.stats.Tools[c.Tool]
	t.Calls++
	if m := b.Result.Metrics; m != nil {
		t.Milliseconds += m.Milliseconds
	}
	if b.Result.Status == tool.Unknown {
		f.stats.Unsure++
	}
	open := false
	if failure := b.Result.Failure; failure != nil {
		t.Failed++
		count(&f.stats.Kinds, failure.Kind)
		if mistaken(failure, f.known[c.Tool]) {
			f.stats.Wrong++
		}
		open = failure.Kind == tool.CircuitOpen
		if failure.Kind == tool.Denied || failure.Kind == tool.NeedsApproval {
			f.stats.Denied++
		}
	}
	if open && !f.stopped[c.Tool] {
		f.stats.Trips++
	}
	put(&f.stopped, c.Tool, open)
	put(&f.stats.Tools, c.Tool, t)
}

// Stats returns the figures so far. A task without an end counts as "cut".
func (f *Fold) Stats() Stats {
	s := f.stats.Plus(Stats{})
	if f.running {
		s.Ends["cut"]++
	}
	for _, c := range f.changes.Changes() {
		if c.Turn > 0 {
			s.Changes++
			if c.Back != "" {
				s.Back++
			}
		}
	}
	return s
}

// Failures returns what failed so far, oldest first.
func (f *Fold) Failures() []Failure { return f.fails.ended() }

func count[K comparable](m *map[K]int, k K) { put(m, k, (*m)[k]+1) }

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}
