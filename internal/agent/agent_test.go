package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
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

// TestIndependentCallsOverlap would never end if they did not.
func TestIndependentCallsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		meet := func(ctx context.Context, _ string, _ tool.Env) (tool.Result, error) {
			running.Add(1)
			for running.Load() < 3 {
				select {
				case <-ctx.Done():
					return tool.Result{}, ctx.Err()
				case <-time.After(time.Millisecond):
				}
			}
			return ok(ctx, "", tool.Env{})
		}
		r := newRig(t, options{
			script: steps(`call: Act {"on": "a"}` + "\n" + `call: Act {"on": "b"}` + "\n" + `call: Act {"on": "c"}`),
			tools:  []tool.Tool{act("Act", effect.Write, meet)},
		})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"c1", "c2", "c3"} {
			if got := r.result(id).Status; got != tool.Success {
				t.Errorf("%s is %s", id, got)
			}
		}
	})
}

func TestR081_ConflictingCallsKeepTheirOrder(t *testing.T) {
	var order []string // written by one call at a time, or -race says so
	note := func(_ context.Context, on string, _ tool.Env) (tool.Result, error) {
		order = append(order, on)
		return tool.Result{Status: tool.Success, Text: fmt.Sprint(len(order))}, nil
	}
	r := newRig(t, options{
		script: steps(strings.Repeat("call: Act {\"on\": \"same\"}\n", 5)),
		tools:  []tool.Tool{act("Act", effect.Write, note)},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if got, want := r.result(fmt.Sprintf("c%d", i+1)).Text, fmt.Sprint(i+1); got != want {
			t.Errorf("call %d ran as number %s", i+1, got)
		}
	}
}

func TestParallelIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		work := func(ctx context.Context, _ string, _ tool.Env) (tool.Result, error) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return ok(ctx, "", tool.Env{})
		}
		var calls strings.Builder
		for i := range 7 {
			fmt.Fprintf(&calls, "call: Act {\"on\": \"f%d\"}\n", i)
		}
		r := newRig(t, options{
			script: steps(calls.String()), tools: []tool.Tool{act("Act", effect.Write, work)},
			change: func(o *agent.Options) { o.Limits.Parallel = 3 },
		})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := most.Load(); got != 3 {
			t.Errorf("%d calls ran at once, want 3", got)
		}
	})
}

// TestACallThatNeedsAnEarlierOne is prepared again once that has run.
func TestACallThatNeedsAnEarlierOne(t *testing.T) {
	made := false
	needs := tool.New(tool.Spec{
		Name: "Needs", Version: 1, Description: "For the test.", Effects: []effect.Kind{effect.Read},
		Idempotency: tool.ReadOnly, Risk: tool.Low, Timeout: time.Minute,
	}, func(context.Context, onArgs, tool.Input) (*tool.Action, error) {
		if !made {
			return nil, &tool.Failure{Kind: tool.NotFound, Message: "not there yet"}
		}
		return &tool.Action{Do: func(ctx context.Context, env tool.Env) (tool.Result, error) { return ok(ctx, "", env) }}, nil
	})
	makes := act("Make", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
		made = true
		return ok(ctx, on, env)
	})
	r := newRig(t, options{
		script: steps("call: Needs {\"on\": \"a\"}\ncall: Make {\"on\": \"a\"}\ncall: Needs {\"on\": \"a\"}"),
		tools:  []tool.Tool{needs, makes},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.kind("c1"); got != tool.NotFound {
		t.Errorf("the call before it is %q, want not_found", got)
	}
	if got := r.result("c3").Status; got != tool.Success {
		t.Errorf("the call after it is %s, want success", got)
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

func TestR059_TheBreakerOpensAndClosesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := `call: Act {"on": "a"}`
		r := newRig(t, options{
			script: steps(one, one, one, one) + steps(one),
			tools:  []tool.Tool{act("Act", effect.Write, fails(tool.TimedOut))},
		})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.kind("c4"); got != tool.CircuitOpen {
			t.Errorf("the fourth call is %q, want circuit_open", got)
		}
		time.Sleep(301 * time.Second)
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.kind("c5"); got != tool.TimedOut {
			t.Errorf("after the rest the call is %q: it should run again", got)
		}
	})
}

// The time of an event is that of a clock that people set: back by an hour, it does
// not have a tool rest for one more.
func TestBug_S07_ARestDoesNotFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := time.Hour
		j := journal.Options{Now: func() time.Time { return time.Now().Add(ahead) }}.Memory()
		defer j.Close()
		one := `call: Act {"on": "a"}`
		r := newRig(t, options{
			script: steps(one, one, one) + steps(one),
			tools:  []tool.Tool{act("Act", effect.Write, fails(tool.TimedOut))},
			change: func(o *agent.Options) { o.Journal = j },
		})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		ahead = 0
		time.Sleep(301 * time.Second)
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.kind("c4"); got != tool.TimedOut {
			t.Errorf("after the rest the call is %q: it should run again", got)
		}
	})
}

func TestR121_ARepeatedCallIsNotRun(t *testing.T) {
	ran := 0
	count := func(context.Context, string, tool.Env) (tool.Result, error) {
		ran++
		return tool.Result{}, &tool.Failure{Kind: tool.NoMatch, Message: "no"}
	}
	one := `call: Act {"on": "a"}`
	r := newRig(t, options{
		script: steps(one, one, one) + steps(one),
		tools:  []tool.Tool{act("Act", effect.Write, count)},
	})
	for range 2 {
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := []tool.Kind{r.kind("c1"), r.kind("c2"), r.kind("c3"), r.kind("c4")}
	want := []tool.Kind{tool.NoMatch, tool.Repeated, tool.Repeated, tool.NoMatch}
	if diff := cmp.Diff(want, got); diff != "" || ran != 2 {
		t.Errorf("it ran %d times; kinds (-want +got):\n%s", ran, diff)
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

// TestBug_P02_ALengthStopRunsNothing neither once nor over and over.
func TestBug_P02_ALengthStopRunsNothing(t *testing.T) {
	cut := "call: Act {\"on\": \"a\"}\nstop: length"
	r := newRig(t, options{
		script: steps(cut, "garble: Act {\"on\": \"half\nstop: length", cut),
		tools: []tool.Tool{act("Act", effect.Write, func(context.Context, string, tool.Env) (tool.Result, error) {
			t.Error("it ran")
			return tool.Result{}, nil
		})},
	})
	err := r.turn(t.Context())
	if _, isLimit := errors.AsType[*agent.Limit](err); !isLimit {
		t.Errorf("Turn = %v, want a limit", err)
	}
	for _, id := range []string{"c1", "c2", "c3"} {
		if got := r.result(id); got.Failure.Kind != tool.Invalid || !strings.Contains(got.Failure.Hint, "split") {
			t.Errorf("%s is %+v", id, got)
		}
	}
}

// TestBug_P04_ACutStreamIsGoneOnWith: what was said is kept, marked; what it asked
// for is not run, and the model is told to go on.
func TestBug_P04_ACutStreamIsGoneOnWith(t *testing.T) {
	r := newRig(t, options{
		script: "-- step --\nsay: Half a sen\ncall: Act {\"on\": \"a\"}\nstop: cut\n-- step --\nexpect: user /your last answer was cut off/\nsay: Done.\n",
		tools:  []tool.Tool{act("Act", effect.Write, ok)},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	var replies []model.Stop
	for _, e := range r.events {
		if b, isReply := e.Body.(event.Replied); isReply {
			replies = append(replies, b.Stop)
			if len(b.Message.Calls()) > 0 {
				t.Errorf("it asks for %+v", b.Message.Calls())
			}
		}
	}
	if d := cmp.Diff([]model.Stop{model.Cut, model.End}, replies); d != "" {
		t.Error(d)
	}
	if got := r.story(); len(got) > 0 {
		t.Errorf("calls: %v", got)
	}
}

// A stream that breaks off again and again ends the turn, which can go on later.
func TestBug_P08_StreamsThatBreakOff(t *testing.T) {
	r := newRig(t, options{script: strings.Repeat("-- step --\nsay: Half\nstop: cut\n", 4) + "-- step --\nsay: Done.\n"})
	err := r.turn(t.Context())
	if _, unavailable := errors.AsType[*model.Unavailable](err); !unavailable {
		t.Errorf("Turn = %v", err)
	}
	if err := r.turn(t.Context()); err != nil {
		t.Errorf("the session did not go on: %v", err)
	}
}

func TestMalformedAndUnknownCalls(t *testing.T) {
	r := newRig(t, options{
		script: steps(`garble: Act {"on": "a`, `call: Nope {}`, `call: Act {"of": "a"}`),
		tools:  []tool.Tool{act("Act", effect.Write, ok)},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := []tool.Kind{r.kind("c1"), r.kind("c2"), r.kind("c3")}
	if diff := cmp.Diff([]tool.Kind{tool.Invalid, tool.NotFound, tool.Invalid}, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if hint := r.result("c2").Failure.Hint; !strings.Contains(hint, "Act") {
		t.Errorf("the hint does not name the tools there are: %s", hint)
	}
}

func TestApproval(t *testing.T) {
	ask := func(answers ...agent.Answer) func(*agent.Options) {
		return func(o *agent.Options) {
			o.Policy.Mode = policy.ModeAsk
			o.Approve = func(context.Context, agent.Question) (agent.Answer, error) {
				if len(answers) == 0 {
					return agent.Answer{}, io.EOF
				}
				a := answers[0]
				answers = answers[1:]
				return a, nil
			}
		}
	}
	one := `call: Act {"on": "a"}`
	for _, tc := range []struct {
		name   string
		change func(*agent.Options)
		want   []tool.Kind
	}{
		{"no approver", func(o *agent.Options) { o.Policy.Mode = policy.ModeAsk }, []tool.Kind{tool.NeedsApproval, tool.NeedsApproval}},
		{"yes, then the end of input", ask(agent.Answer{Allow: true}), []tool.Kind{"", tool.NeedsApproval}},
		{"no", ask(agent.Answer{Reason: "not that"}, agent.Answer{}), []tool.Kind{tool.Denied, tool.Denied}},
		{"yes, from now on", ask(agent.Answer{Allow: true, Remember: []string{"Act(a)"}}), []tool.Kind{"", ""}},
		{"plan mode", func(o *agent.Options) { o.Policy.Mode = policy.ModePlan }, []tool.Kind{tool.Denied, tool.Denied}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, options{script: steps(one, one), tools: []tool.Tool{act("Act", effect.Write, ok)}, change: tc.change})
			if err := r.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, []tool.Kind{r.kind("c1"), r.kind("c2")}); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestP19_AnApprovalIsForWhatWasShown changes the plan while the person thinks.
func TestPromise_P19_AnApprovalIsForWhatWasShown(t *testing.T) {
	for _, tc := range []struct {
		changes int
		want    tool.Kind
	}{{0, ""}, {1, ""}, {2, ""}, {3, tool.Stale}} {
		t.Run(fmt.Sprint(tc.changes), func(t *testing.T) {
			preview, ran := "v0", ""
			changing := tool.New(tool.Spec{
				Name: "Act", Version: 1, Description: "For the test.", Effects: []effect.Kind{effect.Write},
				Idempotency: tool.None, Risk: tool.Low, Timeout: time.Minute,
			}, func(context.Context, onArgs, tool.Input) (*tool.Action, error) {
				now := preview
				return &tool.Action{
					Parts:   []tool.Part{{Name: "a", Effects: effect.Set{{Kind: effect.Write, On: "a"}}}},
					Preview: now,
					Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
						ran = now
						return ok(ctx, "", env)
					},
				}, nil
			})
			shown, left := "", tc.changes
			r := newRig(t, options{script: steps(`call: Act {"on": "a"}`), tools: []tool.Tool{changing}, change: func(o *agent.Options) {
				o.Policy.Mode = policy.ModeAsk
				o.Approve = func(_ context.Context, q agent.Question) (agent.Answer, error) {
					shown = q.Plan.Preview
					if left > 0 {
						preview = fmt.Sprint("v", left)
						left--
					}
					return agent.Answer{Allow: true}, nil
				}
			}})
			if err := r.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.kind("c1"); got != tc.want {
				t.Errorf("kind is %q, want %q", got, tc.want)
			}
			if tc.want == "" && ran != shown {
				t.Errorf("%q was shown and %q ran", shown, ran)
			}
		})
	}
}

func TestSteering(t *testing.T) {
	var r *rig
	r = newRig(t, options{
		script: "-- step --\ncall: Act {\"on\": \"a\"}\n-- step --\nexpect: user /the other one/\nsay: Done.\n",
		tools: []tool.Tool{act("Act", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
			if !r.Steer(agent.Input{Text: "the other one"}) {
				t.Error("the turn cannot be steered")
			}
			return ok(ctx, on, env)
		})},
	})
	if r.Steer(agent.Input{Text: "too early"}) {
		t.Error("steered without a turn")
	}
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.Steer(agent.Input{Text: "too late"}) {
		t.Error("steered after the turn")
	}
}

// TestSteeringIsNotLost: what was said while the turn failed is kept.
func TestSteeringIsNotLost(t *testing.T) {
	var r *rig
	r = newRig(t, options{
		script: steps(`call: Act {"on": "a"}`),
		tools: []tool.Tool{act("Act", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
			r.Steer(agent.Input{Text: "remember this"})
			return ok(ctx, on, env)
		})},
		change: func(o *agent.Options) { o.Limits.Steps = 1 },
	})
	if err := r.turn(t.Context()); err == nil {
		t.Fatal("no limit was reached")
	}
	if !slices.ContainsFunc(r.events, func(e event.Event) bool {
		b, isAsked := e.Body.(event.Asked)
		return isAsked && b.Text == "remember this"
	}) {
		t.Error("the words are lost")
	}
}

// TestLongResultsAreArtifacts (R240, R242).
func TestR102_LongResultsAreArtifacts(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 10_000)
	r := newRig(t, options{
		script: steps(`call: Act {"on": "a"}`),
		tools: []tool.Tool{act("Act", effect.Read, func(context.Context, string, tool.Env) (tool.Result, error) {
			return tool.Result{Status: tool.Success, Text: long}, nil
		})},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := r.result("c1")
	if got.Status != tool.Partial || len(got.Text) > tool.DefaultInline || len(got.Artifacts) != 1 {
		t.Fatalf("status %s, %d bytes, %d artifacts", got.Status, len(got.Text), len(got.Artifacts))
	}
	f, err := r.Journal.Artifact(got.Artifacts[0].Handle)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != long {
		t.Errorf("the artifact has %d bytes (%v), want %d", len(b), err, len(long))
	}
}

// TestR240_R241_R243_WhatIsCutIsKept: a result over a limit that was set is partial;
// its data say that it was cut, how it begins and how long it is, its text names the
// total and the artifact, and what a tool said in its data stays.
func TestR240_R241_R243_WhatIsCutIsKept(t *testing.T) {
	var long strings.Builder
	for n := range 300 {
		fmt.Fprintf(&long, "line %d\n", n+1)
	}
	for name, tt := range map[string]struct {
		limits tool.Limits
		data   string
		cut    bool
	}{
		"the defaults":          {tool.Limits{}, `{"mine":1}`, false},
		"fewer lines":           {tool.Limits{Lines: 100, Edge: 5}, `{"mine":1}`, true},
		"fewer bytes":           {tool.Limits{Bytes: 600}, ``, true},
		"fewer tokens, no head": {tool.Limits{Tokens: 200, Direction: tool.Tail}, `[1]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{
				script: steps(`call: Act {"on": "a"}`),
				tools: []tool.Tool{act("Act", effect.Read, func(context.Context, string, tool.Env) (tool.Result, error) {
					return tool.Result{Status: tool.Success, Text: long.String(), Data: json.RawMessage(tt.data)}, nil
				})},
				change: func(o *agent.Options) { o.Output = tt.limits },
			})
			if err := r.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := r.result("c1")
			if cut := got.Status == tool.Partial && len(got.Artifacts) == 1; cut != tt.cut {
				t.Fatalf("status %s, %d artifacts", got.Status, len(got.Artifacts))
			}
			if !tt.cut {
				if got.Text != long.String() || string(got.Data) != tt.data {
					t.Errorf("%d bytes, data %s", len(got.Text), got.Data)
				}
				return
			}
			whole := got.Artifacts[0]
			if !strings.Contains(got.Text, "of 300 lines") || !strings.Contains(got.Text, whole.Handle) || whole.Lines != 300 {
				t.Errorf("%q, %+v", got.Text, whole)
			}
			f, err := r.Journal.Artifact(whole.Handle)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if b, err := io.ReadAll(f); err != nil || string(b) != long.String() {
				t.Errorf("the artifact has %d bytes, %v", len(b), err)
			}
			if tt.data == `[1]` {
				if string(got.Data) != tt.data {
					t.Errorf("the data are %s", got.Data)
				}
				return
			}
			var data struct {
				Mine      int
				Truncated bool
				Preview   string
				Lines     int64 `json:"total_lines"`
			}
			if err := json.Unmarshal(got.Data, &data); err != nil {
				t.Fatal(err)
			}
			if !data.Truncated || data.Lines != 300 || !strings.HasPrefix(data.Preview, "line 1\n") || len(data.Preview) > 600 || tt.data != "" && data.Mine != 1 {
				t.Errorf("the data are %s", got.Data)
			}
		})
	}
}

func TestR044_ResultsCarryMetrics(t *testing.T) {
	r := newRig(t, options{script: steps(`call: Act {"on": "a"}`), tools: []tool.Tool{act("Act", effect.Read, ok)}})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := r.result("c1").Metrics; m == nil || m.OutputBytes != 2 {
		t.Errorf("metrics are %+v", m)
	}
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

// TestR122_GuessesAreCounted and the model is told, until something succeeds.
func TestR122_GuessesAreCounted(t *testing.T) {
	seen := map[string]bool{"f5": true}
	look := func(_ context.Context, on string, _ tool.Env) (tool.Result, error) {
		if !seen[on] {
			return tool.Result{}, &tool.Failure{Kind: tool.NotFound, Message: "no " + on, Hint: "look"}
		}
		return tool.Result{Status: tool.Success, Text: "ok"}, nil
	}
	var calls []string
	for i := range 9 {
		calls = append(calls, fmt.Sprintf(`call: Look {"on": "f%d"}`, i+1))
	}
	r := newRig(t, options{script: steps(calls...), tools: []tool.Tool{act("Look", effect.Read, look)}})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	var told []string
	for i := range 9 {
		if f := r.result(fmt.Sprintf("c%d", i+1)).Failure; f != nil && strings.Contains(f.Hint, "in a row of Look") {
			told = append(told, fmt.Sprintf("c%d %s", i+1, f.Hint[:len("look; this is failure 3")]))
		}
	}
	want := []string{"c3 look; this is failure 3", "c4 look; this is failure 4", "c8 look; this is failure 3", "c9 look; this is failure 4"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
