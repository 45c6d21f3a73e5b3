package session

import (
	"fmt"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// BenchmarkApply folds the events of a session with 250 calls that read.
func BenchmarkApply(b *testing.B) {
	s := new(State)
	var events []event.Event
	add := func(body event.Body) {
		e := next(s, body)
		if err := s.Apply(e); err != nil {
			b.Fatal(err)
		}
		events = append(events, e)
	}
	add(opened())
	add(asked("Find it."))
	for i := range 250 {
		id := s.NextCall(0)
		call := tool.Call{ID: id, Tool: "Read", Args: fmt.Appendf(nil, `{"path":"f%d.go"}`, i)}
		add(event.Sent{Request: "artifact:x", Bytes: 1})
		add(replied(s, "Next.", call))
		add(event.Planned{Plan: tool.Plan{Call: call}})
		add(event.Finished{Call: id, Result: tool.Result{Status: tool.Success, Text: "text", Seen: map[string]string{fmt.Sprintf("f%d.go", i): "d"}}})
	}
	b.ReportAllocs()
	for b.Loop() {
		s := new(State)
		for _, e := range events {
			if err := s.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(events)), "events/op")
}
