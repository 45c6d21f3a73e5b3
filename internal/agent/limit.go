package agent

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
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

// maxCalls is how many calls of one reply are run: who orders them compares each
// with all others.
const maxCalls = 256

// maxSame is how many steps in a row may be the same, calls and results: more
// than a person would wait for something to change.
const maxSame = 25

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
	case same(a.state.Talk()) >= maxSame:
		return &Limit{"steps in a row with the same calls and results", fmt.Sprint(maxSame)}
	}
	return nil
}

// same counts the exchanges at the end of talk that are like the last one.
func same(talk []session.Exchange) int {
	if len(talk) == 0 || len(talk[len(talk)-1].Results) == 0 {
		return 0
	}
	last, n := talk[len(talk)-1], 1
	for n < len(talk) && n < maxSame && alike(talk[len(talk)-1-n], last) {
		n++
	}
	return n
}

// alike reports whether both ask for the same calls and got the same results.
func alike(a, b session.Exchange) bool {
	return slices.EqualFunc(a.Message.Calls(), b.Message.Calls(), func(a, b tool.Call) bool {
		return a.Tool == b.Tool && bytes.Equal(a.Args, b.Args)
	}) && slices.EqualFunc(a.Results, b.Results, func(a, b *tool.Result) bool {
		return a != nil && b != nil && a.Status == b.Status && a.Text == b.Text
	})
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
