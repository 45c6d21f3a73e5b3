package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// TestR082_WhatNeededAFailedCallIsNotRun has two calls in one answer, on one
// thing: how the first ends decides about the second.
func TestR082_WhatNeededAFailedCallIsNotRun(t *testing.T) {
	swap := func(do func(context.Context, string, tool.Env) (tool.Result, error)) tool.Tool {
		made := act("Swap", effect.Write, do)
		return respecified{made, func(s *tool.Spec) { s.Idempotency = tool.CompareAndSwap }}
	}
	for _, tc := range []struct {
		name   string
		first  tool.Tool
		second tool.Tool
		want   tool.Kind
	}{
		{"the first succeeded", act("First", effect.Write, ok), act("Second", effect.Write, ok), ""},
		{"it failed", act("First", effect.Write, fails(tool.IO)), act("Second", effect.Write, ok), tool.DependencyFailed},
		{"it failed, and may have written anything", act("First", effect.Anything, fails(tool.NonzeroExit)), act("Second", effect.Anything, ok), tool.DependencyFailed},
		{"it only read", act("First", effect.Read, fails(tool.IO)), act("Second", effect.Write, ok), ""},
		{"the second only reads", act("First", effect.Write, fails(tool.IO)), act("Second", effect.Read, ok), ""},
		{"the second compares", act("First", effect.Write, fails(tool.IO)), swap(ok), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			one, two := tc.first.Spec().Name, tc.second.Spec().Name
			r := newRig(t, options{
				script: steps("call: " + one + " {\"on\": \"a\"}\ncall: " + two + " {\"on\": \"a\"}"),
				tools:  []tool.Tool{tc.first, tc.second},
			})
			if err := r.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.kind("c2"); got != tc.want {
				t.Errorf("the second is %q, want %q", got, tc.want)
			}
		})
	}
}

// respecified is a tool with another contract.
type respecified struct {
	tool.Tool
	change func(*tool.Spec)
}

func (x respecified) Spec() tool.Spec {
	s := x.Tool.Spec()
	x.change(&s)
	return s
}

func TestDeniedComesBeforeDependencies(t *testing.T) {
	r := newRig(t, options{
		script: steps("call: Act {\"on\": \"a\"}\ncall: Act {\"on\": \"a\"}"),
		tools:  []tool.Tool{act("Act", effect.Write, ok)},
		change: func(o *agent.Options) { o.Policy.Mode = policy.ModePlan },
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.kind("c2"); got != tool.Denied {
		t.Errorf("the second is %q, want denied", got)
	}
}

// TestR084_TheLogSaysWhoWaitedForWhat, and for which of its effects.
func TestR084_TheLogSaysWhoWaitedForWhat(t *testing.T) {
	r := newRig(t, options{
		script: steps("call: Act {\"on\": \"port:80\"}\ncall: Act {\"on\": \"port:81\"}\ncall: Act {\"on\": \"port:80\"}"),
		tools:  []tool.Tool{act("Act", effect.Resource, ok)},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := make(map[string][]event.Wait)
	for _, e := range r.events {
		if b, isStart := e.Body.(event.Started); isStart {
			got[b.Call] = b.Waited
		}
	}
	port := effect.Effect{Kind: effect.Resource, On: "port:80"}
	want := map[string][]event.Wait{"c1": nil, "c2": nil, "c3": {{Call: "c1", Effect: port, Held: port}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// unknown prepares a session that a crash cut off in the middle of a call that
// nobody can settle.
func unknown(t *testing.T) (*journal.Journal, *session.State, []tool.Tool) {
	t.Helper()
	j, err := journal.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	acts := []tool.Tool{act("Act", effect.Anything, func(context.Context, string, tool.Env) (tool.Result, error) {
		t.Error("it ran again")
		return tool.Result{}, nil
	})}
	s := new(session.State)
	fold := func(bodies ...event.Body) {
		events, err := j.Append(bodies...)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := tool.Call{ID: "c1", Tool: "Act", Args: json.RawMessage(`{"on":"a"}`)}
	p := tool.Plan{Call: c, Parts: []tool.Part{{Name: "a", Effects: effect.Set{{Kind: effect.Anything}}}}}
	fold(event.Opened{Session: "s", Root: "/w"}, event.Asked{Text: "go"}, replyOf(c),
		event.Planned{Plan: p}, event.Decided{Call: "c1", Plan: p.Digest(), Verdict: "allow"}, event.Started{Call: "c1"})
	return j, s, acts
}

func TestR075_AnUnknownOutcomeIsAskedAboutAndNeverRepeated(t *testing.T) {
	answers := map[string]func(context.Context, session.OpenCall) (event.Settled, error){
		"nobody there": nil,
		"nobody answers": func(context.Context, session.OpenCall) (event.Settled, error) {
			return event.Settled{}, errors.New("end of input")
		},
		"done": func(_ context.Context, c session.OpenCall) (event.Settled, error) {
			return event.Settled{As: "done", Note: "saw it"}, nil
		},
	}
	for name, ask := range answers {
		t.Run(name, func(t *testing.T) {
			j, s, tools := unknown(t)
			var events []event.Event
			_, err := agent.Open(t.Context(), s, agent.Options{
				Journal: j, Tools: tools, Session: event.Opened{Session: "s", Root: "/w"}, Unknown: ask,
				Observe: func(x agent.Signal) {
					if r, isEvent := x.(agent.Recorded); isEvent {
						events = append(events, r.Event)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			var results, words int
			for _, e := range events {
				switch b := e.Body.(type) {
				case event.Finished:
					results++
					if b.Result.Status != tool.Unknown {
						t.Errorf("the result is %s, want unknown", b.Result.Status)
					}
				case event.Settled:
					words++
				}
			}
			if want := map[bool]int{true: 1}[name == "done"]; results != 1 || words != want {
				t.Errorf("%d results and %d words of a person, want 1 and %d", results, words, want)
			}
			if left := len(s.Unsettled()); left != 1-words {
				t.Errorf("%d calls are unsettled", left)
			}
		})
	}
}
