package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

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
