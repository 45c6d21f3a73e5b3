package agent

import (
	"errors"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/session"
)

// Steer adds what a person says to the running turn before its next request. It
// may be called from any goroutine, and reports false once the turn is over.
func (a *Agent) Steer(in Input) bool {
	a.steering.Lock()
	defer a.steering.Unlock()
	if a.running {
		a.steer = append(a.steer, in)
	}
	return a.running
}

// listen says whether there is a turn to steer.
func (a *Agent) listen(running bool) {
	a.steering.Lock()
	defer a.steering.Unlock()
	a.running = running
}

// steered records what was said meanwhile, and reports whether anything was. If
// nothing was and the turn is over, no more is taken.
func (a *Agent) steered(over bool) (bool, error) {
	a.steering.Lock()
	said, lifts := a.steer, a.lifts
	a.steer, a.lifts = nil, nil
	a.running = len(said) > 0 || !over
	a.steering.Unlock()
	for _, id := range lifts {
		if err := a.lift(id); err != nil && !errors.Is(err, session.ErrInvalid) { // it was lifted twice, or never was
			return false, err
		}
	}
	for _, in := range said {
		if err := a.record(in.asked()); err != nil {
			return false, err
		}
		if err := a.heed(a.state.Seq(), in.Text); err != nil {
			return false, err
		}
	}
	return len(said) > 0, nil
}

// asked is in as a fact.
func (in Input) asked() event.Asked {
	return event.Asked{Text: in.Text, Mentions: in.Mentions, Media: in.Media}
}
