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
