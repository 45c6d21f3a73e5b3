package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// recover gives each call that a crash, or a journal that failed, left open its
// one result. It finds out and repeats nothing. What ctx keeps it from finding
// out stays open for the next time.
func (a *Agent) recover(ctx context.Context) error {
	for _, open := range a.state.Open() {
		result, err := a.settled(ctx, open)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failure, ok := errors.AsType[*tool.Failure](err); ok {
			result = tool.Failed(failure)
		} else if err != nil {
			result = cutOff(tool.Unknown, "Belay was stopped while it ran, and how it ended cannot be found out: "+err.Error())
		}
		if open.Started {
			result = a.aftermath(open.Plan.Call.ID, open.Plan.Effects(), result)
		}
		result = a.fit(open.Plan.Call, result)
		if err := a.record(event.Finished{Call: open.Plan.Call.ID, Result: result}); err != nil {
			return err
		}
	}
	return nil
}

// askUnknown asks a person about each call whose outcome is unknown.
func (a *Agent) askUnknown(ctx context.Context) error {
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

// settled returns how open ended. An error is that of its tool's Settle, or that
// it panicked.
func (a *Agent) settled(ctx context.Context, open session.OpenCall) (result tool.Result, err error) {
	if !open.Started {
		return cutOff(tool.Interrupted, "never started: Belay was stopped before"), nil
	}
	if open.Plan.Effects().OnlyReads() {
		return cutOff(tool.Interrupted, "stopped together with Belay; it only reads"), nil
	}
	settler, ok := a.tools[open.Plan.Call.Tool].(tool.Settler)
	if !ok {
		return cutOff(tool.Unknown, "Belay was stopped while it ran: it may have happened, in whole or in part"), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	found, err := settler.Settle(ctx, open.Plan, open.Fingerprint)
	switch {
	case err != nil:
		return tool.Result{}, err
	case found == nil:
		return cutOff(tool.Interrupted, "Belay was stopped while it ran; it did nothing"), nil
	}
	return *found, nil
}

func cutOff(s tool.Status, why string) tool.Result {
	return tool.Result{
		Status: s, Text: why,
		Failure: &tool.Failure{Kind: tool.Cancelled, Message: why, Retry: s == tool.Interrupted},
	}
}
