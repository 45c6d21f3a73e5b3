package agent

import (
	"context"
	"slices"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

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
	items, err := a.Recall(ctx, prompt.QueryFor(a.state))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // a request without them is still one
		items = nil
	}
	items = slices.Clone(items)
	for i := range items {
		items[i].Pinned = false // which is for the session to say
	}
	kept, dropped := prompt.Pack(append(items, prompt.Pinned(a.state)...), prompt.BudgetFor(a.state, a.speaker().Model))
	for i := range dropped {
		dropped[i].Text = "" // what the model does not see need not be kept
	}
	offered := event.Packed{Kept: kept, Dropped: dropped}
	if slices.Equal(kept, a.found.offered.Kept) && slices.Equal(dropped, a.found.offered.Dropped) {
		return a.found.kept, nil
	}
	a.found = packed{offered: offered}
	err = a.record(offered)
	a.found.kept = a.state.Packed()
	return a.found.kept, err
}
