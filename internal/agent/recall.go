package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

// recallWait is how long a request waits for what bears on it. Who looks has less
// time; this is for a file system that does not answer.
const recallWait = time.Second

// packed is what was last recorded of items: as they were offered to the journal,
// and, of those that were kept, as they stand on disk, without secrets.
type packed struct {
	offered event.Packed
	kept    []recall.Item
}

// recall returns the items for the next request. They are recorded when they are
// not those of the request before.
func (a *Agent) recall(ctx context.Context) ([]recall.Item, error) {
	if a.Recall == nil {
		return nil, nil
	}
	items, err := a.ofWorkspace(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	missing := ""
	if err != nil { // a request without them is still one
		missing = err.Error()
	}
	items = slices.Clone(items)
	for i := range items {
		items[i].Pinned = false // which is for the session to say
	}
	kept, dropped := prompt.Pack(append(items, prompt.Pinned(a.state)...), prompt.BudgetFor(a.state, a.speaker().Model))
	for i := range dropped {
		dropped[i].Text = "" // what the model does not see need not be kept
	}
	offered := event.Packed{Kept: kept, Dropped: dropped, Missing: missing}
	if was := a.found.offered; slices.Equal(kept, was.Kept) && slices.Equal(dropped, was.Dropped) && missing == was.Missing {
		return a.found.kept, nil
	}
	a.found = packed{offered: offered}
	err = a.record(offered)
	a.found.kept = a.state.Packed()
	return a.found.kept, err
}

// ofWorkspace returns what the workspace has for the next request, in time. A Recall
// that does not end is left alone, and until it has ended there is no other.
func (a *Agent) ofWorkspace(ctx context.Context) ([]recall.Item, error) {
	if a.late != nil {
		select {
		case <-a.late:
			a.late = nil
		default:
			return nil, recall.ErrLate
		}
	}
	within, cancel := context.WithTimeout(ctx, recallWait)
	defer cancel()
	var items []recall.Item
	var err error
	query, ended := prompt.QueryFor(a.state), make(chan struct{})
	go func() {
		defer close(ended)
		items, err = a.Recall(within, query)
	}()
	select {
	case <-ended:
	case <-within.Done():
		a.late = ended
		return nil, recall.ErrLate
	}
	switch {
	case err == nil || errors.Is(err, recall.ErrLate):
		return items, err
	case within.Err() != nil:
		return nil, recall.ErrLate
	}
	return nil, err
}
