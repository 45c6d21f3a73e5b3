package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A faulty journal fails where it is told to, and then works again.
type faulty struct {
	*journal.Journal
	append func(event.Body) error
	spill  func(name string) error
}

func (f *faulty) Append(bodies ...event.Body) ([]event.Event, error) {
	for _, b := range bodies {
		if f.append == nil {
			break
		}
		if err := f.append(b); err != nil {
			return nil, err
		}
	}
	return f.Journal.Append(bodies...)
}

func (f *faulty) Spill(name string) (tool.Spill, error) {
	if f.spill != nil {
		if err := f.spill(name); err != nil {
			return nil, err
		}
	}
	return f.Journal.Spill(name)
}

func openFaulty(t *testing.T) *faulty {
	t.Helper()
	j, err := journal.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return &faulty{Journal: j}
}

// mustFold checks that a session can be gone on with.
func mustFold(t *testing.T, j *faulty) *session.State {
	t.Helper()
	s := new(session.State)
	for e, err := range j.Since(0) {
		if err == nil {
			err = s.Apply(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestAJournalThatFailedLeavesNothingOpen(t *testing.T) {
	full := errors.New("too large")
	for name, fails := range map[string]func(event.Body) bool{
		"at the plan":   func(b event.Body) bool { _, is := b.(event.Planned); return is },
		"at the start":  func(b event.Body) bool { _, is := b.(event.Started); return is },
		"at the result": func(b event.Body) bool { _, is := b.(event.Finished); return is },
		"at the reply":  func(b event.Body) bool { _, is := b.(event.Replied); return is },
		"at the words":  func(b event.Body) bool { _, is := b.(event.Asked); return is },
	} {
		t.Run(name, func(t *testing.T) {
			j := openFaulty(t)
			var r *rig
			r = newRig(t, options{
				script: steps(`call: Act {"on": "a"}`) + steps(),
				tools: []tool.Tool{act("Act", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
					r.Steer(agent.Input{Text: "and another thing"})
					return ok(ctx, on, env)
				})},
				change: func(o *agent.Options) { o.Journal = j },
			})
			j.append = func(b event.Body) error {
				if fails(b) {
					return full
				}
				return nil
			}
			if err := r.turn(t.Context()); !errors.Is(err, full) {
				t.Fatalf("Turn = %v, want the journal's error", err)
			}
			if r.Steer(agent.Input{Text: "too late"}) {
				t.Error("steered after the turn")
			}
			j.append = nil
			if err := r.turn(t.Context()); err != nil {
				t.Fatalf("the session did not go on: %v", err)
			}
			if left := mustFold(t, j).Open(); len(left) > 0 {
				t.Errorf("calls without a result: %+v", left)
			}
		})
	}
}

func TestR102_WhatCannotBeKeptIsSaid(t *testing.T) {
	j := openFaulty(t)
	j.spill = func(name string) error {
		if strings.HasPrefix(name, "result of ") {
			return errors.New("no space left on device")
		}
		return nil
	}
	r := newRig(t, options{
		script: steps(`call: Act {"on": "a"}`),
		tools: []tool.Tool{act("Act", effect.Read, func(context.Context, string, tool.Env) (tool.Result, error) {
			return tool.Result{Status: tool.Success, Text: strings.Repeat("0123456789abcde\n", 10_000)}, nil
		})},
		change: func(o *agent.Options) { o.Journal = j },
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := r.result("c1")
	if got.Status != tool.Partial || len(got.Artifacts) > 0 || len(got.Text) > tool.DefaultInline {
		t.Errorf("status %s, %d artifacts, %d bytes", got.Status, len(got.Artifacts), len(got.Text))
	}
	if !strings.HasSuffix(got.Text, "could not be kept: no space left on device]") {
		t.Errorf("the text ends in %q", got.Text[max(0, len(got.Text)-80):])
	}
}

func TestDoThatIsInterruptedBeforeItsPlan(t *testing.T) {
	j := openFaulty(t)
	r := newRig(t, options{script: steps(), change: func(o *agent.Options) {
		o.Journal = j
		o.Own = []tool.Tool{act("Undo", effect.Write, ok)}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	call := tool.Call{Tool: "Undo", Args: json.RawMessage(`{"on":"a"}`)}
	if got, err := r.Do(ctx, call); err != nil || got.Status != tool.Interrupted {
		t.Errorf("Do = %s, %v", got.Status, err)
	}
	call.Args = json.RawMessage(`{}`)
	if got, err := r.Do(t.Context(), call); err != nil || got.Failure == nil || got.Failure.Kind != tool.Invalid {
		t.Errorf("Do of what cannot be prepared = %+v, %v", got, err)
	}
	if story := r.story(); len(story) > 0 {
		t.Errorf("recorded: %v", story)
	}
	mustFold(t, j)
}

// settling is a tool that finds out, by settle, how its calls ended.
type settling struct {
	tool.Tool
	settle func(context.Context) (*tool.Result, error)
}

func (s settling) Settle(ctx context.Context, _ tool.Plan, _ json.RawMessage) (*tool.Result, error) {
	return s.settle(ctx)
}

func TestRecoveryThatCannotFindOut(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tc := range []struct {
		name   string
		ctx    context.Context
		settle func(context.Context) (*tool.Result, error)
		err    error
		want   tool.Status // "" for none
	}{
		{"interrupted", ended, func(ctx context.Context) (*tool.Result, error) { return nil, ctx.Err() }, context.Canceled, ""},
		{"interrupted, and found out", ended, func(context.Context) (*tool.Result, error) { return nil, nil }, nil, tool.Interrupted},
		{"an error", t.Context(), func(context.Context) (*tool.Result, error) { return nil, errors.New("no") }, nil, tool.Unknown},
		{"a panic", t.Context(), func(context.Context) (*tool.Result, error) { panic("boom") }, nil, tool.Unknown},
		{"a failure", t.Context(), func(context.Context) (*tool.Result, error) {
			return nil, &tool.Failure{Kind: tool.Stale, Message: "it changed"}
		}, nil, tool.Error},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j, s, tools := unknown(t)
			var got []tool.Status
			_, err := agent.Open(tc.ctx, s, agent.Options{
				Journal: j, Tools: []tool.Tool{settling{tools[0], tc.settle}}, Session: event.Opened{Session: "s", Root: "/w"},
				Observe: func(x agent.Signal) {
					if r, isEvent := x.(agent.Recorded); isEvent {
						if b, isResult := r.Event.Body.(event.Finished); isResult {
							got = append(got, b.Result.Status)
						}
					}
				},
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("Open = %v, want %v", err, tc.err)
			}
			var want []tool.Status
			if tc.want != "" {
				want = []tool.Status{tc.want}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if open := len(s.Open()); open != 1-len(want) {
				t.Errorf("%d calls are open", open)
			}
		})
	}
}
