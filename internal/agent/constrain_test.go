package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

// TestR254_WhatWasRuledOutIsStoppedBeforeAnyEffect: a call that a note of a
// compaction bans never starts; a person lifts the note, and it does.
func TestR254_WhatWasRuledOutIsStoppedBeforeAnyEffect(t *testing.T) {
	equal := tool.Call{Tool: "Act", Args: []byte(`{"on":"b"}`)}
	ran := 0
	r := newRig(t, options{
		before: []event.Body{
			event.Opened{Session: "s", Root: "/w"}, event.Asked{Text: "plan"}, event.Stopped{Reason: "end"},
			event.Compacted{Through: 3, Handoff: "h", Notes: []event.Note{
				{ID: "n1", Kind: "decision", Status: "rejected", Text: "never by a", Bans: []tool.Ban{{Rule: "Act(a)"}}},
				{ID: "n2", Kind: "attempt", Error: "x", Text: "b fails", Bans: []tool.Ban{{Call: equal.Signature()}}},
			}},
		},
		script: steps(`call: Act {"on": "a"}`, `call: Act { "on" : "b" }`, `call: Act {"on": "c"}`) + "-- step --\ncall: Act {\"on\": \"a\"}\n-- step --\nsay: Done.\n",
		tools: []tool.Tool{act("Act", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
			ran++
			return ok(ctx, on, env)
		})},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"planned c1", "deny c1", "finished c1", "planned c2", "deny c2", "finished c2",
		"planned c3", "allow c3", "started c3", "finished c3",
	}
	if diff := cmp.Diff(want, r.story()); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
	if f := r.result("c1").Failure; f == nil || f.Message != `denied: it was ruled out earlier (n1): "never by a"; the call: a` {
		t.Errorf("the model hears %+v", f)
	}
	if done, err := r.Lift("n1"); !done || err != nil {
		t.Fatalf("Lift = %v, %v", done, err)
	}
	if _, err := r.Lift("n1"); err == nil {
		t.Error("lifted twice")
	}
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ran != 2 || r.kind("c4") != "" {
		t.Errorf("%d calls ran, c4 ended as %q", ran, r.kind("c4"))
	}
}

// TestR306_ConstraintsAreHeardWhileATurnRuns: what is said meanwhile binds from the
// next step on, and so does what is lifted.
func TestR306_ConstraintsAreHeardWhileATurnRuns(t *testing.T) {
	var r *rig
	r = newRig(t, options{
		script: steps(`call: Act {"on": "x"}`, `call: Act {"on": "api/a"}`, `call: Act {"on": "y"}`, `call: Act {"on": "api/a"}`),
		tools: []tool.Tool{act("Act", effect.Write, func(ctx context.Context, on string, env tool.Env) (tool.Result, error) {
			switch on {
			case "x":
				r.Steer(agent.Input{Text: "do not touch api/"})
			case "y":
				if done, err := r.Lift("k1"); done || err != nil {
					t.Errorf("Lift = %v, %v", done, err)
				}
			}
			return ok(ctx, on, env)
		})},
		change: func(o *agent.Options) { o.Tools = append(o.Tools, act("Edit", effect.Write, ok)) },
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	var heard []string
	for _, e := range r.events {
		if b, ok := e.Body.(event.Constrained); ok {
			heard = append(heard, strings.TrimSpace(b.ID+" "+b.By+" "+b.Words))
		}
	}
	if diff := cmp.Diff([]string{"k1 reader do not touch api/", "k1 person do not touch api/"}, heard); diff != "" {
		t.Error(diff)
	}
}

// TestConstraintsOfACutTurnAreHeard: a crash between words and what they forbid
// loses nothing, and what was said twice binds once.
func TestConstraintsOfACutTurnAreHeard(t *testing.T) {
	r := newRig(t, options{
		before: []event.Body{event.Opened{Session: "s", Root: "/w"}, event.Asked{Text: "do not push"}},
		script: steps(),
	})
	held, _ := r.Constraints()
	if len(held) != 1 || held[0].Seq != 2 {
		t.Fatalf("%+v holds", held)
	}
	if err := r.Turn(t.Context(), agent.Input{Text: "and again: do  not push!"}); err != nil {
		t.Fatal(err)
	}
	if held, _ := r.Constraints(); len(held) != 1 {
		t.Errorf("%+v holds", held)
	}
	if !slices.ContainsFunc(held[0].Bans, func(b tool.Ban) bool { return b.Rule == "Bash(git push **)" }) {
		t.Errorf("it bans %+v", held[0].Bans)
	}
}

// TestWhatIsSaidInOtherWordsBindsOnce: what a constraint that holds bans already is no
// other one, and what it does not is.
func TestWhatIsSaidInOtherWordsBindsOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		said []string
		want []string
	}{
		"the same ban":      {[]string{"Do not push.", "never push", "不要推送"}, []string{"Do not push"}},
		"in one message":    {[]string{"Do not push. I mean it: never push."}, []string{"Do not push"}},
		"asked about too":   {[]string{"do not push", "Do not push without my OK."}, []string{"do not push"}},
		"denied too":        {[]string{"Do not push without my OK.", "do not push"}, []string{"Do not push without my OK", "do not push"}},
		"a part of it":      {[]string{"Don't touch a.go or b.go.", "leave b.go alone"}, []string{"Don't touch a.go or b.go"}},
		"more than it":      {[]string{"leave b.go alone", "Don't touch a.go or b.go."}, []string{"leave b.go alone", "Don't touch a.go or b.go"}},
		"with an exception": {[]string{"Don't touch src/ except src/a.go.", "don't touch src/"}, []string{"Don't touch src/ except src/a.go", "don't touch src/"}},
		"only words":        {[]string{"keep the signatures as they are", "keep the names as they are"}, []string{"keep the signatures as they are", "keep the names as they are"}},
	} {
		t.Run(name, func(t *testing.T) {
			var replies []string
			for range tt.said {
				replies = append(replies, "say: yes")
			}
			r := newRig(t, options{script: steps(replies...)})
			for _, said := range tt.said {
				if err := r.Turn(t.Context(), agent.Input{Text: said}); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			held, _ := r.Constraints()
			for _, k := range held {
				got = append(got, k.Words)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestR254_ABanThatDoesNotHoldCostsNoNote: it is asked for once more; where that brings
// nothing better, what was ruled out stays, and is said to be unenforced.
func TestR254_ABanThatDoesNotHoldCostsNoNote(t *testing.T) {
	const wide, narrow = `{"kind":"decision","text":"the lexer stays","status":"rejected","evidence":[],"error":"","files":[],"forbids":[{"rule":"Edit(**)","text":"","call":""}]}`,
		`{"kind":"decision","text":"the lexer stays","status":"rejected","evidence":[],"error":"","files":[],"forbids":[{"rule":"Edit(lexer.go)","text":"","call":""}]}`
	for name, tt := range map[string]struct {
		second []string
		bans   int
	}{"it is mended": {[]string{narrow}, 1}, "it is left out": {nil, 0}, "it is said again": {[]string{wide}, 0}} {
		m := &small{window: 12_000, calls: 80, size: 900}
		m.handoff = func(r *model.Request) (model.Reply, error) {
			if len(r.Messages) > 1 {
				return notes(tt.second...)(r)
			}
			return notes(wide)(r)
		}
		l := newLong(t, m, 12_000, nil)
		if err := l.turn("go"); err != nil {
			t.Fatal(err)
		}
		out := l.state.RuledOut()
		if len(out) == 0 || out[0].Text != "the lexer stays" || len(out[0].Bans) != tt.bans {
			t.Errorf("%s: %+v is ruled out", name, out)
		}
		warned := strings.Contains(prompt.Request(l.state, nil, nil).System, "decision rejected: the lexer stays")
		if warned != (tt.bans == 0) {
			t.Errorf("%s: L2 warns of it: %v", name, warned)
		}
	}
}
