package replay

import (
	"context"
	"fmt"
	"sync"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A tape is what the calls of a session came to. Of equal calls each is played
// once, in the order in which they were asked for, and after them the last one
// again.
type tape struct {
	mu     sync.Mutex
	calls  map[string][]*played // by signature; never changed
	taken  map[string]int       // of them, how many were
	served map[string]*played   // by the id of the call it is for; nil where there was none
	looks  map[string]bool      // tools that change nothing
}

func newTape(r *Recording) *tape {
	t := &tape{calls: r.calls, taken: make(map[string]int), served: make(map[string]*played), looks: make(map[string]bool)}
	for _, spec := range r.opened.Tools {
		t.looks[spec.Name] = spec.Idempotency == tool.ReadOnly
	}
	return t
}

// asked takes what will be played for the calls of a reply. They are taken now since
// not each of them will come to be prepared, and some more than once.
func (t *tape) asked(b event.Replied) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range b.Message.Calls() {
		sign := c.Signature()
		t.served[c.ID] = nil
		if all := t.calls[sign]; len(all) > 0 {
			t.served[c.ID] = all[min(t.taken[sign], len(all)-1)]
			t.taken[sign]++
		}
	}
}

func (t *tape) of(call string) *played {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.served[call]
}

// A player is a tool that plays what it did. A call that was not made when the
// session was recorded has no result.
type player struct {
	spec tool.Spec
	tape *tape
}

func (p player) Spec() tool.Spec { return p.spec }

func (p player) Prepare(_ context.Context, in tool.Input) (*tool.Action, error) {
	was := p.tape.of(in.Call)
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
