package agent_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// moving makes a tool that writes what its argument leads to, as links do.
func moving(name string, leads func(on string) string, do func(ctx context.Context, on string, env tool.Env) (tool.Result, error)) tool.Tool {
	return tool.New(tool.Spec{
		Name: name, Version: 1, Description: "For the test.", Effects: []effect.Kind{effect.Write},
		Idempotency: tool.None, Risk: tool.Low, Timeout: time.Minute,
	}, func(_ context.Context, in onArgs, _ tool.Input) (*tool.Action, error) {
		on := leads(in.On)
		return &tool.Action{
			Parts:   []tool.Part{{Name: on, Effects: effect.Set{{Kind: effect.Write, On: on}}}},
			Summary: name + " " + on,
			Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
				return do(ctx, on, env)
			},
		}, nil
	})
}

// TestACallThatExceedsItsOrderRunsAlone: the first call makes the second write
// what the third and the fourth write too.
func TestACallThatExceedsItsOrderRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var moved atomic.Bool
		var order []string // -race tells if it is not one at a time
		slow := func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
			time.Sleep(time.Minute / 2)
			return ok(ctx, on, env)
		}
		note := func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
			order = append(order, "begin "+on)
			time.Sleep(time.Second)
			order = append(order, "end "+on)
			return ok(ctx, on, env)
		}
		leads := func(on string) string {
			if on == "link" && moved.Load() {
				return "shared"
			}
			return on
		}
		r := newRig(t, options{
			script: steps(`call: Link {"on": "link"}` + "\n" + `call: Write {"on": "link"}` + "\n" +
				`call: Slow {"on": "other"}` + "\n" + `call: Write {"on": "shared"}` + "\n" + `call: Write {"on": "shared"}`),
			tools: []tool.Tool{
				act("Link", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
					moved.Store(true)
					return ok(ctx, on, env)
				}),
				moving("Write", leads, note), act("Slow", effect.Write, slow),
			},
			change: func(o *agent.Options) { o.Limits.Parallel = 2 },
		})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := slices.Repeat([]string{"begin shared", "end shared"}, 3)
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		story := r.story()
		if slices.Index(story, "started c2") < slices.Index(story, "finished c3") ||
			slices.Index(story, "started c4") < slices.Index(story, "finished c2") {
			t.Errorf("c2 did not run alone: %v", story)
		}
	})
}

// TestAnApprovedCallThatExceedsItsOrderRunsAlone: its plan changes while a
// person thinks, and another call that does the same runs.
func TestAnApprovedCallThatExceedsItsOrderRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var moved atomic.Bool
		leads := func(on string) string {
			if on == "link" && moved.Load() {
				return "shared"
			}
			return on
		}
		var running atomic.Int32
		one := func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
			if running.Add(1) > 1 {
				t.Error("two calls write the same at once")
			}
			time.Sleep(10 * time.Second)
			running.Add(-1)
			return ok(ctx, on, env)
		}
		questions := 0
		r := newRig(t, options{
			script: steps(`call: Write {"on": "link"}` + "\n" + `call: Free {"on": "shared"}`),
			tools:  []tool.Tool{moving("Write", leads, one), moving("Free", leads, one)},
			change: func(o *agent.Options) {
				o.Policy = policy.Policy{Mode: policy.ModeAsk, Rules: []policy.Rule{{Tool: "Free", Verdict: policy.Allow, Source: policy.FromUser}}}
				o.Approve = func(context.Context, agent.Question) (agent.Answer, error) {
					questions++
					time.Sleep(time.Second / 2)
					moved.Store(true)
					return agent.Answer{Allow: true}, nil
				}
			},
		})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r.kind("c1") != "" || r.kind("c2") != "" || questions != 2 {
			t.Errorf("c1 %q, c2 %q, %d questions", r.kind("c1"), r.kind("c2"), questions)
		}
	})
}

func TestADenyRuleHoldsForAPlanThatChangedWhileItWasAskedAbout(t *testing.T) {
	var moved atomic.Bool
	leads := func(on string) string {
		if moved.Load() {
			return "forbidden"
		}
		return on
	}
	r := newRig(t, options{
		script: steps(`call: Write {"on": "link"}`),
		tools: []tool.Tool{moving("Write", leads, func(context.Context, string, tool.Env) (tool.Result, error) {
			t.Error("it ran")
			return tool.Result{}, nil
		})},
		change: func(o *agent.Options) {
			o.Policy = policy.Policy{Mode: policy.ModeAsk, Rules: []policy.Rule{
				{Tool: "Write", Pattern: "forbidden", Verdict: policy.Deny, Source: policy.FromUser},
			}}
			o.Approve = func(context.Context, agent.Question) (agent.Answer, error) {
				moved.Store(true)
				return agent.Answer{Allow: true}, nil
			}
		},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.kind("c1"); got != tool.Denied {
		t.Errorf("kind is %q, want denied", got)
	}
}

// TestOneQuestionAtATime: the first answer settles the calls that are like it,
// and what needs no answer does not wait for one.
func TestOneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asking, questions, read atomic.Int32
		r := newRig(t, options{
			script: steps("call: Act {\"on\": \"a\"}\ncall: Act {\"on\": \"b\"}\ncall: Act {\"on\": \"c\"}\ncall: Look {\"on\": \"d\"}"),
			tools: []tool.Tool{act("Act", effect.Write, ok), act("Look", effect.Read, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
				read.Add(1)
				return ok(ctx, on, env)
			})},
			change: func(o *agent.Options) {
				o.Policy.Mode = policy.ModeAsk
				o.Approve = func(context.Context, agent.Question) (agent.Answer, error) {
					questions.Add(1)
					if asking.Add(1) > 1 {
						t.Error("two questions at once")
					}
					time.Sleep(time.Hour)
					if read.Load() == 0 {
						t.Error("a read waited for the answer")
					}
					asking.Add(-1)
					return agent.Answer{Allow: true, Remember: []string{"Act"}}, nil
				}
			},
		})
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if id := fmt.Sprintf("c%d", i+1); r.kind(id) != "" {
				t.Errorf("%s failed: %s", id, r.kind(id))
			}
		}
		if got := questions.Load(); got != 1 {
			t.Errorf("%d questions, want 1", got)
		}
	})
}

// TestR121_ACallThatFailedWaitsForOneThatMayMendIt in the same reply.
func TestR121_ACallThatFailedWaitsForOneThatMayMendIt(t *testing.T) {
	made := false
	r := newRig(t, options{
		script: steps(`call: Look {"on": "a"}`, `call: Make {"on": "b"}`+"\n"+`call: Look {"on": "a"}`),
		tools: []tool.Tool{
			act("Look", effect.Read, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
				if !made {
					return fails(tool.NotFound)(ctx, on, env)
				}
				return ok(ctx, on, env)
			}),
			act("Make", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
				made = true
				return ok(ctx, on, env)
			}),
		},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := []tool.Kind{r.kind("c1"), r.kind("c3")}; got[0] != tool.NotFound || got[1] != "" {
		t.Errorf("the call failed by %q and then by %q", got[0], got[1])
	}
}
