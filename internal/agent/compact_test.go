package agent_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
)

// TestR255_R261_CompactionComesBeforeTheProviderRefuses, at 80 hundredths unless
// something else is set.
func TestR255_R261_CompactionComesBeforeTheProviderRefuses(t *testing.T) {
	for _, at := range []int{0, 50} {
		m := &small{window: 20_000, calls: 60, size: 800, handoff: notes()}
		l := newLong(t, m, 20_000, func(o *agent.Options) { o.CompactAt = at })
		if err := l.turn("go"); err != nil {
			t.Fatal(err)
		}
		if m.long > 0 {
			t.Errorf("at %d: %d requests were too long", at, m.long)
		}
		all := l.compactions()
		if len(all) == 0 {
			t.Fatalf("at %d: nothing was compacted", at)
		}
		want := at
		if want == 0 {
			want = 80
		}
		limit := prompt.Limit(model.Info{Window: 20_000, MaxOutput: 2_500})
		for _, b := range all {
			if b.Before < limit*want/100 || b.Before > limit || b.After >= limit*want/100 || b.Trigger != session.ByThreshold {
				t.Errorf("at %d: a compaction by %s from %d to %d, of %d", at, b.Trigger, b.Before, b.After, limit)
			}
		}
		for _, r := range m.sent {
			paired(t, r)
		}
	}
}

// TestBug_C01_R262_CompactionThatCannotHelpEnds: one result is longer than the
// window, and so is what the person says.
func TestBug_C01_R262_CompactionThatCannotHelpEnds(t *testing.T) {
	t.Run("a giant result", func(t *testing.T) { // is cut when it comes
		m := &small{window: 8_000, calls: 3, size: 9_000}
		l := newLong(t, m, 8_000, nil)
		if err := l.turn("go"); err != nil {
			t.Fatal(err)
		}
		if len(m.sent) != 4 || m.long > 0 || len(l.compactions()) > 3 {
			t.Errorf("%d requests, %d too long, %d compactions", len(m.sent), m.long, len(l.compactions()))
		}
	})
	t.Run("one step with more than the window", func(t *testing.T) {
		m := &small{window: 8_000, calls: 3, size: 9_000, beside: 7}
		l := newLong(t, m, 8_000, nil)
		if err := l.turn("go"); err != nil {
			t.Fatal(err)
		}
		all := l.compactions()
		if len(m.sent) != 4 || m.long > 0 || len(all) == 0 || len(all) > 3 {
			t.Errorf("%d requests, %d too long, %d compactions", len(m.sent), m.long, len(all))
		}
		for _, b := range all {
			if b.After >= b.Before {
				t.Errorf("a compaction from %d to %d tokens", b.Before, b.After)
			}
		}
		for _, r := range m.sent {
			paired(t, r)
		}
	})
	t.Run("giant words", func(t *testing.T) {
		for _, window := range []int{8_000, 0} {
			m := &small{window: 8_000}
			l := newLong(t, m, window, nil)
			err := l.turn(words("x", 9_000))
			limit, ok := errors.AsType[*agent.Limit](err)
			if !ok || limit.What != "overflow" {
				t.Fatalf("window %d: %v", window, err)
			}
			if m.long > 3 || m.asked > 2 {
				t.Errorf("window %d: %d requests were too long, %d handoffs", window, m.long, m.asked)
			}
			if last := l.events[len(l.events)-1].Body.(event.Stopped); last.Reason != "limit: overflow" {
				t.Errorf("stopped by %q", last.Reason)
			}
		}
	})
	t.Run("a handoff that is empty, too long, or broken", func(t *testing.T) {
		for name, handoff := range map[string]func(*model.Request) (model.Reply, error){
			"empty":   func(*model.Request) (model.Reply, error) { return model.Reply{Stop: model.End}, nil },
			"refused": func(*model.Request) (model.Reply, error) { return model.Reply{}, model.ErrOverflow },
			"huge": func(*model.Request) (model.Reply, error) {
				return model.Reply{Stop: model.End, Message: model.Message{Parts: []model.Part{model.Text{Text: words("y", 20_000)}}}}, nil
			},
			"aborted": func(*model.Request) (model.Reply, error) { return model.Reply{}, io.ErrUnexpectedEOF },
			"cut": func(*model.Request) (model.Reply, error) {
				return model.Reply{Stop: model.Length, Message: model.Message{Parts: []model.Part{model.Text{Text: `{"notes":[`}}}}, nil
			},
		} {
			m := &small{window: 20_000, calls: 60, size: 800, handoff: handoff}
			l := newLong(t, m, 20_000, nil)
			if err := l.turn("go"); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			handoffs := 0
			for _, b := range l.compactions() {
				if b.Handoff != "" {
					handoffs++
				}
				if b.Handoff != "" && (b.By != "code" || len(b.Refused) == 0) || b.After >= b.Before {
					t.Errorf("%s: from %d to %d tokens by %q, refused %q", name, b.Before, b.After, b.By, b.Refused)
				}
			}
			if handoffs == 0 || m.asked > 2*handoffs || m.long > 0 {
				t.Errorf("%s: %d handoffs, asked for %d times, %d requests too long", name, handoffs, m.asked, m.long)
			}
		}
	})
}

// TestBug_C05_R262_OverflowLeadsToOneCompaction where nobody knows the window, or
// thinks that it is larger.
func TestBug_C05_R262_OverflowLeadsToOneCompaction(t *testing.T) {
	for _, window := range []int{0, 1_000_000} {
		m := &small{window: 8_000, calls: 30, size: 600}
		l := newLong(t, m, window, nil)
		if err := l.turn("go"); err != nil {
			t.Fatal(err)
		}
		all := l.compactions()
		if m.long != 1 {
			t.Errorf("window %d: %d requests were too long, %d compactions", window, m.long, len(all))
		}
		for i, b := range all {
			if want := map[bool]string{true: session.ByOverflow, false: session.ByThreshold}[i == 0]; b.Trigger != want {
				t.Errorf("window %d: compaction %d is by %s", window, i, b.Trigger)
			}
		}
		for _, r := range m.sent {
			paired(t, r)
		}
	}
}

// TestBug_C03_AtMostOneCompactionForAStep: after each there is a reply before the
// next, and what the person said last is what the model reads last of a person.
func TestBug_C03_AtMostOneCompactionForAStep(t *testing.T) {
	m := &small{window: 12_000, calls: 80, size: 900, handoff: notes()}
	l := newLong(t, m, 12_000, nil)
	if err := l.turn("Mend the parser."); err != nil {
		t.Fatal(err)
	}
	fresh, found := true, 0
	for _, e := range l.events {
		switch e.Body.(type) {
		case event.Replied:
			fresh = true
		case event.Compacted:
			if !fresh {
				t.Errorf("event %d is a second compaction for one step", e.Seq)
			}
			fresh = false
			found++
		}
	}
	if found < 3 || l.state.Handoff() == "" {
		t.Errorf("%d compactions", found)
	}
	for _, r := range m.sent {
		words := ""
		for _, x := range r.Messages[:r.Stable] { // what follows is the program's, for this step alone
			for _, p := range x.Parts {
				if text, ok := p.(model.Text); ok && x.Role == model.User {
					words = text.Text
				}
			}
		}
		if words != "Mend the parser." {
			t.Fatalf("the last words are %q", words)
		}
	}
}

// TestR309_StopEndsACompaction: nothing of it is recorded, and the turn can go on.
func TestR309_StopEndsACompaction(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	m := &small{window: 12_000, calls: 80, size: 900}
	m.handoff = func(*model.Request) (model.Reply, error) {
		stop()
		return model.Reply{}, ctx.Err()
	}
	l := newLong(t, m, 12_000, nil)
	if err := l.Turn(ctx, agent.Input{Text: "go"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	last := l.events[len(l.events)-1].Body.(event.Stopped)
	if last.Reason != "interrupted" || l.state.Handoff() != "" {
		t.Errorf("it ended as %q", last.Reason)
	}
	m.handoff = notes()
	if err := l.turn("go on"); err != nil || l.state.Handoff() == "" {
		t.Errorf("it went on to %v", err)
	}
}

// TestR262_R263_WhatDoesNotHoldIsAskedForOnceMore, then left out.
func TestR262_R263_WhatDoesNotHoldIsAskedForOnceMore(t *testing.T) {
	const good, bad = `{"kind":"learning","text":"it recurses","status":"","evidence":[],"error":"","files":[],"forbids":[]}`,
		`{"kind":"learning","text":"it loops","status":"","evidence":["c999"],"error":"","files":[],"forbids":[]}`
	var complaints []string
	m := &small{window: 12_000, calls: 80, size: 900}
	m.handoff = func(r *model.Request) (model.Reply, error) {
		if r.MaxOutput == 0 || len(r.Tools) > 0 {
			t.Errorf("it is asked for with %d tokens and %d tools", r.MaxOutput, len(r.Tools))
		}
		if n := len(r.Messages); n > 1 {
			complaints = append(complaints, r.Messages[n-1].Text())
		}
		return notes(good, bad)(r)
	}
	l := newLong(t, m, 12_000, nil)
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	for _, b := range l.compactions() {
		if b.Handoff == "" {
			continue
		}
		if len(b.Notes) != 1 || b.By != "small" || len(b.Refused) != 2 || len(complaints) == 0 || m.asked != 2*len(complaints) || !strings.Contains(complaints[0], `no call "c999"`) {
			t.Errorf("%d requests, %q; %+v", m.asked, complaints, b)
		}
		return
	}
	t.Error("there is no handoff")
}

// TestR269_WhatACompactionCostsCounts, in the turn, in the session and for limits.
func TestR269_WhatACompactionCostsCounts(t *testing.T) {
	m := &small{window: 12_000, calls: 80, size: 900, handoff: notes()}
	l := newLong(t, m, 12_000, func(o *agent.Options) {
		o.Model.Price = model.Price{Input: 1_000_000, Output: 1_000_000}
		o.Limits.Tokens = 100
	})
	err := l.turn("go")
	limit, ok := errors.AsType[*agent.Limit](err)
	if !ok || limit.What != "tokens" || m.asked == 0 {
		t.Fatalf("it ended in %v after %d handoffs", err, m.asked)
	}
	var want model.Usage
	for _, b := range l.compactions() {
		want = want.Plus(b.Usage)
		if b.Cost != int64(b.Usage.Total()) {
			t.Errorf("%+v cost %d", b.Usage, b.Cost)
		}
	}
	if got, cost := l.state.Spent(); got != want || cost != int64(want.Total()) || l.state.Turn().Usage != want {
		t.Errorf("spent are %+v and %d, want %+v", got, cost, want)
	}
}

// TestR298_R266_RequestsAreAFunctionOfTheLog, compactions and all: cut anywhere, the
// log gives the request that was sent there. Between two compactions each repeats
// the one before it.
func TestR298_R266_RequestsAreAFunctionOfTheLog(t *testing.T) {
	m := &small{window: 12_000, calls: 60, size: 700, handoff: notes(`{"kind":"next","text":"go on","status":"","evidence":[],"error":"","files":[],"forbids":[]}`)}
	l := newLong(t, m, 12_000, nil)
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	state, sent, compacted := new(session.State), 0, true
	var shares []float64 // of what the request before was to repeat, behind a compaction
	for _, e := range l.events {
		if b, ok := e.Body.(event.Sent); ok && b.For == "" {
			snapshot, err := state.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			restored, err := session.Restore(snapshot)
			if err != nil {
				t.Fatal(err)
			}
			want := m.sent[sent]
			for _, s := range []*session.State{state, restored} {
				got := prompt.Request(s, nil, want.Tools)
				if got.System != want.System || encoded(t, got.Messages) != encoded(t, want.Messages) {
					t.Fatalf("request %d is another after a resume", sent)
				}
			}
			if sent > 0 {
				share := repeated(t, m.sent[sent-1], want)
				if compacted {
					shares = append(shares, share)
				} else if share < 1 {
					t.Errorf("request %d repeats %.3f of the one before it", sent, share)
				}
			}
			sent, compacted = sent+1, false
		}
		if _, ok := e.Body.(event.Compacted); ok {
			compacted = true
		}
		if err := state.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.compactions()) < 5 || sent != 61 {
		t.Errorf("%d compactions, %d requests", len(l.compactions()), sent)
	}
	slices.Sort(shares)
	t.Logf("%d requests repeat 1.0 of the one before, the %d behind a compaction %.2f to %.2f", sent-1-len(shares), len(shares), shares[0], shares[len(shares)-1])
}

// TestR255_APersonCompactsByHand, between two turns and within one, with a word on
// what matters.
func TestR255_APersonCompactsByHand(t *testing.T) {
	m := &small{calls: 12, size: 300, handoff: notes()}
	var l *long
	l = newLong(t, m, 0, func(o *agent.Options) {
		seen := o.Observe
		o.Observe = func(s agent.Signal) {
			if x, ok := s.(agent.Recorded); ok && x.Event.Kind() == "finished" && m.made == 11 {
				if !l.CompactSoon("the last file") {
					t.Error("no turn is running")
				}
			}
			seen(s)
		}
	})
	if err := l.Compact(t.Context(), ""); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Errorf("of nothing: %v", err)
	}
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	if all := l.compactions(); len(all) != 1 || all[0].Trigger != session.ByPerson || all[0].Hint != "the last file" || all[0].Handoff == "" {
		t.Fatalf("within a turn: %+v", all)
	}
	if l.CompactSoon("") {
		t.Error("a turn is running that is over")
	}
	m.calls += 6
	if err := l.turn("more"); err != nil {
		t.Fatal(err)
	}
	if err := l.Compact(t.Context(), "the parser"); err != nil {
		t.Fatal(err)
	}
	if all := l.compactions(); len(all) != 2 || all[1].Hint != "the parser" || all[1].After >= all[1].Before {
		t.Errorf("between turns: %+v", all)
	}
	if err := l.turn("and now?"); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.sent {
		paired(t, r)
	}
}

// TestR262_LessOutputIsTheFirstRung where that is all it takes, and then for as long
// as the talk only grows.
func TestR262_LessOutputIsTheFirstRung(t *testing.T) {
	m := &small{window: 40_000, calls: 11, size: 1_200, counts: true}
	l := newLong(t, m, 40_000, func(o *agent.Options) { o.Model.MaxOutput, o.CompactAt = 20_000, 95 })
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	if m.long != 1 || len(l.compactions()) > 0 {
		t.Fatalf("%d were too long, %d compactions", m.long, len(l.compactions()))
	}
	less := 0
	for i, r := range m.sent {
		switch {
		case r.MaxOutput == 2_500:
			less++
		case r.MaxOutput != 20_000 || less > 0:
			t.Errorf("request %d asks for %d", i, r.MaxOutput)
		}
	}
	if less == 0 {
		t.Error("none asks for less")
	}
}
