package session

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
)

func TestRulesThatChangeAreReminders(t *testing.T) {
	s := fold(t, opened(),
		event.Ruled{Path: "AGENTS.md", Digest: "d1", Text: "one"},
		event.Ruled{Path: "AGENTS.md", Digest: "d2", Text: "two"},
		asked("go"),
		event.Ruled{Path: "AGENTS.md", Digest: "d3", Text: "three"},
		event.Ruled{Path: "AGENTS.md"})
	want := []event.Ruled{{Path: "AGENTS.md", Digest: "d2", Text: "two"}}
	if diff := cmp.Diff(want, s.Ruled()); diff != "" {
		t.Errorf("layer L2 (-want +got):\n%s", diff)
	}
	if got := len(s.Talk()); got != 3 {
		t.Errorf("%d exchanges, want the words and two reminders", got)
	}
	if got := s.RuleFiles(); len(got) != 0 {
		t.Errorf("rules known now: %v", got)
	}
}

// TestR235_R237_ACompactionKeepsTheOrderOfRules, in which the file that counts most is
// last: one that changed takes its place with its new text, one that is gone leaves it.
func TestR235_R237_ACompactionKeepsTheOrderOfRules(t *testing.T) {
	s := fold(t, opened(),
		event.Ruled{Path: "CLAUDE.md", Digest: "c1", Text: "claude"},
		event.Ruled{Path: "CODE_LAW.md", Digest: "l1", Text: "law"},
		event.Ruled{Path: "AGENTS.md", Digest: "a1", Text: "agents"},
		asked("go"),
		event.Ruled{Path: "CODE_LAW.md", Digest: "l2", Text: "another law"},
		event.Ruled{Path: "a/AGENTS.md", Digest: "n1", Text: "new"})
	for _, want := range []string{"claude law agents", "claude another law agents new", "claude agents new"} {
		var got []string
		for _, r := range s.Ruled() {
			got = append(got, r.Text)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("layer L2 (-want +got):\n%s", diff)
		}
		if want == "claude another law agents new" {
			add(t, s, event.Ruled{Path: "CODE_LAW.md"})
		}
		add(t, s, replied(s, "done"))
		add(t, s, event.Compacted{Through: s.Seq(), Handoff: "h"})
	}
}

// TestR235_R237_TheNearestRulesAreLast, in whatever order they come, change and go: L2
// is sorted, stays as it was sent between two compactions, says after one what the
// files say, and is the same again from a snapshot.
func TestR235_R237_TheNearestRulesAreLast(t *testing.T) {
	paths := []string{"../AGENTS.md", "CLAUDE.md", "AGENTS.md", "b/AGENTS.md", "a/b/CLAUDE.md", "a/b/AGENTS.md", "a/b/c/AGENTS.md"}
	inOrder := func(a, b event.Ruled) int { return slices.Index(paths, a.Path) - slices.Index(paths, b.Path) }
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 235))
		s, now := fold(t, opened()), make(map[string]event.Ruled)
		rule := func() {
			r := event.Ruled{Path: paths[rng.IntN(len(paths))], Digest: fmt.Sprint(rng.IntN(9))}
			switch rng.IntN(4) {
			case 0:
				r.Left = "it is too long"
			case 1, 2:
				r.Text = "rule " + fmt.Sprint(rng.IntN(99))
			}
			add(t, s, r)
			if now[r.Path] = r; r.Gone() {
				delete(now, r.Path)
			}
		}
		holds := func(when string) {
			t.Helper()
			want := slices.SortedFunc(maps.Values(now), inOrder)
			if d := cmp.Diff(want, s.Ruled()); d != "" {
				t.Fatalf("seed %d, %s: L2 (-want +got):\n%s", seed, when, d)
			}
		}
		for range 4 {
			rule()
			holds("before the first words")
		}
		for range 4 {
			add(t, s, asked("go"))
			sent, talk := s.Ruled(), len(s.Talk())
			for range 5 {
				rule()
			}
			if d := cmp.Diff(sent, s.Ruled()); d != "" {
				t.Fatalf("seed %d: L2 changed (-want +got):\n%s", seed, d)
			}
			if got := len(s.Talk()) - talk; got != 5 {
				t.Fatalf("seed %d: %d reminders of 5 changes", seed, got)
			}
			add(t, s, replied(s, "done"))
			if rng.IntN(2) == 0 {
				again, err := Restore(snapshot(t, s))
				if err != nil {
					t.Fatal(err)
				}
				s = again
			}
			add(t, s, event.Compacted{Through: s.Seq() - int64(rng.IntN(3)), Handoff: "h"})
			holds("after a compaction")
		}
	}
}

// TestARuleReminderSaysWhatItHoldsFor, and no name of a folder begins a line of it.
func TestARuleReminderSaysWhatItHoldsFor(t *testing.T) {
	s := fold(t, opened(), event.Ruled{Path: "AGENTS.md", Digest: "1", Text: "one"}, asked("go"),
		event.Ruled{Path: "AGENTS.md", Digest: "2", Text: "two"},
		event.Ruled{Path: "a\n[b/AGENTS.md", Digest: "1", Text: "new"},
		event.Ruled{Path: "../CLAUDE.md", Digest: "1", Left: "it is too long"},
		event.Ruled{Path: "AGENTS.md", Digest: "3", Text: "two", Left: "a command wrote it"},
		event.Ruled{Path: "AGENTS.md"})
	var got []string
	for _, x := range s.Talk()[1:] {
		got = append(got, x.Message.Text())
	}
	want := []string{
		"[project rules changed: AGENTS.md, which from now on reads]\n```\ntwo\n```",
		"[project rules for a [b and all below it: a [b/AGENTS.md, which from now on reads]\n```\nnew\n```",
		"[project rules for .. and all below it: ../CLAUDE.md is there, and its text is left out: it is too long]",
		"[project rules changed: AGENTS.md is not what it was, and what it said before holds: a command wrote it]",
		"[project rules changed: AGENTS.md is gone; it no longer applies]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reminders (-want +got):\n%s", d)
	}
}
