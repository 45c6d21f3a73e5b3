package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// prepare finds out what t would do, as the world is now. It sets either
// t.action or t.failure.
func (a *Agent) prepare(ctx context.Context, t *task) {
	t.action, t.failure = nil, nil
	action, err := a.understand(ctx, t)
	if err == nil {
		t.action = action
		return
	}
	failure, ok := errors.AsType[*tool.Failure](err)
	switch {
	case ok:
	case ctx.Err() != nil:
		failure = &tool.Failure{Kind: tool.Cancelled, Message: "not started: " + context.Cause(ctx).Error(), Retry: true}
	default:
		failure = &tool.Failure{Kind: tool.Internal, Message: fmt.Sprintf("prepare %s: %v", t.call.Tool, err)}
	}
	t.failure = failure
}

func (a *Agent) understand(ctx context.Context, t *task) (action *tool.Action, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	called, ok := a.tools[t.call.Tool]
	if !ok {
		return nil, a.noTool(t.call.Tool)
	}
	if failure := a.guarded(t.call); failure != nil {
		return nil, failure
	}
	if t.malformed != "" {
		short, _ := tool.Excerpt(t.malformed, 400, "")
		return nil, &tool.Failure{
			Kind:    tool.Invalid,
			Message: fmt.Sprintf("arguments of %s are not JSON: %s", t.call.Tool, short),
			Hint:    "send the arguments as one JSON object",
		}
	}
	action, err = called.Prepare(ctx, tool.Input{
		Call: t.call.ID, Args: t.call.Args, Seen: a.state.Seen(), Open: a.Journal.Artifact, Asks: a.Ask != nil,
	})
	if err != nil {
		return nil, err
	}
	for _, e := range action.Effects() {
		if !slices.Contains(called.Spec().Effects, e.Kind) {
			return nil, fmt.Errorf("effect %q is not in the contract", e.Kind)
		}
	}
	return action, nil
}

func (a *Agent) noTool(name string) *tool.Failure {
	var names []string
	for _, s := range a.specs {
		names = append(names, s.Name)
	}
	return &tool.Failure{
		Kind: tool.NotFound, Message: fmt.Sprintf("there is no tool %q", name),
		Hint: "the tools are " + strings.Join(names, ", "),
	}
}

// guesses is how many calls of a tool may fail by their arguments in a row before
// the model is told that it is guessing.
const guesses = 3

// insteadOfGuessing ends what it is told then.
const insteadOfGuessing = "look at what is there before the next call, or report what you tried"

// counselled tells the model of a call that failed by its arguments once more how
// often calls of that tool have in a row.
func (a *Agent) counselled(c tool.Call, r tool.Result) tool.Result {
	if r.Failure == nil || !r.Failure.Kind.ByArguments() {
		return r
	}
	n := a.state.Misses(c.Tool) + 1
	if n < guesses || strings.HasSuffix(r.Failure.Hint, insteadOfGuessing) { // the result of a session that is played has it
		return r
	}
	failure := *r.Failure
	advice := fmt.Sprintf("this is failure %d in a row of %s: %s", n, c.Tool, insteadOfGuessing)
	if failure.Hint != "" {
		advice = failure.Hint + "; " + advice
	}
	failure.Hint = advice
	r.Failure = &failure
	return r
}

// guarded answers a call that is not worth making now.
func (a *Agent) guarded(c tool.Call) *tool.Failure {
	if kind, ok := a.state.Repeats(c); ok {
		return &tool.Failure{
			Kind:    tool.Repeated,
			Message: fmt.Sprintf("not run: the same call failed before (%s), and nothing has changed since", kind),
			Hint:    "do what that failure suggested, or report it",
		}
	}
	failures, last := a.state.Troubled(c.Tool)
	wait := time.Until(last.Add(a.Breaker.Cooldown))
	if wait > a.Breaker.Cooldown {
		wait = 0 // the clock was set back since
	}
	if failures >= a.Breaker.Failures && wait > 0 {
		times := "once"
		if failures > 1 {
			times = fmt.Sprintf("%d times in a row", failures)
		}
		return &tool.Failure{
			Kind:    tool.CircuitOpen,
			Message: fmt.Sprintf("not run: %s failed %s and rests for %s", c.Tool, times, wait.Round(time.Second)),
			Hint:    "go on with other tools", Retry: true,
		}
	}
	return nil
}

// planned is exactly what t, as it is prepared, would do.
func (a *Agent) planned(t *task) tool.Plan {
	spec := a.tools[t.call.Tool].Spec()
	timeout := spec.Timeout
	if t.action.Timeout > 0 {
		timeout = min(timeout, t.action.Timeout)
	}
	return tool.Plan{
		Call: t.call, Version: spec.Version, Parts: t.action.Parts,
		Summary: t.action.Summary, Preview: t.action.Preview,
		Profile: cmp.Or(t.action.Profile, "none"), Timeout: timeout,
		Key: a.state.Opened().Session + "/" + t.call.ID,
	}
}

// errTimedOut is the cause of a call's context that ended by the call's own
// limit.
var errTimedOut = errors.New("out of time")

// worker returns what does t. It shares nothing with the loop but values.
func (r *round) worker(t *task) func() tool.Result {
	plan, action := t.plan, t.action
	env := tool.Env{
		Allowed: plan.Effects(), Key: plan.Key, Timeout: plan.Timeout,
		Live: live{r.Agent, t.call.ID}, Spill: r.Journal.Spill, Ask: r.Ask, Approved: t.approved,
	}
	return func() tool.Result {
		began := time.Now()
		ctx, cancel := context.WithTimeoutCause(r.ctx, plan.Timeout, errTimedOut)
		defer cancel()
		result := r.act(ctx, t.call, action, env)
		if result.Status == tool.Interrupted && context.Cause(ctx) == errTimedOut {
			result.Status = tool.Error
			result.Failure = &tool.Failure{
				Kind: tool.TimedOut, Message: fmt.Sprintf("stopped after %s", plan.Timeout),
				Hint: "ask for less, or for more time", Retry: true,
			}
		}
		result = r.told(r.aftermath(t.call.ID, env.Allowed, result))
		result.Confined = cmp.Or(result.Confined, plan.Profile)
		result.Metrics = &tool.Metrics{Milliseconds: time.Since(began).Milliseconds()}
		return result
	}
}

// act runs the action and turns whatever it comes to into a result.
func (r *round) act(ctx context.Context, c tool.Call, action *tool.Action, env tool.Env) (result tool.Result) {
	defer func() {
		if p := recover(); p != nil {
			result = tool.Failed(&tool.Failure{Kind: tool.Internal, Message: fmt.Sprintf("%s panicked: %v", c.Tool, p)})
		}
	}()
	if r.Before != nil {
		if err := r.Before(ctx, c.ID, env.Allowed); err != nil {
			return r.failed(ctx, c, err)
		}
	}
	result, err := action.Do(ctx, env)
	if err != nil {
		return r.failed(ctx, c, err)
	}
	return result
}

// aftermath adds to a result what else its call changed. The call is over:
// nothing that goes wrong here makes it a failure.
func (a *Agent) aftermath(call string, e effect.Set, result tool.Result) tool.Result {
	if a.After == nil || e.OnlyReads() {
		return result
	}
	after := a.After(call, e)
	result.Edits = append(result.Edits, after.Edits...)
	for _, e := range after.Edits {
		constraints, _ := a.Constraints()
		if k, ok := session.Covering(constraints, e); ok {
			result.Text = strings.TrimSuffix(result.Text, "\n") + fmt.Sprintf("\n[it changed %s, which the user forbade (%s): %q. Put it back as it was, or ask them]", e.Path, k.ID, k.Words)
		}
	}
	if after.Note != "" {
		result.Text = strings.TrimSuffix(result.Text, "\n") + "\n[" + after.Note + "]"
	}
	return result
}

// told adds to a result what has happened beside it.
func (a *Agent) told(result tool.Result) tool.Result {
	if a.News == nil {
		return result
	}
	news, ended := a.News()
	if result.Ended = ended; news != "" {
		result.Text = strings.TrimSuffix(result.Text, "\n") + "\n[" + news + "]"
	}
	return result
}

func (r *round) failed(ctx context.Context, c tool.Call, err error) tool.Result {
	if failure, ok := errors.AsType[*tool.Failure](err); ok {
		return tool.Failed(failure)
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		if context.Cause(ctx) == errTimedOut { // worker says so
			return tool.Result{Status: tool.Interrupted, Text: "stopped: out of time"}
		}
		return r.interrupted("stopped")
	}
	return tool.Failed(&tool.Failure{Kind: tool.Internal, Message: fmt.Sprintf("%s: %v", c.Tool, err)})
}

// fit bounds what enters the context: a longer text is kept whole as an
// artifact, and the model gets its head and tail. Where it cannot be kept, the
// result says so: better less of it than none.
func (a *Agent) fit(c tool.Call, result tool.Result) tool.Result {
	limits := a.Output.Whole()
	if called, ok := a.tools[c.Tool]; ok && called.Spec().Inline != tool.DefaultInline { // it has a reason
		limits.Bytes = called.Spec().Inline
	}
	if _, cut := limits.Excerpt(result.Text, ""); cut {
		whole, err := a.whole(c, result.Text)
		lost := ""
		if err == nil {
			result.Artifacts = append(result.Artifacts, whole)
		} else {
			lost, _ = tool.Excerpt(fmt.Sprintf("\n[what is left out could not be kept: %v]", err), limits.Bytes/2, "")
		}
		result.Data = truncated(result.Data, result.Text, whole)
		limits.Bytes -= len(lost)
		result.Text, _ = limits.Excerpt(result.Text, whole.Handle)
		result.Text += lost
		if result.Status == tool.Success {
			result.Status = tool.Partial
		}
	}
	metrics := tool.Metrics{}
	if result.Metrics != nil {
		metrics = *result.Metrics
	}
	metrics.OutputBytes = int64(len(result.Text))
	result.Metrics = &metrics
	return result
}

// previewMax is how many bytes of a text that was cut programs get with the facts.
const previewMax = 500

// truncated adds to the facts of a result what programs need to know of its text
// that was cut. Facts that are no object stay as they are.
func truncated(data json.RawMessage, text string, whole tool.Artifact) json.RawMessage {
	facts := map[string]json.RawMessage{}
	if len(data) > 0 && json.Unmarshal(data, &facts) != nil {
		return data
	}
	add := func(name string, value any) {
		if b, err := json.Marshal(value); err == nil {
			facts[name] = b
		}
	}
	preview, _ := tool.Limits{Direction: tool.Head, Bytes: previewMax}.Excerpt(text, whole.Handle)
	add("truncated", true)
	add("preview", preview)
	add("total_lines", whole.Lines)
	if b, err := json.Marshal(facts); err == nil {
		return b
	}
	return data
}

// whole keeps the text of a result of c.
func (a *Agent) whole(c tool.Call, text string) (tool.Artifact, error) {
	spill, err := a.Journal.Spill("result of " + c.ID)
	if err != nil {
		return tool.Artifact{}, err
	}
	_, err = io.WriteString(spill, text)
	if err := errors.Join(err, spill.Close()); err != nil {
		return tool.Artifact{}, err
	}
	return tool.Artifact{
		Handle: spill.Handle(), Type: "text/plain", Bytes: int64(len(text)), Lines: int64(strings.Count(text, "\n")),
	}, nil
}

// live passes on what a call prints while it runs.
type live struct {
	*Agent
	call string
}

func (l live) Write(p []byte) (int, error) {
	l.observe(Output{Call: l.call, Text: slices.Clone(p)})
	return len(p), nil
}
