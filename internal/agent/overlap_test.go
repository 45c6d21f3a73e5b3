package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

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
