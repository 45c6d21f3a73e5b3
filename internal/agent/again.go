package agent

import (
	"context"
	"errors"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

// maxCuts is how many replies of one step may break off.
const maxCuts = 3

// ask sends the model all it needs to take the next step, again where that can
// help: without what its API does not take, after a reply that broke off, or to
// the fallback.
func (a *Agent) ask(ctx context.Context) (model.Reply, error) {
	rejected, cuts := 0, 0
	tight := ladder{}
	for {
		if err := a.limited(); err != nil {
			return model.Reply{}, err
		}
		reply, err := a.request(ctx)
		if err == nil || ctx.Err() != nil {
			return reply, err
		}
		var again bool
		if rejection, ok := errors.AsType[*model.Rejection](err); ok {
			rejected++
			again, err = a.quarantine(rejection, rejected, err)
		} else if u, ok := errors.AsType[*model.Unavailable](err); ok && reply.Stop == model.Cut && cuts < maxCuts {
			cuts++
			again = true
			a.observe(Typing{model.Waiting{Until: time.Now(), Why: u.Error()}})
		} else if ok {
			again, err = a.fallBack(err)
		} else if errors.Is(err, model.ErrOverflow) {
			again, err = a.shorter(ctx, &tight, a.tokens(a.state), err)
		}
		if !again {
			return reply, err
		}
	}
}

// quarantine keeps what was rejected out of requests. It reports whether there is
// anything to send again, and else why not.
func (a *Agent) quarantine(r *model.Rejection, n int, why error) (bool, error) {
	if n > maxRejected {
		return false, why
	}
	body, ok := prompt.Blame(a.state, r)
	if !ok {
		return false, why
	}
	err := a.record(body)
	return err == nil, err
}

// fallBack lets the fallback speak for the rest of the turn. It reports whether
// there is one that does not already, and else why it was wanted.
func (a *Agent) fallBack(why error) (bool, error) {
	if a.Fallback == nil || a.fell {
		return false, why
	}
	if err := a.record(event.Switched{To: a.Fallback.Model.Name, Why: why.Error()}); err != nil {
		return false, errors.Join(why, err)
	}
	a.fell = true
	a.futile, a.output = 0, 0 // which were about another window
	return true, nil
}

// speaker is who is asked now.
func (a *Agent) speaker() Fallback {
	if a.fell {
		return *a.Fallback
	}
	return Fallback{a.Provider, a.Model}
}
