package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// told is what a session comes to, whatever it was cut by.
type told struct {
	Notes       []event.Note
	Constraints []event.Constrained
	Spent       model.Usage
	Facts       session.Facts
	Compactions int
}

func toldBy(s *session.State, events []event.Event) told {
	all := told{Notes: s.Notes(), Constraints: s.Constraints(), Facts: *s.Facts()}
	all.Spent, _ = s.Spent()
	for i := range all.Constraints {
		all.Constraints[i].Seq = 0 // an opening more comes before it
	}
	for _, e := range events {
		if b, ok := e.Body.(event.Compacted); ok && b.Handoff != "" {
			all.Compactions++
		}
	}
	return all
}

// TestR258_ACrashAroundACompactionLeavesOne: the log of a session is cut before
// and after every event around its compactions, which is what a crash leaves of it.
// Resumed, it comes to the same: the same notes once each, what the person required
// and only the model heard, and as many tokens on record.
func TestR258_ACrashAroundACompactionLeavesOne(t *testing.T) {
	const heard = "Our partners rely on the wire format"
	answers := notes(
		`{"kind":"constraint","text":"`+heard+`","status":"","evidence":[],"error":"","files":[],"forbids":[]}`,
		`{"kind":"learning","text":"it recurses","status":"","evidence":[],"error":"","files":[],"forbids":[]}`)
	speaking := func() *small { return &small{window: 12_000, calls: 40, size: 900, handoff: answers} }
	whole := newLong(t, speaking(), 12_000, nil)
	if err := whole.turn("Why is it slow? " + heard + ", I think"); err != nil {
		t.Fatal(err)
	}
	want := toldBy(whole.state, whole.events)
	if len(want.Constraints) != 1 || len(want.Notes) != 1 || want.Compactions < 2 {
		t.Fatalf("the session that is not cut has %+v", want)
	}
	cuts := 0
	for i, e := range whole.events {
		if b, ok := e.Body.(event.Compacted); !ok || b.Handoff == "" {
			continue
		}
		for _, n := range []int{i - 2, i - 1, i, i + 1, i + 2} { // events that are left
			cuts++
			s := goOn(t, speaking(), whole.events[:n])
			if d := cmp.Diff(want.Notes, s.Notes); d != "" {
				t.Errorf("cut after %d (%s), notes (-want +got):\n%s", n, whole.events[n-1].Kind(), d)
			}
			if d := cmp.Diff(want.Constraints, s.Constraints); d != "" {
				t.Errorf("cut after %d (%s), constraints (-want +got):\n%s", n, whole.events[n-1].Kind(), d)
			}
			if s.Compactions != want.Compactions || s.Spent != want.Spent || s.Facts.Calls != want.Facts.Calls || s.Facts.Turns != 1 {
				t.Errorf("cut after %d (%s): %d compactions, spent %+v, %d calls in %d turns", n, whole.events[n-1].Kind(), s.Compactions, s.Spent, s.Facts.Calls, s.Facts.Turns)
			}
		}
	}
	if cuts < 10 {
		t.Errorf("only %d cuts", cuts)
	}
}

// goOn resumes what a crash left of a session, to its end.
func goOn(t *testing.T, m *small, left []event.Event) told {
	t.Helper()
	j := journal.Memory(nil)
	state := new(session.State)
	var bodies []event.Body
	for _, e := range left {
		bodies = append(bodies, e.Body)
		if r, ok := e.Body.(event.Replied); ok && len(r.Message.Calls()) > 0 {
			m.made++
		}
	}
	events, err := j.Append(bodies...)
	for _, e := range events {
		err = errors.Join(err, state.Apply(e))
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &long{small: m, t: t, state: state, events: slices.Clone(events)}
	l.open(12_000, func(o *agent.Options) { o.Journal = j })
	if err := l.Turn(t.Context(), agent.Input{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.sent {
		paired(t, r)
	}
	return toldBy(l.state, l.events)
}

// TestR269_WhatACompactionCostUntilItWasStoppedCounts: it is interrupted after two
// of its pieces were answered.
func TestR269_WhatACompactionCostUntilItWasStoppedCounts(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	m := &small{calls: 40, size: 900}
	m.handoff = func(r *model.Request) (model.Reply, error) {
		if m.asked > 2 {
			stop()
			return model.Reply{}, ctx.Err()
		}
		return notes()(r)
	}
	l := newLong(t, m, 0, nil)
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	before := l.state.Compacted()
	l.Model.Window = 4_000
	if err := l.Compact(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	all := l.compactions()
	if len(all) != 1 || !all[0].GivenUp() || all[0].Usage.Total() != 220 || len(all[0].Refused) != 1 {
		t.Fatalf("recorded is %+v", all)
	}
	if spent, _ := l.state.Spent(); spent.Total() != 220 || l.state.Handoff() != "" || l.state.Compacted() != before {
		t.Errorf("spent are %+v, and then there is %+v", spent, l.state.Compacted())
	}
	m.handoff = notes()
	if err := l.Compact(t.Context(), ""); err != nil || l.state.Handoff() == "" {
		t.Errorf("then it comes to %v", err)
	}
}
