package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// aftermath looks at the world before and after calls, and tells of one change.
type aftermath struct{ story []string }

func (a *aftermath) use(o *agent.Options) {
	o.Before = func(_ context.Context, call string, e effect.Set) error {
		a.story = append(a.story, fmt.Sprint("before ", call, " ", e[0].Kind))
		return nil
	}
	o.After = func(call string, e effect.Set) agent.Aftermath {
		a.story = append(a.story, fmt.Sprint("after ", call, " ", e[0].Kind))
		return agent.Aftermath{Edits: []edit.Intent{{Path: call + ".txt"}}, Note: "also changed"}
	}
}

// TestR126_WhatACallChangedBesideIsInItsResult: also where it failed or was
// stopped by its time, and never for one that only reads.
func TestR126_WhatACallChangedBesideIsInItsResult(t *testing.T) {
	var a aftermath
	r := newRig(t, options{
		script: steps(`call: Run {"on": "a"}`, `call: Look {"on": "a"}`, `call: Fail {"on": "a"}`),
		tools: []tool.Tool{
			act("Run", effect.Write, ok), act("Look", effect.Read, ok), act("Fail", effect.Write, fails(tool.IO)),
		},
		change: a.use,
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"before c1 write", "after c1 write", "before c2 read", "before c3 write", "after c3 write"}
	if diff := cmp.Diff(want, a.story); diff != "" {
		t.Error(diff)
	}
	for call, text := range map[string]string{"c1": "ok\n[also changed]", "c2": "ok", "c3": "io\n[also changed]"} {
		var edits []edit.Intent
		if call != "c2" {
			edits = []edit.Intent{{Path: call + ".txt"}}
		}
		got := r.result(call)
		if diff := cmp.Diff(edits, got.Edits); got.Text != text || diff != "" {
			t.Errorf("%s: %q, want %q %s", call, got.Text, text, diff)
		}
	}
}

// What a call did before a crash is looked for when the session is opened again;
// what had not started did nothing.
func TestWhatACrashLeftChangedIsInTheResult(t *testing.T) {
	plan := func(call string) tool.Plan {
		return tool.Plan{
			Call:  tool.Call{ID: call, Tool: "Run", Args: json.RawMessage(`{"on":"a"}`)},
			Parts: []tool.Part{{Name: "a", Effects: effect.Set{{Kind: effect.Write, On: "a"}}}},
		}
	}
	one, two := plan("c1"), plan("c2")
	var a aftermath
	r := newRig(t, options{
		script: steps(), tools: []tool.Tool{act("Run", effect.Write, ok)}, change: a.use,
		before: []event.Body{
			event.Opened{Session: "s"}, event.Asked{Text: "go"}, replyOf(one.Call, two.Call),
			event.Planned{Plan: one, Digest: one.Digest()}, event.Decided{Call: "c1", Plan: one.Digest(), Verdict: "allow"},
			event.Started{Call: "c1"}, event.Planned{Plan: two, Digest: two.Digest()},
		},
	})
	if diff := cmp.Diff([]string{"after c1 write"}, a.story); diff != "" {
		t.Error(diff)
	}
	if got := r.result("c1"); got.Status != tool.Unknown || len(got.Edits) != 1 {
		t.Errorf("c1: %+v", got)
	}
	if got := r.result("c2"); got.Status != tool.Interrupted || got.Edits != nil {
		t.Errorf("c2: %+v", got)
	}
}

// TestR116_AnOwnToolRunsInEveryMode, as a person asks for it, but never against a
// rule.
func TestR116_AnOwnToolRunsInEveryMode(t *testing.T) {
	for _, mode := range []policy.Mode{policy.ModePlan, policy.ModeAsk, policy.ModeAuto, policy.ModeFull} {
		deny := []policy.Rule{{Tool: "Undo", Pattern: "kept", Verdict: policy.Deny, Source: policy.FromUser}}
		r := newRig(t, options{script: steps(), change: func(o *agent.Options) {
			o.Own = []tool.Tool{act("Undo", effect.Write, ok)}
			o.Tools = []tool.Tool{act("Write", effect.Write, ok)}
			o.Policy = policy.Policy{Mode: mode, Rules: deny}
		}})
		for _, tt := range []struct {
			tool, on string
			want     tool.Status
		}{{"Undo", "a", tool.Success}, {"Undo", "kept", tool.Error}} {
			got, err := r.Do(t.Context(), tool.Call{Tool: tt.tool, Args: json.RawMessage(fmt.Sprintf(`{"on":%q}`, tt.on))})
			if err != nil || got.Status != tt.want {
				t.Errorf("mode %s: %s %s is %+v, %v", mode, tt.tool, tt.on, got, err)
			}
		}
		got, err := r.Do(t.Context(), tool.Call{Tool: "Write", Args: json.RawMessage(`{"on":"a"}`)})
		if allowed := mode == policy.ModeAuto || mode == policy.ModeFull; err != nil || (got.Status == tool.Success) != allowed {
			t.Errorf("mode %s: Write is %+v, %v", mode, got, err)
		}
	}
}

// TestR131_NewsComeWithTheNextResult: once, whatever the call does, also where it
// fails.
func TestR131_NewsComeWithTheNextResult(t *testing.T) {
	news := []string{"", "c7 has ended", "", "c8 has ended"}
	r := newRig(t, options{
		script: steps(`call: Run {"on": "a"}`, `call: Look {"on": "a"}`, `call: Look {"on": "b"}`, `call: Fail {"on": "a"}`),
		tools: []tool.Tool{
			act("Run", effect.Write, ok), act("Look", effect.Read, ok), act("Fail", effect.Write, fails(tool.IO)),
		},
		change: func(o *agent.Options) {
			o.News = func() (next string, _ []string) { next, news = news[0], news[1:]; return next, nil }
		},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	for call, text := range map[string]string{
		"c1": "ok", "c2": "ok\n[c7 has ended]", "c3": "ok", "c4": "io\n[c8 has ended]",
	} {
		if got := r.result(call); got.Text != text {
			t.Errorf("%s: %q, want %q", call, got.Text, text)
		}
	}
}
