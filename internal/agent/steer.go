package agent

import "github.com/belay-agent/belay/internal/contract/event"

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
	said := a.steer
	a.steer = nil
	a.running = len(said) > 0 || !over
	a.steering.Unlock()
	var bodies []event.Body
	for _, in := range said {
		bodies = append(bodies, in.asked())
	}
	return len(said) > 0, a.record(bodies...)
}

// asked is in as a fact.
func (in Input) asked() event.Asked {
	return event.Asked{Text: in.Text, Mentions: in.Mentions, Media: in.Media}
}
