package replay

import (
	"context"
	"fmt"
	"sync"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A tape is what the calls of a session came to. Of equal calls each is played
// once, in order, and after them the last one again.
type tape struct {
	mu    sync.Mutex
	calls map[string][]*played
}

func (t *tape) take(c tool.Call) *played {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.calls[c.Signature()]
	for _, p := range all {
		if !p.used {
			p.used = true
			return p
		}
	}
	if len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// A player is a tool that plays what it did. A call that was not made when the
// session was recorded has no result.
type player struct {
	spec tool.Spec
	tape *tape
}

func (p player) Spec() tool.Spec { return p.spec }

func (p player) Prepare(_ context.Context, in tool.Input) (*tool.Action, error) {
	was := p.tape.take(tool.Call{Tool: p.spec.Name, Args: in.Args})
	if was == nil {
		return nil, &tool.Failure{
			Kind:    tool.Unavailable,
			Message: fmt.Sprintf("this call of %s was not made in the recorded session, so there is no result to play", p.spec.Name),
			Hint:    "make calls as they were recorded, or end here",
		}
	}
	if f := was.result.Failure; f != nil && was.plan.Call.ID == "" { // it came to no plan
		return nil, f
	}
	return &tool.Action{
		Parts: was.plan.Parts, Summary: was.plan.Summary, Preview: was.plan.Preview, Profile: "replay",
		Do: func(context.Context, tool.Env) (tool.Result, error) { return was.result, nil },
	}, nil
}
