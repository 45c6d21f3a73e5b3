package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/decide/loop"
)

const defaultCooldown = 300 * time.Second

// A Limit reports that a turn reached one of its limits.
type Limit struct {
	What  string // "steps", "tokens", "dollars", "time", "replies cut off", "steps that change nothing", "answers that say the same" or "overflow"
	Max   string // as it is written: "1", "0.10", "10m0s"; of an overflow the tokens of the request
	Rules int    // of an overflow: the tokens of the rule files, if they are a third or more
	Err   error  // of an overflow: what the model said
}

func (l *Limit) Error() string {
	switch l.What {
	case limitTime:
		return "the turn reached its time limit of " + l.Max
	case limitCost:
		return "the turn reached its limit of $" + l.Max
	case limitLengths:
		return l.Max + " replies in a row were cut off by the output limit of the model"
	case limitOverflow:
		mend := "say less at once"
		if l.Rules > 0 {
			mend = fmt.Sprintf("shorten the project's rule files, which are about %d of them", l.Rules)
		}
		return fmt.Sprintf("the request is too long for the model, and nothing more can be left out of its %s tokens: go on with a model that has a larger window, or %s: %v", l.Max, mend, l.Err)
	case limitSame:
		return l.Max + " steps in a row repeated the same calls with the same results"
	case limitWords:
		return l.Max + " answers in a row said the same"
	}
	what := l.What
	if l.Max == "1" {
		what = strings.TrimSuffix(what, "s")
	}
	return "the turn reached its limit of " + l.Max + " " + what
}

func (l *Limit) Unwrap() error { return l.Err }

// What can be limited; the last four are limits that nobody sets.
const (
	limitSteps   = "steps"
	limitTokens  = "tokens"
	limitCost    = "dollars"
	limitTime    = "time"
	limitLengths = "replies cut off"
	limitSame    = "steps that change nothing"
	limitWords   = "answers that say the same"

	limitOverflow = "overflow"
)

// maxLengths is how many replies in a row may be cut off by the output limit:
// a model that does not learn from two results that say so will not from more.
const maxLengths = 3

// maxCalls is how many calls of one reply are run: who orders them compares each
// with all others.
const maxCalls = 256

// maxRejected is how many parts of one request may be quarantined, one after the
// other: an API that finds fault with more finds it elsewhere.
const maxRejected = 64

// limited returns the limit that keeps the turn from another request.
func (a *Agent) limited() error {
	turn := a.state.Turn()
	switch l := a.Limits; {
	case l.Steps > 0 && turn.Steps >= l.Steps:
		return &Limit{What: limitSteps, Max: fmt.Sprint(l.Steps)}
	case l.Tokens > 0 && turn.Usage.Total() >= l.Tokens:
		return &Limit{What: limitTokens, Max: fmt.Sprint(l.Tokens)}
	case l.Cost > 0 && turn.Cost >= l.Cost:
		return &Limit{What: limitCost, Max: inDollars(l.Cost)}
	case turn.Lengths >= maxLengths:
		return &Limit{What: limitLengths, Max: fmt.Sprint(maxLengths)}
	}
	if l, ok := loop.Find(a.state.Talk()); ok && l.Over() {
		what := limitSame
		if l.Words || l.Inside {
			what = limitWords
		}
		return &Limit{What: what, Max: fmt.Sprint(l.Steps)}
	}
	return nil
}

// inDollars writes micro-cents exactly, with at least two digits for the cents.
func inDollars(microCents int64) string {
	s := fmt.Sprintf("%d.%08d", microCents/100_000_000, microCents%100_000_000)
	cents := len(s) - 6
	return s[:cents] + strings.TrimRight(s[cents:], "0")
}

// within bounds a turn by its limit of time. What runs then is cancelled, not
// out of time: it is not to blame.
func (a *Agent) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.Limits.Time <= 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(a.Limits.Time, func() { cancel(&Limit{What: limitTime, Max: a.Limits.Time.String()}) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}
