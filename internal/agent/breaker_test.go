package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/journal"
)

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
