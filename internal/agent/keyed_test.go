package agent_test

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/contract/tool/tooltest"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/provider"
)

// TestR074_AKeyedCallIsSettledUnderItsKey: a session is cut off when the target
// has done its work and the answer is lost. Opened again, it has the target's
// answer, and the target did its work once.
func TestR074_AKeyedCallIsSettledUnderItsKey(t *testing.T) {
	var ledger tooltest.Ledger
	server := httptest.NewServer(&ledger)
	defer server.Close()
	dir := t.TempDir()
	tools := []tool.Tool{tooltest.Keyed(server.URL)}

	// The first life records all but the result.
	j, err := journal.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	script := steps(`call: Book {"amount": 5}`)
	rehearsed, err := provider.NewRehearsed("test.txtar", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Open(t.Context(), new(session.State), agent.Options{
		Journal: forgetful{j}, Provider: rehearsed, Tools: tools,
		Session: event.Opened{Session: "s", Root: "/w"}, Policy: policy.Policy{Mode: policy.ModeFull},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Turn(t.Context(), agent.Input{Text: "go"}); err == nil {
		t.Fatal("the result was recorded: nothing was cut off")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	// The second finds out.
	if j, err = journal.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s := new(session.State)
	for e, err := range j.Since(0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if open := s.Open(); len(open) != 1 || !open[0].Started {
		t.Fatalf("open calls are %+v", open)
	}
	var results []tool.Result
	_, err = agent.Open(t.Context(), s, agent.Options{
		Journal: j, Tools: tools, Session: event.Opened{Session: "s", Root: "/w"},
		Observe: func(x agent.Signal) {
			if r, isEvent := x.(agent.Recorded); isEvent {
				if b, isResult := r.Event.Body.(event.Finished); isResult {
					results = append(results, b.Result)
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 1 || results[0].Status != tool.Success || !json.Valid(results[0].Data) {
		t.Errorf("results are %+v", results)
	}
	if keys := ledger.Keys(); len(keys) != 1 || keys[0] != "s/c1" {
		t.Errorf("booked under %q, want once under s/c1", keys)
	}
}

// forgetful is a journal whose disk fails when a result is to be recorded.
type forgetful struct{ *journal.Journal }

func (j forgetful) Append(bodies ...event.Body) ([]event.Event, error) {
	for _, b := range bodies {
		if _, isResult := b.(event.Finished); isResult {
			return nil, &journal.Failed{Err: io.ErrShortWrite}
		}
	}
	return j.Journal.Append(bodies...)
}
