package agent

import (
	"context"
	"fmt"
	"time"
)

const defaultCooldown = 300 * time.Second

// A Limit reports that a turn reached one of its limits.
type Limit struct {
	What string // as the message has it: "steps", "tokens", "dollars", "time" or "replies cut off in a row"
	Max  string
}

func (l *Limit) Error() string {
	return fmt.Sprintf("the turn reached its limit of %s %s", l.Max, l.What)
}

// maxLengths is how many replies in a row may be cut off by the output limit:
// a model that does not learn from two results that say so will not from more.
const maxLengths = 3

// limited returns the limit that keeps the turn from another request.
func (a *Agent) limited() error {
	turn := a.state.Turn()
	switch l := a.Limits; {
	case l.Steps > 0 && turn.Steps >= l.Steps:
		return &Limit{"steps", fmt.Sprint(l.Steps)}
	case l.Tokens > 0 && turn.Usage.Total() >= l.Tokens:
		return &Limit{"tokens", fmt.Sprint(l.Tokens)}
	case l.Cost > 0 && turn.Cost >= l.Cost:
		return &Limit{"dollars", fmt.Sprintf("%.4f", float64(l.Cost)/1e8)}
	case turn.Lengths >= maxLengths:
		return &Limit{"replies cut off in a row", fmt.Sprint(maxLengths)}
	}
	return nil
}

// within bounds a turn by its limit of time. What runs then is cancelled, not
// out of time: it is not to blame.
func (a *Agent) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.Limits.Time <= 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(a.Limits.Time, func() { cancel(&Limit{"time", a.Limits.Time.String()}) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}
