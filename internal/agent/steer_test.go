package agent_test

import (
	"context"
	"slices"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

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
