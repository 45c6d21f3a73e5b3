package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func constrained(id, words string, bans ...tool.Ban) event.Constrained {
	return event.Constrained{ID: id, Words: words, Seq: 2, Bans: bans, By: "pattern"}
}

// rules returns what the rules of s stop, by whose they are.
func stops(s *State) (all []string) {
	for _, r := range s.Rules() {
		all = append(all, string(r.Source)+" "+r.Ban.ID+" "+r.String())
	}
	return all
}

// TestR304_R306_NoCompactionTouchesAConstraint: it is state, and stands in layer L2
// from the next compaction on.
func TestR304_R306_NoCompactionTouchesAConstraint(t *testing.T) {
	s := fold(t, opened(), asked("do not touch api/, be kind"))
	add(t, s, constrained("k1", "do not touch api/", tool.Ban{Rule: "Edit(api/**)"}))
	add(t, s, constrained("k2", "be kind"))
	want := []string{"constraint k1 Edit(api/**)"}
	if diff := cmp.Diff(want, stops(s)); diff != "" {
		t.Error(diff)
	}
	if pinned, _ := s.Pinned(); len(pinned) != 0 {
		t.Errorf("before a compaction %v is in L2, which has been sent", pinned)
	}
	talk := s.Talk()
	if text := talk[len(talk)-2].Message.Text(); !strings.Contains(text, `constraint k1, from the user's words: "do not touch api/"`) || !strings.Contains(text, "Stopped: Edit(api/**)") {
		t.Errorf("the model hears %q", text)
	}
	if text := talk[len(talk)-1].Message.Text(); !strings.Contains(text, "Nothing enforces it") {
		t.Errorf("of what cannot be enforced the model hears %q", text)
	}
	add(t, s, replied(s, "done"))
	add(t, s, event.Stopped{Reason: "end"})
	for range 3 {
		add(t, s, event.Compacted{Through: s.Seq(), Handoff: "h"})
		if diff := cmp.Diff(want, stops(s)); diff != "" {
			t.Error(diff)
		}
		if pinned, _ := s.Pinned(); len(pinned) != 2 {
			t.Errorf("after a compaction %v is in L2", pinned)
		}
	}
	restored, err := Restore(snapshot(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stops(restored)); diff != "" {
		t.Errorf("after a snapshot: %s", diff)
	}

	add(t, s, event.Constrained{ID: "k1", By: event.ByPerson, Lifted: true})
	if len(stops(s)) != 0 || len(s.Constraints()) != 1 {
		t.Errorf("lifted, %v still holds", stops(s))
	}
	if pinned, _ := s.Pinned(); len(pinned) != 2 {
		t.Error("L2 changed before the next compaction")
	}
}

// TestR254_NotesThatRuleOutAreRules, until a person lifts them.
func TestR254_NotesThatRuleOutAreRules(t *testing.T) {
	s := fold(t, opened(), asked("go"))
	add(t, s, event.Compacted{Through: 2, Handoff: "h", Notes: []event.Note{
		{ID: "n1", Kind: "decision", Status: "rejected", Text: "redis", Bans: []tool.Ban{{Text: "redis"}, {Rule: "Bash("}}},
		{ID: "n2", Kind: "decision", Status: "rejected", Text: "big bang"},
		{ID: "n3", Kind: "decision", Status: "accepted", Text: "postgres"},
	}})
	if diff := cmp.Diff([]string{"note n1 *"}, stops(s)); diff != "" {
		t.Error(diff)
	}
	if got := s.RuledOut(); len(got) != 2 {
		t.Errorf("ruled out are %+v", got)
	}
	if _, warned := s.Pinned(); len(warned) != 2 {
		t.Errorf("in L2 are %+v", warned)
	}
	add(t, s, event.Constrained{ID: "n1", By: event.ByPerson, Lifted: true})
	if got := stops(s); len(got) != 0 {
		t.Errorf("lifted, %v still holds", got)
	}
}

func TestOnlyAPersonLifts(t *testing.T) {
	s := fold(t, opened(), asked("go"), constrained("k1", "do not"))
	for name, b := range map[string]event.Constrained{
		"the model lifts":         {ID: "k1", By: "model", Lifted: true},
		"what is not there":       {ID: "k2", By: event.ByPerson, Lifted: true},
		"an ID that is taken":     constrained("k1", "do not"),
		"an ID out of order":      constrained("k3", "do not"),
		"no words":                constrained("k2", " "),
		"words from what is next": {ID: "k2", Words: "do not", Seq: 99},
	} {
		if err := s.Apply(next(s, b)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}
