package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A rig is an agent with a rehearsed model, a journal on disk, and tools made
// for the test.
type rig struct {
	*agent.Agent
	t      *testing.T
	events []event.Event
}

type options struct {
	script string
	before []event.Body // what an earlier life recorded
	tools  []tool.Tool
	change func(*agent.Options)
}

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	j, err := journal.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	events, err := j.Append(o.before...)
	if err != nil {
		t.Fatal(err)
	}
	state := new(session.State)
	for _, e := range events {
		if err := state.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	model, err := provider.NewRehearsed("test.txtar", []byte(o.script))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t}
	opts := agent.Options{
		Journal: j, Provider: model, Tools: o.tools,
		Session: event.Opened{Session: "s", Root: "/w"},
		Policy:  policy.Policy{Mode: policy.ModeFull},
		Observe: func(s agent.Signal) {
			if x, ok := s.(agent.Recorded); ok {
				r.events = append(r.events, x.Event)
			}
		},
	}
	if o.change != nil {
		o.change(&opts)
	}
	if r.Agent, err = agent.Open(t.Context(), state, opts); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) turn(ctx context.Context) error { return r.Turn(ctx, agent.Input{Text: "go"}) }

// result returns the one result of call id.
func (r *rig) result(id string) tool.Result {
	r.t.Helper()
	var found []tool.Result
	for _, e := range r.events {
		if b, ok := e.Body.(event.Finished); ok && b.Call == id {
			found = append(found, b.Result)
		}
	}
	if len(found) != 1 {
		r.t.Fatalf("call %s has %d results", id, len(found))
	}
	return found[0]
}

func (r *rig) kind(id string) tool.Kind {
	r.t.Helper()
	if f := r.result(id).Failure; f != nil {
		return f.Kind
	}
	return ""
}

// story tells the events of calls: "started c1", "finished c1", in order.
func (r *rig) story() []string {
	var story []string
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case event.Planned:
			story = append(story, "planned "+b.Plan.Call.ID)
		case event.Decided:
			story = append(story, b.Verdict+" "+b.Call)
		case event.Started:
			story = append(story, "started "+b.Call)
		case event.Finished:
			story = append(story, "finished "+b.Call)
		}
	}
	return story
}

// steps writes a script of replies with one line each, ended by words.
func steps(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("-- step --\n" + l + "\n")
	}
	return b.String() + "-- step --\nsay: Done.\n"
}

type onArgs struct {
	On string `json:"on"`
}

// act makes a tool with one effect on what its argument names.
func act(name string, kind effect.Kind, do func(ctx context.Context, on string, env tool.Env) (tool.Result, error)) tool.Tool {
	idempotency := tool.None
	if kind == effect.Read {
		idempotency = tool.ReadOnly
	}
	return tool.New(tool.Spec{
		Name: name, Version: 1, Description: "For the test.", Effects: []effect.Kind{kind},
		Idempotency: idempotency, Risk: tool.Low, Timeout: time.Minute,
	}, func(_ context.Context, in onArgs, _ tool.Input) (*tool.Action, error) {
		return &tool.Action{
			Parts:   []tool.Part{{Name: in.On, Effects: effect.Set{{Kind: kind, On: in.On}}}},
			Summary: name + " " + in.On,
			Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
				return do(ctx, in.On, env)
			},
		}, nil
	})
}

func ok(context.Context, string, tool.Env) (tool.Result, error) {
	return tool.Result{Status: tool.Success, Text: "ok"}, nil
}

func fails(k tool.Kind) func(context.Context, string, tool.Env) (tool.Result, error) {
	return func(context.Context, string, tool.Env) (tool.Result, error) {
		return tool.Result{}, &tool.Failure{Kind: k, Message: string(k)}
	}
}

// untilEnd works until it is told to stop.
func untilEnd(ctx context.Context, _ string, _ tool.Env) (tool.Result, error) {
	<-ctx.Done()
	return tool.Result{}, ctx.Err()
}

func TestR003_EachActionIsObservedBeforeTheNextDecision(t *testing.T) {
	r := newRig(t, options{
		script: "-- step --\ncall: Act {\"on\": \"a\"}\n-- step --\nexpect: result /^ok$/\ncall: Act {\"on\": \"b\"}\n-- step --\nexpect: result /^ok$/\nsay: Done.\n",
		tools:  []tool.Tool{act("Act", effect.Write, ok)},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"planned c1", "allow c1", "started c1", "finished c1",
		"planned c2", "allow c2", "started c2", "finished c2",
	}
	if diff := cmp.Diff(want, r.story()); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

func TestPanicsEndInAResult(t *testing.T) {
	boom := func(context.Context, string, tool.Env) (tool.Result, error) { panic("boom") }
	early := tool.New(tool.Spec{
		Name: "Early", Version: 1, Description: "For the test.", Idempotency: tool.None, Risk: tool.Low, Timeout: time.Minute,
	}, func(context.Context, onArgs, tool.Input) (*tool.Action, error) { panic("boom") })
	r := newRig(t, options{
		script: steps("call: Act {\"on\": \"a\"}\ncall: Early {\"on\": \"a\"}"),
		tools:  []tool.Tool{act("Act", effect.Write, boom), early},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"c1", "c2"} {
		if got := r.kind(id); got != tool.Internal {
			t.Errorf("%s is %q, want internal", id, got)
		}
	}
}

func TestAnUndeclaredEffectIsRefused(t *testing.T) {
	liar := tool.New(tool.Spec{
		Name: "Liar", Version: 1, Description: "For the test.", Effects: []effect.Kind{effect.Read},
		Idempotency: tool.ReadOnly, Risk: tool.Low, Timeout: time.Minute,
	}, func(context.Context, onArgs, tool.Input) (*tool.Action, error) {
		return &tool.Action{
			Parts: []tool.Part{{Name: "x", Effects: effect.Set{{Kind: effect.Write, On: "x"}}}},
			Do: func(context.Context, tool.Env) (tool.Result, error) {
				t.Error("it ran")
				return tool.Result{}, nil
			},
		}, nil
	})
	r := newRig(t, options{script: steps(`call: Liar {"on": "a"}`), tools: []tool.Tool{liar}})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.kind("c1"); got != tool.Internal {
		t.Errorf("kind is %q, want internal", got)
	}
}

func TestR018_ACallThatTakesTooLongTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, options{script: steps(`call: Act {"on": "a"}`), tools: []tool.Tool{act("Act", effect.Write, untilEnd)}})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.result("c1"); got.Status != tool.Error || got.Failure.Kind != tool.TimedOut {
			t.Errorf("result is %+v", got)
		}
	})
}

func TestR069_AnInterruptRecordsEveryResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	start := func(c context.Context, on string, env tool.Env) (tool.Result, error) {
		cancel()
		return untilEnd(c, on, env)
	}
	r := newRig(t, options{
		script: steps("call: Act {\"on\": \"a\"}\ncall: Act {\"on\": \"a\"}\ncall: Act {\"on\": \"b\"}"),
		tools:  []tool.Tool{act("Act", effect.Write, start)},
	})
	if err := r.turn(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Turn = %v, want context.Canceled", err)
	}
	for _, id := range []string{"c1", "c2", "c3"} {
		if got := r.result(id); got.Status != tool.Interrupted || got.Failure.Kind != tool.Cancelled {
			t.Errorf("%s is %+v", id, got)
		}
	}
	if b, isStop := r.events[len(r.events)-1].Body.(event.Stopped); !isStop || b.Reason != "interrupted" {
		t.Errorf("the last event is %+v", r.events[len(r.events)-1].Body)
	}
}

func TestLimits(t *testing.T) {
	one := `call: Act {"on": "a"}` + "\nusage: input=100 output=50"
	for _, tc := range []struct {
		what   string
		limits agent.Limits
		steps  int
	}{
		{"steps", agent.Limits{Steps: 2}, 2},
		{"tokens", agent.Limits{Tokens: 400}, 3},
		{"dollars", agent.Limits{Cost: 100}, 1},
	} {
		t.Run(tc.what, func(t *testing.T) {
			r := newRig(t, options{
				script: steps(one, one, one, one), tools: []tool.Tool{act("Act", effect.Write, ok)},
				change: func(o *agent.Options) {
					o.Limits = tc.limits
					o.Model.Price = model.Price{Input: 1e6, Output: 1e6}
				},
			})
			err := r.turn(t.Context())
			limit, isLimit := errors.AsType[*agent.Limit](err)
			if !isLimit || limit.What != tc.what {
				t.Errorf("Turn = %v, want a limit of %s", err, tc.what)
			}
			if got := strings.Count(strings.Join(r.story(), " "), "finished"); got != tc.steps {
				t.Errorf("%d calls ended, want %d", got, tc.steps)
			}
		})
	}
}

func TestLimitOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, options{
			script: steps(`call: Act {"on": "a"}`), tools: []tool.Tool{act("Act", effect.Write, untilEnd)},
			change: func(o *agent.Options) { o.Limits.Time = 10 * time.Second },
		})
		err := r.turn(t.Context())
		if limit, isLimit := errors.AsType[*agent.Limit](err); !isLimit || limit.What != "time" {
			t.Errorf("Turn = %v, want a limit of time", err)
		}
		if got := r.result("c1").Status; got != tool.Interrupted {
			t.Errorf("the call is %s, want interrupted", got)
		}
	})
}

// TestSentRequestsCanBePutTogether from what is shared and what is new.
func TestSentRequestsCanBePutTogether(t *testing.T) {
	one := `call: Act {"on": "a"}`
	r := newRig(t, options{script: steps(one, one, one), tools: []tool.Tool{act("Act", effect.Read, ok)}})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	var whole []byte
	for _, e := range r.events {
		b, isSent := e.Body.(event.Sent)
		if !isSent {
			continue
		}
		f, err := r.Journal.Artifact(b.Request)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		whole = append(slices.Clone(whole[:b.Repeats]), rest...)
		var request model.Request
		if err := json.Unmarshal(whole, &request); err != nil || len(whole) != b.Bytes {
			t.Fatalf("a request of %d bytes, want %d: %v", len(whole), b.Bytes, err)
		}
	}
}

func TestATurnWithNothingToGoOnWith(t *testing.T) {
	r := newRig(t, options{script: steps()})
	if err := r.Turn(t.Context(), agent.Input{}); !errors.Is(err, agent.ErrNothing) {
		t.Errorf("Turn = %v, want ErrNothing", err)
	}
}

// A crash between the answer and the record that the turn is over: the turn
// ends, and the model is not asked again, which would have nothing to add.
func TestATurnThatWasCutAfterItsAnswerOnlyEnds(t *testing.T) {
	r := newRig(t, options{script: steps("say: never asked for"), before: []event.Body{
		event.Opened{Session: "s", Root: "/w"}, event.Asked{Text: "go"},
		event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "done"}}}, Stop: model.End},
	}})
	if err := r.Turn(t.Context(), agent.Input{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"opened", "stopped"}, kinds(r.events)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if err := r.Turn(t.Context(), agent.Input{}); !errors.Is(err, agent.ErrNothing) {
		t.Errorf("the next turn: %v, want ErrNothing", err)
	}
}

func kinds(events []event.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Kind())
	}
	return all
}

func TestDoRunsWhatAPersonAsksFor(t *testing.T) {
	r := newRig(t, options{script: steps(), change: func(o *agent.Options) {
		o.Own = []tool.Tool{act("Undo", effect.Write, ok)}
	}})
	result, err := r.Do(t.Context(), tool.Call{Tool: "Undo", Args: json.RawMessage(`{"on":"a"}`)})
	if err != nil || result.Status != tool.Success {
		t.Fatalf("Do = %+v, %v", result, err)
	}
	want := []string{"planned c1", "allow c1", "started c1", "finished c1"}
	if diff := cmp.Diff(want, r.story()); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
	if err := r.turn(t.Context()); err != nil {
		t.Errorf("the session did not go on: %v", err)
	}
}

// replyOf is a reply that asks for calls.
func replyOf(calls ...tool.Call) event.Body {
	m := model.Message{Role: model.Assistant}
	for _, c := range calls {
		m.Parts = append(m.Parts, model.Call{Call: c})
	}
	return event.Replied{Message: m, Stop: model.Calls}
}

// TestKeepGivesAStateThatGoesOn: what was last kept, and the events since, make
// the state that there is.
func TestKeepGivesAStateThatGoesOn(t *testing.T) {
	var seq int64
	var kept []byte
	var calls []string
	for i := range 30 {
		calls = append(calls, fmt.Sprintf(`call: Act {"on": "a%d"}`, i))
	}
	r := newRig(t, options{
		script: steps(calls...), tools: []tool.Tool{act("Act", effect.Read, ok)},
		change: func(o *agent.Options) { o.Keep = func(n int64, state []byte) { seq, kept = n, state } },
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	restored, err := session.Restore(kept)
	if err != nil {
		t.Fatal(err)
	}
	whole := new(session.State)
	for _, e := range r.events {
		if err := whole.Apply(e); err != nil {
			t.Fatal(err)
		}
		if e.Seq > seq {
			if err := restored.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := whole.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	got, err := restored.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("state (-fold +kept):\n%s", diff)
	}
}
