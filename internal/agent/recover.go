package agent

import (
	"context"
	"errors"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// recover gives each call that a crash left open its one result. It finds out
// and repeats nothing. What cannot be found out a person is asked about, now or
// when the session is next opened with one.
func (a *Agent) recover(ctx context.Context) error {
	for _, open := range a.state.Open() {
		result := a.settled(ctx, open)
		if err := a.record(event.Finished{Call: open.Plan.Call.ID, Result: result}); err != nil {
			return err
		}
	}
	if a.Unknown == nil {
		return nil
	}
	for _, c := range a.state.Unsettled() {
		settled, err := a.Unknown(ctx, c)
		if err != nil {
			return nil // nobody answered: it stays unknown, and is asked about again
		}
		settled.Call, settled.By = c.Plan.Call.ID, event.ByPerson
		if err := a.record(settled); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) settled(ctx context.Context, open session.OpenCall) tool.Result {
	if !open.Started {
		return cutOff(tool.Interrupted, "never started: Belay was stopped before")
	}
	if reads(open.Plan.Effects()) {
		return cutOff(tool.Interrupted, "stopped together with Belay; it only reads")
	}
	settler, ok := a.tools[open.Plan.Call.Tool].(tool.Settler)
	if !ok {
		return cutOff(tool.Unknown, "Belay was stopped while it ran: it may have happened, in whole or in part")
	}
	result, err := settler.Settle(ctx, open.Plan, open.Fingerprint)
	if failure, ok := errors.AsType[*tool.Failure](err); ok {
		return tool.Failed(failure)
	}
	switch {
	case err != nil:
		return cutOff(tool.Unknown, "Belay was stopped while it ran, and how it ended cannot be found out: "+err.Error())
	case result == nil:
		return cutOff(tool.Interrupted, "Belay was stopped while it ran; it did nothing")
	}
	return *result
}

func cutOff(s tool.Status, why string) tool.Result {
	return tool.Result{
		Status: s, Text: why,
		Failure: &tool.Failure{Kind: tool.Cancelled, Message: why, Retry: s == tool.Interrupted},
	}
}
