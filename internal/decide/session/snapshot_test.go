package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestSnapshotEqualsTheFold: for every prefix of a random session, restoring a
// snapshot of it and adding the rest equals the fold of all.
func TestSnapshotEqualsTheFold(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var events []event.Event
		var snapshots [][]byte
		s := new(State)
		for len(events) < 60 {
			e := next(s, anyBody(rng, s))
			if s.Apply(e) != nil {
				continue
			}
			events = append(events, e)
			snapshots = append(snapshots, snapshot(t, s))
		}
		whole := snapshots[len(snapshots)-1]
		for i, b := range snapshots {
			restored, err := Restore(b)
			if err != nil {
				t.Fatalf("seed %d: restore after %d events: %v", seed, i+1, err)
			}
			for _, e := range events[i+1:] {
				if err := restored.Apply(e); err != nil {
					t.Fatalf("seed %d: after a restore at %d: %v", seed, i+1, err)
				}
			}
			if diff := cmp.Diff(string(whole), string(snapshot(t, restored))); diff != "" {
				t.Fatalf("seed %d: restored at %d (-fold +restored):\n%s", seed, i+1, diff)
			}
		}
	}
}

func snapshot(t *testing.T, s *State) []byte {
	t.Helper()
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// anyBody returns a body of any kind, likely to fit s.
func anyBody(rng *rand.Rand, s *State) event.Body {
	if s.Seq() == 0 {
		return opened()
	}
	id := s.NextCall(0)
	if open := s.Open(); len(open) > 0 {
		id = open[rng.IntN(len(open))].Plan.Call.ID
	}
	p := plan(id, calling("T", `{"n":1}`), []effect.Kind{effect.Read, effect.Write}[rng.IntN(2)])
	switch rng.IntN(15) {
	case 13:
		return event.Packed{Kept: []recall.Item{{Slot: recall.Test, Source: "a", Text: fmt.Sprint(rng.IntN(9)), Score: 0.3}}[:rng.IntN(2)], Missing: []string{"", "late"}[rng.IntN(2)]}
	case 12:
		return event.Sent{Model: []string{"a/b", "c/d"}[rng.IntN(2)], Tokens: rng.IntN(20), For: []string{"", "handoff"}[rng.IntN(2)]}
	case 0:
		return event.Ruled{Path: fmt.Sprint(rng.IntN(2)), Digest: fmt.Sprint(rng.IntN(9)), Text: []string{"", "rule"}[rng.IntN(2)], Left: []string{"", "long"}[rng.IntN(2)]}
	case 1:
		return event.Asked{Text: "x", Media: []string{"artifact:1"}}
	case 2, 3:
		calls := make([]tool.Call, rng.IntN(3))
		for i := range calls {
			calls[i] = calling("T", `{"n":1}`)
		}
		return replied(s, "x", calls...)
	case 4, 5:
		return event.Planned{Plan: p}
	case 6:
		return event.Decided{Call: id, Plan: p.Digest(), Verdict: "allow", By: event.ByPerson, Remember: []string{"", "T(x)"}[rng.IntN(2)]}
	case 7:
		return event.Started{Call: id, Fingerprint: json.RawMessage(`{"a":1}`)}
	case 8, 9:
		return finished(id, anyResult(rng))
	case 10:
		if unsettled := s.Unsettled(); len(unsettled) > 0 {
			return event.Settled{Call: unsettled[0].Plan.Call.ID, As: []string{"retry", "done", "skip"}[rng.IntN(3)], By: event.ByPerson}
		}
		return event.Quarantined{Seq: int64(rng.IntN(9)), Part: rng.IntN(3), Media: rng.IntN(2) == 0}
	case 11:
		if rng.IntN(4) == 0 {
			return event.Switched{To: "openai/b", Why: "busy"}
		}
		return event.Compacted{
			Through: int64(rng.IntN(int(s.Seq()))), Handoff: []string{"Goal: x", ""}[rng.IntN(2)], Before: rng.IntN(99), After: 9, Room: rng.IntN(99),
			Trigger: []string{ByOverflow, ByPerson}[rng.IntN(2)], Notes: []event.Note{{ID: s.NextNote(0), Kind: "goal", Text: "x"}},
			Pruned: []event.Pruned{{Call: callID(1 + rng.IntN(s.number+1)), Text: "short", Args: json.RawMessage(`{}`)}},
		}
	}
	if rng.IntN(2) == 0 {
		return event.Stopped{Reason: "error", Detail: "no", Refused: []string{"a", "b"}[rng.IntN(2)], TooLong: rng.IntN(2) == 0}
	}
	if bans := []tool.Ban{{Rule: "Edit(api/**)"}}; rng.IntN(2) == 0 && s.Seq() > 1 {
		if held := s.Constraints(); len(held) > 0 && rng.IntN(3) == 0 {
			return event.Constrained{ID: held[rng.IntN(len(held))].ID, By: event.ByPerson, Lifted: true}
		}
		return event.Constrained{ID: s.NextConstraint(0), Words: "do not", Seq: 1, Bans: bans[:rng.IntN(2)], By: "pattern"}
	}
	return event.Stopped{Reason: "end"}
}

func anyResult(rng *rand.Rand) tool.Result {
	switch rng.IntN(4) {
	case 0:
		return failed([]tool.Kind{tool.NoMatch, tool.TimedOut, tool.NotRead}[rng.IntN(3)])
	case 1:
		return tool.Result{Status: tool.Unknown, Text: "?", Failure: &tool.Failure{Kind: tool.Cancelled, Message: "?"}}
	}
	r := success()
	r.Seen = map[string]string{fmt.Sprint(rng.IntN(3)): []string{"", "d"}[rng.IntN(2)]}
	r.Todo = []tool.Todo{{Text: "x", State: "done"}}
	return r
}

func TestRestoreRefuses(t *testing.T) {
	s := fold(t, opened(), asked("go"))
	add(t, s, replied(s, "", calling("T", `{}`)))
	good := string(snapshot(t, s))
	if _, err := Restore([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"another version":           func(m map[string]any) { m["version"] = 99 },
		"an open call that is lost": func(m map[string]any) { m["calls"] = nil },
		"a result without a place":  func(m map[string]any) { m["talk"] = nil },
		"results that are missing": func(m map[string]any) {
			x := m["talk"].([]any)[1].(map[string]any)
			x["results"] = []any{}
		},
		"a rule that does not parse": func(m map[string]any) { m["grants"] = []any{"T(("} },
		"a call that is null":        func(m map[string]any) { m["calls"].(map[string]any)["c1"] = nil },
	} {
		t.Run(name, func(t *testing.T) {
			var m map[string]any
			if err := json.Unmarshal([]byte(good), &m); err != nil {
				t.Fatal(err)
			}
			change(m)
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Restore(b); !errors.Is(err, ErrSnapshot) {
				t.Errorf("Restore = %v, want ErrSnapshot", err)
			}
		})
	}
	if _, err := Restore([]byte("{")); !errors.Is(err, ErrSnapshot) {
		t.Errorf("Restore of half an object = %v, want ErrSnapshot", err)
	}
}

// TestR075_APersonSettlesAnUnknownCall, and the model hears it once, at the end.
func TestR075_APersonSettlesAnUnknownCall(t *testing.T) {
	for as, says := range settlements {
		t.Run(as, func(t *testing.T) {
			s := fold(t, opened(), asked("go"))
			add(t, s, replied(s, "", calling("Bash", `{"command":"deploy"}`)))
			add(t, s, finished("c1", tool.Result{Status: tool.Unknown, Text: "?"}))
			if got := s.Unsettled(); len(got) != 1 || got[0].Plan.Call.ID != "c1" {
				t.Fatalf("unsettled are %+v", got)
			}
			add(t, s, event.Settled{Call: "c1", As: as, By: event.ByPerson})
			if got := s.Unsettled(); len(got) != 0 {
				t.Errorf("still unsettled: %+v", got)
			}
			last := s.Talk()[len(s.Talk())-1].Message
			if want := "[about call c1, whose outcome was unknown, the user says: " + says + "]"; last.Text() != want {
				t.Errorf("the model hears %q, want %q", last.Text(), want)
			}
			again := event.Settled{Call: "c1", As: as, By: event.ByPerson}
			if err := s.Apply(next(s, again)); !errors.Is(err, ErrInvalid) {
				t.Errorf("a second word on it = %v, want ErrInvalid", err)
			}
		})
	}
}

func TestCompactedDropsWhatItStandsFor(t *testing.T) {
	s := fold(t, opened(), asked("one"))
	add(t, s, replied(s, "first"))
	through := s.Seq()
	add(t, s, event.Stopped{Reason: "end"})
	add(t, s, asked("two"))
	add(t, s, event.Ruled{Path: "AGENTS.md", Digest: "d", Text: "rule"})
	add(t, s, event.Compacted{Through: through, Handoff: "Goal: one"})
	if got := len(s.Talk()); got != 2 || s.Talk()[0].Message.Text() != "two" {
		t.Errorf("%d exchanges are left, the first %q", got, s.Talk()[0].Message.Text())
	}
	if s.Handoff() != "Goal: one" {
		t.Errorf("handoff is %s", s.Handoff())
	}
	if got := s.Ruled(); len(got) != 1 || got[0].Text != "rule" {
		t.Errorf("layer L2 is %+v", got)
	}
	if got := s.Seen(); len(got) != 0 {
		t.Errorf("files are still known: %v", got)
	}
}
