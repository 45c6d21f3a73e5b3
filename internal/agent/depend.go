package agent

import (
	"fmt"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// waited says why t had to wait, for each call that it waited for.
func (r *round) waited(t *task) []event.Wait {
	var waits []event.Wait
	for _, i := range t.waits {
		if mine, theirs, ok := t.effects.Conflict(r.tasks[i].effects); ok {
			waits = append(waits, event.Wait{Call: r.tasks[i].call.ID, Effect: mine, Held: theirs})
		}
	}
	return waits
}

// dependency returns the failure of a call that would act on what an earlier
// call of the same reply was to make, and did not. Reads never fail for that, nor
// do compare-and-swap changes, which their own digests judge.
func (r *round) dependency(t *task) *tool.Failure {
	if t.action.Effects().OnlyReads() || r.tools[t.call.Tool].Spec().Idempotency == tool.CompareAndSwap {
		return nil
	}
	for _, i := range t.waits {
		earlier := r.tasks[i]
		if earlier.effects.OnlyReads() || earlier.result.Status == tool.Success || earlier.result.Status == tool.Partial {
			continue
		}
		return &tool.Failure{
			Kind: tool.DependencyFailed,
			Message: fmt.Sprintf("not run: %s, an earlier call of the same answer that it may depend on, ended as %s",
				earlier.call.ID, earlier.outcome()),
			Hint: "see to that call first; if this one does not depend on it, send it again", Retry: true,
		}
	}
	return nil
}

// outcome is how t ended, in a word.
func (t *task) outcome() string {
	if t.result.Failure != nil {
		return string(t.result.Failure.Kind)
	}
	return string(t.result.Status)
}
