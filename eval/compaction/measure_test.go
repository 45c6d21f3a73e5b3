package compaction

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
)

// made is the quick session, with and without the rejection of plan A: each test
// works on copies.
var made struct {
	sync.Once
	dir           string
	base, control place
	story, other  story
	err           error
}

func TestMain(m *testing.M) {
	status := m.Run()
	if made.dir != "" {
		if err := os.RemoveAll(made.dir); err != nil {
			panic(err)
		}
	}
	os.Exit(status)
}

// session returns the quick session.
func quickly(t *testing.T) (base place, s story, control place, other story) {
	t.Helper()
	made.Do(func() {
		if made.dir, made.err = os.MkdirTemp("", "belay-eval-"); made.err != nil {
			return
		}
		if made.base, made.story, made.err = generate(limited(t), quick, filepath.Join(made.dir, "base"), true); made.err != nil {
			return
		}
		made.control, made.other, made.err = generate(limited(t), quick, filepath.Join(made.dir, "control"), false)
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.base, made.story, made.control, made.other
}

func TestR266_R267_R268_R269_R270_WhatACompactionKeeps(t *testing.T) {
	base, s, _, _ := quickly(t)
	b := bench{wire: wired(t), notes: summariser{}, compact: ordinary, dir: t.TempDir()}
	r, err := b.views(limited(t), base, s)
	if err != nil {
		t.Fatal(err)
	}
	r.Trap, r.Control = Sprung{Proposals: 1, Stopped: []string{"elsewhere"}}, Sprung{Proposals: 1, Ran: []string{"elsewhere"}}
	r.Noted = Sprung{Proposals: 1, Stopped: []string{"elsewhere"}, Noted: 1}
	for _, m := range r.misses() {
		t.Error(m)
	}
	for _, v := range r.Views {
		if v.After*5/4 > v.Before || v.Asked > 0 && v.Cost == 0 {
			t.Errorf("%s: %d tokens became %d, for %d requests that cost %d", v.Name, v.Before, v.After, v.Asked, v.Cost)
		}
	}
	if last := r.Views[len(r.Views)-1]; last.Asked == 0 {
		t.Error("nobody was asked for notes")
	}
}

func wired(t *testing.T) wire {
	t.Helper()
	w, err := newWire()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// instead is a compaction that somebody got wrong: it has all of the session
// replaced by a handoff of theirs.
func instead(handoff func(before string) string) func(context.Context, *running) error {
	return func(_ context.Context, r *running) error {
		_, err := r.journal.Append(event.Compacted{
			Through: r.state.Seq(), Trigger: "person", Handoff: handoff(r.state.Handoff()), Before: 1000, After: 100,
		})
		return err
	}
}

// forgetful is a compaction that drops the constraints, too.
func forgetful(ctx context.Context, r *running) error {
	for e, err := range r.journal.Since(0) {
		if err != nil {
			return err
		}
		if b, ok := e.Body.(event.Constrained); ok && !b.Lifted {
			if _, err := r.journal.Append(event.Constrained{ID: b.ID, Words: b.Words, By: "person", Lifted: true}); err != nil {
				return err
			}
		}
	}
	return instead(func(string) string { return "Goal: add a flag type. Next step: README.md" })(ctx, r)
}

// TestR267_R268_SabotageIsFound holds that a compaction that keeps its promises
// badly does not pass.
func TestR267_R268_SabotageIsFound(t *testing.T) {
	base, s, _, _ := quickly(t)
	l, err := labelsOf(s.name)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		compact func(context.Context, *running) error
		finds   []string
	}{
		{"it drops the constraints", forgetful, []string{"missing: team: ", "missing: exported: "}},
		{"it forgets the rest", instead(func(string) string { return "Do not touch golangflag.go." }), []string{"missing: goal: ", "missing: linter: ", "the next action is"}},
		{"it makes things up", instead(func(string) string {
			return "- nowhere.go: created by Write (c1)\n- size.go: changed by Edit (c9), digest 00000000\n- go test ./nowhere: passed in c9\n- README.md: removed by Bash (c9)"
		}), []string{"nowhere.go is said to be there", "size.go is said to have another digest", "go test ./nowhere", "README.md is said to be gone"}},
		{"it does nothing", func(context.Context, *running) error { return nil }, []string{"nothing was compacted", "tokens became"}},
	}
	b := bench{wire: wired(t), notes: summariser{}, dir: t.TempDir()}
	full, err := b.full(limited(t), base)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := bench{wire: wired(t), notes: summariser{}, compact: test.compact, dir: t.TempDir()}
			p, err := base.copy(filepath.Join(b.dir, "copy"))
			if err != nil {
				t.Fatal(err)
			}
			seen, err := b.once(limited(t), p)
			if err != nil {
				t.Fatal(err)
			}
			v, err := seen.judge(limited(t), "sabotaged", l, full)
			if err != nil {
				t.Fatal(err)
			}
			missed := strings.Join(Report{Views: []View{v}}.misses(), "\n")
			for _, find := range test.finds {
				if !strings.Contains(missed, find) {
					t.Errorf("%q was not found; what was: %s", find, missed)
				}
			}
		})
	}
}

// TestR269_GrowthIsFound holds that a handoff that takes in the one before is
// found out.
func TestR269_GrowthIsFound(t *testing.T) {
	base, s, _, _ := quickly(t)
	b := bench{wire: wired(t), notes: summariser{}, dir: t.TempDir(), compact: instead(func(before string) string {
		return before + "\n" + strings.Repeat("The story so far. ", 10)
	})}
	p, err := base.copy(filepath.Join(b.dir, "copy"))
	if err != nil {
		t.Fatal(err)
	}
	r := Report{Session: s.name}
	if _, err := b.ten(limited(t), p, &r); err != nil {
		t.Fatal(err)
	}
	if missed := strings.Join(r.misses(), "\n"); !strings.Contains(missed, "the handoff grew by") {
		t.Errorf("growth %v was not found: %s", r.Growth, missed)
	}
}
