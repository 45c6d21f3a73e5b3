// Package loop finds where a model goes round in a circle: the same calls with the
// same results, one step or a few of them over and over, or the same words. The
// model is told first; one that goes on all the same is stopped.
package loop

import (
	"fmt"

	"github.com/belay-agent/belay/internal/decide/session"
)

// A Loop is what the end of a talk repeats.
type Loop struct {
	Steps  int  // at the end of the talk that are part of it
	Period int  // steps in a round
	Words  bool // the words are repeated; the calls are others, or have other results
	Inside bool // one reply repeats itself, and those before it did
	waits  bool // something in a round may be waiting for the world outside
}

const (
	maxPeriod = 4 // steps in a round: longer ones were not seen, and cost more to find
	rounds    = 3 // that make a loop: two can be chance, or a second look

	// patience is how often a model is told of a loop in which nothing can change
	// unless it does something else; patienceOutside where it may be waiting for a
	// command, a test or a service: 25 steps in all, which is longer than a person
	// would watch.
	patience        = 6
	patienceOutside = 22

	// maxSteps is how far back is looked.
	maxSteps = rounds*maxPeriod + patienceOutside
)

// Find returns the loop at the end of talk, whose last exchange has its results. What
// the user says, and what the program says in their place, begins anew.
func Find(talk []session.Exchange) (Loop, bool) {
	tail := steps(talk)
	if l, ok := longest(tail, alike); ok {
		for _, x := range tail[len(tail)-l.Period:] {
			l.waits = l.waits || waits(x)
		}
		return l, true
	}
	if l, ok := longest(tail, sameWords); ok {
		l.Words, l.waits = true, true
		return l, true
	}
	n := 0
	for n < len(tail) && stutters(tail[len(tail)-1-n].Message.Text()) {
		n++
	}
	return Loop{Steps: n, Period: 1, Inside: true}, n > 0
}

// steps returns the exchanges at the end of talk in which the model made calls.
func steps(talk []session.Exchange) []session.Exchange {
	first := len(talk)
	for first > 0 && len(talk[first-1].Results) > 0 && len(talk)-first < maxSteps {
		first--
	}
	return talk[first:]
}

// longest returns the loop of the most steps at the end of tail, of the shortest
// round where several are as long.
func longest(tail []session.Exchange, alike func(a, b session.Exchange) bool) (found Loop, ok bool) {
	for period := 1; period <= maxPeriod && found.Steps < len(tail); period++ {
		n := 0
		for i := len(tail) - 1; i >= period && alike(tail[i], tail[i-period]); i-- {
			n++
		}
		if n += period; n >= rounds*period && n > found.Steps {
			found, ok = Loop{Steps: n, Period: period}, true
		}
	}
	return found, ok
}

// Over reports whether the model was told often enough.
func (l Loop) Over() bool {
	before := rounds * l.Period
	switch {
	case l.Inside:
		return l.Steps > patience
	case l.waits:
		return l.Steps >= before+patienceOutside
	}
	return l.Steps >= before+patience
}

// Reminder is what the model is told, for this step alone.
func (l Loop) Reminder() string {
	switch {
	case l.Inside:
		return "[reminder: your last answer said the same thing over and over; say it once, and do the next step]"
	case l.Words:
		return fmt.Sprintf("[reminder: your last %d answers said the same%s; if you make progress, say what it is, and if not, do something else or report what keeps you]", l.Steps, l.of())
	}
	text := fmt.Sprintf("[reminder: your last %d steps repeat%s: the same calls, with the same results. They will not tell you more: use what they said, do something else, or report what keeps you.", l.Steps, l.of())
	if l.waits {
		text += " If you wait for something, wait for it in one call."
	}
	return text + " Going on like this ends the turn]"
}

func (l Loop) of() string {
	if l.Period == 1 {
		return ""
	}
	return fmt.Sprintf(" a round of %d", l.Period)
}
