package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A small model takes window tokens and no more: it counts what it is sent. Until
// it has made so many calls it asks for another, each for a text of that size.
type small struct {
	window  int // 0 is no limit
	calls   int
	size    int
	handoff func(*model.Request) (model.Reply, error)

	sent  []*model.Request // those that it took
	long  int              // those that it did not
	asked int              // handoffs
	made  int
}

func (m *small) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if m.window > 0 && r.Estimate() > m.window {
			m.long++
			yield(nil, fmt.Errorf("too long: %w", model.ErrOverflow))
			return
		}
		if r.Purpose == model.Handoff {
			m.asked++
			reply, err := model.Reply{}, error(&model.BadRequest{Reason: "not now"})
			if m.handoff != nil {
				reply, err = m.handoff(r)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			yield(reply, nil)
			return
		}
		m.sent = append(m.sent, r)
		reply := model.Reply{Stop: model.End, Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "Done."}}}}
		if m.made < m.calls {
			m.made++
			args := json.RawMessage(fmt.Sprintf(`{"on":"f%d.go"}`, m.made))
			reply.Stop = model.Calls
			reply.Message.Parts = []model.Part{model.Text{Text: fmt.Sprintf("I look at f%d.go.", m.made)}, model.Call{Call: tool.Call{Tool: "Look", Args: args}}}
		}
		yield(reply, nil)
	}
}

// words returns a text of about so many tokens, another for each seed.
func words(seed string, tokens int) string {
	var b strings.Builder
	for n := 0; n < tokens; n += 4 {
		fmt.Fprintf(&b, "%s line %d\n", seed, n)
	}
	return b.String()
}

func notes(list ...string) func(*model.Request) (model.Reply, error) {
	return func(*model.Request) (model.Reply, error) {
		text := `{"notes":[` + strings.Join(list, ",") + `]}`
		return model.Reply{Stop: model.End, Usage: model.Usage{Input: 100, Output: 10}, Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: text}}}}, nil
	}
}

// A long is a session with a small model.
type long struct {
	*agent.Agent
	*small
	t      *testing.T
	state  *session.State
	events []event.Event
}

func newLong(t *testing.T, m *small, window int, change func(*agent.Options)) *long {
	t.Helper()
	j, err := journal.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	l := &long{small: m, t: t, state: new(session.State)}
	o := agent.Options{
		Journal: j, Provider: m, Model: model.Info{Name: "small", Window: window, MaxOutput: window / 8, Known: window > 0},
		Tools: []tool.Tool{act("Look", effect.Read, func(_ context.Context, on string, _ tool.Env) (tool.Result, error) {
			return tool.Result{Status: tool.Success, Text: words(on, m.size), Seen: map[string]string{on: "d"}}, nil
		})},
		Session: event.Opened{Session: "s", Root: "/w"}, Policy: policy.Policy{Mode: policy.ModeFull},
		Observe: func(s agent.Signal) {
			if x, ok := s.(agent.Recorded); ok {
				l.events = append(l.events, x.Event)
			}
		},
	}
	if change != nil {
		change(&o)
	}
	if l.Agent, err = agent.Open(t.Context(), l.state, o); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *long) turn(text string) error { return l.Turn(l.t.Context(), agent.Input{Text: text}) }

func (l *long) compactions() (all []event.Compacted) {
	for _, e := range l.events {
		if b, ok := e.Body.(event.Compacted); ok {
			all = append(all, b)
		}
	}
	return all
}

// paired fails unless every call of r is answered at once, and nothing is empty.
func paired(t *testing.T, r *model.Request) {
	t.Helper()
	for i, m := range r.Messages {
		if len(m.Parts) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		var want, got []string
		for _, c := range m.Calls() {
			want = append(want, c.ID)
		}
		if len(want) == 0 {
			continue
		}
		for _, p := range r.Messages[i+1].Parts {
			if x, ok := p.(model.CallResult); ok {
				got = append(got, x.Call)
			}
		}
		if strings.Join(want, " ") != strings.Join(got, " ") {
			t.Fatalf("calls %v are answered by %v", want, got)
		}
	}
}

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
	t.Run("a giant result", func(t *testing.T) {
		m := &small{window: 8_000, calls: 3, size: 9_000}
		l := newLong(t, m, 8_000, nil)
		if err := l.turn("go"); err != nil {
			t.Fatal(err)
		}
		if len(m.sent) != 4 || len(l.compactions()) > 3 {
			t.Errorf("%d requests, %d compactions", len(m.sent), len(l.compactions()))
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
			"cut": func(*model.Request) (model.Reply, error) {
				return model.Reply{Stop: model.Length, Message: model.Message{Parts: []model.Part{model.Text{Text: `{"notes":[`}}}}, nil
			},
		} {
			m := &small{window: 20_000, calls: 60, size: 800, handoff: handoff}
			l := newLong(t, m, 20_000, nil)
			if err := l.turn("go"); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, b := range l.compactions() {
				if b.Handoff != "" && (b.By != "code" || len(b.Refused) == 0) {
					t.Errorf("%s: by %q, refused %q", name, b.By, b.Refused)
				}
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
		if m.long != 1+m.asked && m.long > 2 {
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
