package prompt

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// BenchmarkRequest builds the request after 1,000 events of a session.
func BenchmarkRequest(b *testing.B) {
	var s session.State
	add := func(body event.Body) {
		if err := s.Apply(event.Event{Seq: s.Seq() + 1, Time: time.Unix(s.Seq(), 0).UTC(), Body: body}); err != nil {
			b.Fatal(err)
		}
	}
	add(event.Opened{Session: "s", Root: "/w"})
	add(event.Asked{Text: "Find it."})
	for s.Seq() < 1000 {
		call := model.Call{Call: tool.Call{ID: s.NextCall(0), Tool: "Read", Args: fmt.Appendf(nil, `{"path":"f%d.go"}`, s.Seq())}}
		add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{text("Next."), call}}, Stop: model.Calls})
		add(event.Finished{Call: call.ID, Result: tool.Result{Status: tool.Success, Text: strings.Repeat("line\n", 200)}})
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := Request(&s, nil, nil); len(r.Messages) < 900 {
			b.Fatal(len(r.Messages))
		}
	}
}

// BenchmarkRequestOfALongSession builds the request after 10,000 events, none of
// them compacted, and after the same with a compaction whenever the talk has 150,000
// tokens, as a model with a window of 200,000 has it.
func BenchmarkRequestOfALongSession(b *testing.B) {
	for _, compacted := range []bool{false, true} {
		b.Run(fmt.Sprintf("compacted=%v", compacted), func(b *testing.B) {
			s := longSession(b, 10_000, compacted)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				if r := Request(s, nil, nil); len(r.Messages) < 10 {
					b.Fatal(len(r.Messages))
				}
			}
		})
	}
}

func longSession(b *testing.B, events int64, compacted bool) *session.State {
	s := new(session.State)
	add := func(body event.Body) {
		if err := s.Apply(event.Event{Seq: s.Seq() + 1, Time: time.Unix(s.Seq(), 0).UTC(), Body: body}); err != nil {
			b.Fatal(err)
		}
	}
	add(event.Opened{Session: "s", Root: "/w"})
	add(event.Asked{Text: "Find it."})
	for s.Seq() < events {
		call := tool.Call{ID: s.NextCall(0), Tool: "Read", Args: fmt.Appendf(nil, `{"path":"f%d.go"}`, s.Seq())}
		add(event.Sent{Request: "artifact:x", Bytes: 1, Tokens: 1})
		add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{text("Next."), model.Call{Call: call}}}, Stop: model.Calls})
		p := tool.Plan{Call: call, Summary: "read"}
		add(event.Planned{Plan: p})
		add(event.Decided{Call: call.ID, Plan: p.Digest(), Verdict: "allow", By: "mode ask"})
		add(event.Started{Call: call.ID, Reads: true})
		add(event.Finished{Call: call.ID, Result: tool.Result{Status: tool.Success, Text: strings.Repeat("a line of a file\n", 100), Seen: map[string]string{string(call.Args): "d"}}})
		if compacted && TalkTokens(s) > 150_000 {
			c := event.Compacted{Through: Keep(s, 40_000), Handoff: "x"}
			c.Handoff, _ = HandoffText(s.Compact(c), 8_000)
			add(c)
		}
	}
	return s
}

// BenchmarkCompaction is what a compaction costs beside the model's notes: of a talk
// of 150,000 tokens.
func BenchmarkCompaction(b *testing.B) {
	s := longSession(b, 2_000, false)
	for b.Loop() {
		c := event.Compacted{Through: s.Through(), Pruned: Prune(s, Pruning{Tokens: 200_000, Target: 80_000, Keep: func(string, string) (string, error) { return "artifact:x", nil }})}
		next := s.Compact(c)
		c.Through = Keep(next, 40_000)
		c.Handoff, _ = HandoffText(s.Compact(c), 8_000)
		if next = s.Compact(c); Request(next, nil, nil).Estimate() > 100_000 {
			b.Fatal("it is too long")
		}
	}
}
