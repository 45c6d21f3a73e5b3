package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A model that goes round in a circle is stopped though no limit is set; one
// that waits for something is not, once it has changed.
func TestTheSameStepOverAndOverEndsTheTurn(t *testing.T) {
	tests := []struct {
		name    string
		changes int // the call that gets another result, 0 for none
		end     string
	}{
		{"nothing changes", 0, "25 steps in a row repeated the same calls with the same results"},
		{"something does", 20, "<nil>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var script []string
			for range 40 {
				script = append(script, `call: Act {"on": "a"}`)
			}
			calls := 0
			r := newRig(t, options{
				script: steps(script...),
				tools: []tool.Tool{act("Act", effect.Read, func(context.Context, string, tool.Env) (tool.Result, error) {
					calls++
					return tool.Result{Status: tool.Success, Text: fmt.Sprint(calls == tt.changes)}, nil
				})},
			})
			err := r.turn(t.Context())
			if fmt.Sprint(err) != tt.end {
				t.Errorf("Turn = %v, want %s", err, tt.end)
			}
			if _, ok := errors.AsType[*agent.Limit](err); err != nil && !ok {
				t.Errorf("%T is no limit", err)
			}
		})
	}
}

// The calls beyond the first 256 of a reply get their results without a run.
func TestAReplyWithVeryManyCalls(t *testing.T) {
	ran := 0
	r := newRig(t, options{
		script: steps(strings.Repeat("call: Act {\"on\": \"a\"}\n", 600)),
		tools: []tool.Tool{act("Act", effect.Write, func(ctx context.Context, on string, e tool.Env) (tool.Result, error) {
			ran++
			return ok(ctx, on, e)
		})},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	results := map[tool.Status]int{}
	for _, e := range r.events {
		if f, ok := e.Body.(event.Finished); ok {
			results[f.Result.Status]++
		}
	}
	if ran != 256 || results[tool.Success] != 256 || results[tool.Error] != 344 {
		t.Errorf("%d ran, results %v", ran, results)
	}
	if got := r.kind("c257"); got != tool.Invalid {
		t.Errorf("c257 is %q, want invalid", got)
	}
}
