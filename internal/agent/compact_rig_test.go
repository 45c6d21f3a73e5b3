package agent_test

import (
	"context"
	"encoding/json"
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
	counts  bool // what is asked for in a reply counts too
	beside  int  // further calls in each reply that makes one

	sent  []*model.Request // those that it took
	long  int              // those that it did not
	asked int              // handoffs
	made  int
}

func (m *small) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		size := r.Estimate()
		if m.counts {
			size += r.MaxOutput
		}
		if m.window > 0 && size > m.window {
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
			for i := range m.beside {
				args := json.RawMessage(fmt.Sprintf(`{"on":"f%d-%d.go"}`, m.made, i))
				reply.Message.Parts = append(reply.Message.Parts, model.Call{Call: tool.Call{Tool: "Look", Args: args}})
			}
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
	l := &long{small: m, t: t, state: new(session.State)}
	l.open(window, change)
	return l
}

// open opens the session as it stands in l.state.
func (l *long) open(window int, change func(*agent.Options)) {
	t, m := l.t, l.small
	t.Helper()
	j, err := journal.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
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

// repeated returns how much of what before is to have repeated stands at the beginning
// of r: its system prompt and its messages, but for what is for one step alone.
func repeated(t *testing.T, before, r *model.Request) float64 {
	t.Helper()
	was := before.System + strings.TrimSuffix(encoded(t, before.Messages[:before.Stable]), "]")
	is := r.System + encoded(t, r.Messages)
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	return float64(same) / float64(len(was))
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
