package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
)

// BenchmarkBuild10000 is what the loop does to build the next request of a session
// of 10,000 events, five a step: what the query, the budget and the packing of 40
// items take, and the request with its tokens counted, where only its end is new.
func BenchmarkBuild10000(b *testing.B) {
	s := new(session.State)
	add := func(body event.Body) {
		if err := s.Apply(event.Event{Seq: s.Seq() + 1, Time: time.Unix(s.Seq(), 0).UTC(), Body: body}); err != nil {
			b.Fatal(err)
		}
	}
	add(event.Opened{Session: "s", Root: "/w"})
	add(event.Asked{Text: "Mend parseArgs in cmd/a.go."})
	for s.Seq() < 10_000 {
		id, path := s.NextCall(0), fmt.Sprintf("f%d.go", s.Seq()%300)
		call := model.Call{Call: tool.Call{ID: id, Tool: "Read", Args: fmt.Appendf(nil, `{"path":%q}`, path)}}
		add(event.Sent{Model: "a/b", Tokens: 1000})
		add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "Next."}, call}}, Stop: model.Calls})
		plan := tool.Plan{Call: call.Call}
		add(event.Planned{Plan: plan})
		add(event.Decided{Call: id, Plan: plan.Digest(), Verdict: "allow"})
		result := tool.Result{Status: tool.Success, Text: strings.Repeat("a line of a file\n", 120), Data: []byte(`{"lines":120}`), Seen: map[string]string{path: id}}
		if s.Seq()%5 == 0 {
			result.Edits = []edit.Intent{{Path: path, Base: "o"}}
		}
		add(event.Finished{Call: id, Result: result})
	}
	var items []recall.Item
	for n := range 40 {
		items = append(items, recall.Item{
			Slot: recall.Definition, Source: fmt.Sprint("g", n), Path: fmt.Sprint("g", n), First: 1, Last: 30,
			Text: strings.Repeat("func f() { return 1 }\n", 30), Score: 0.8, Why: "w",
		})
	}
	m := model.Info{Name: "a/b", Window: 4_000_000}
	build := func(before sheet) (sheet, int) {
		if q := prompt.QueryFor(s); len(q.Mentions) != 2 {
			b.Fatal(q.Mentions)
		}
		kept, _ := prompt.Pack(items, prompt.BudgetFor(s, m))
		r := prompt.Request(s, kept, nil)
		next, err := before.next(r)
		if err != nil {
			b.Fatal(err)
		}
		r.Tokens = next.estimate()
		return next, prompt.Tokens(s, r)
	}
	before, tokens := build(sheet{})
	if tokens < 100_000 {
		b.Fatal(tokens)
	}
	b.ReportAllocs()
	for b.Loop() {
		build(before)
	}
}
