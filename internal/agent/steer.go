package agent

import "github.com/belay-agent/belay/internal/contract/event"

// Steer adds text to the running turn before its next request. It may be called
// from any goroutine, and reports false once the turn is over.
func (a *Agent) Steer(text string) bool {
	a.steering.Lock()
	defer a.steering.Unlock()
	if a.running {
		a.steer = append(a.steer, text)
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
	texts := a.steer
	a.steer = nil
	a.running = len(texts) > 0 || !over
	a.steering.Unlock()
	var bodies []event.Body
	for _, text := range texts {
		bodies = append(bodies, event.Asked{Text: text})
	}
	return len(texts) > 0, a.record(bodies...)
}
