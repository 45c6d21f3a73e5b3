package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A desk has files, a tool Put that writes one and a tool Check that says what they
// are.
type desk struct {
	mu    sync.Mutex
	files map[string]string
}

func (d *desk) tools() []tool.Tool {
	type put struct {
		Path string `json:"path"`
		Text string `json:"text"`
	}
	type none struct{}
	writes := tool.New(tool.Spec{
		Name: "Put", Version: 1, Description: "Puts.", Effects: []effect.Kind{effect.Write}, Idempotency: tool.CompareAndSwap, Risk: tool.Low, Timeout: time.Minute,
	}, func(_ context.Context, a put, _ tool.Input) (*tool.Action, error) {
		if a.Text == "" {
			return nil, &tool.Failure{Kind: tool.Invalid, Message: "no text"}
		}
		return &tool.Action{
			Parts: []tool.Part{{Name: a.Path, Effects: effect.Set{{Kind: effect.Write, On: a.Path}}}},
			Do: func(context.Context, tool.Env) (tool.Result, error) {
				d.mu.Lock()
				defer d.mu.Unlock()
				e := edit.Intent{Path: a.Path, Result: edit.Digest([]byte(a.Text))}
				if was, there := d.files[a.Path]; there {
					e.Base = edit.Digest([]byte(was))
				}
				d.files[a.Path] = a.Text
				return tool.Result{Status: tool.Success, Text: "put " + a.Path, Edits: []edit.Intent{e}}, nil
			},
		}, nil
	})
	checks := tool.New(tool.Spec{
		Name: "Check", Version: 1, Description: "Checks.", Effects: []effect.Kind{effect.Read, effect.Process}, Idempotency: tool.None, Risk: tool.Low, Timeout: time.Minute,
	}, func(context.Context, none, tool.Input) (*tool.Action, error) {
		return &tool.Action{
			Parts: []tool.Part{{Name: "check", Effects: effect.Set{{Kind: effect.Read, On: ".", Tree: true}, {Kind: effect.Process}}}},
			Do: func(context.Context, tool.Env) (tool.Result, error) {
				d.mu.Lock()
				defer d.mu.Unlock()
				return tool.Result{Status: tool.Success, Text: fmt.Sprint(d.files)}, nil
			},
		}, nil
	})
	return []tool.Tool{writes, checks}
}

// rehearse runs a session at a desk by script, a turn for each of its texts.
func rehearse(t *testing.T, script string, turns ...string) *Recording {
	t.Helper()
	j := journal.Memory(nil)
	var events []event.Event
	a, err := agent.Open(t.Context(), new(session.State), agent.Options{
		Journal: j, Provider: rehearsed(t, script), Model: model.Info{Name: "script:test"}, Tools: (&desk{files: make(map[string]string)}).tools(),
		Session: event.Opened{Session: "s", Root: "/w", Model: "script:test"}, Policy: policy.Policy{Mode: policy.ModeFull},
		Observe: func(s agent.Signal) {
			if recorded, ok := s.(agent.Recorded); ok {
				events = append(events, recorded.Event)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range turns {
		if err := a.Turn(t.Context(), agent.Input{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(events, j.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rehearsed(t *testing.T, script string) model.Provider {
	t.Helper()
	p, err := provider.NewRehearsed("test", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (r *Recording) again(t *testing.T, p model.Provider) *Recording {
	t.Helper()
	is, err := r.Play(t.Context(), agent.Options{
		Journal: journal.Memory(nil), Model: model.Info{Name: r.Model()}, Provider: p, Policy: policy.Policy{Mode: policy.ModeFull},
	}, Change{})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

const twice = `-- step --
call: Put {"path": "a", "text": "1"}
-- step --
call: Put {"path": "b", "text": "1"}
-- step --
call: Check {}
-- step --
call: Put {"path": "a", "text": "2"}
call: Check {}
-- step --
say: done
`

// TestR302_WhatAPlayedResultProves: it counts only if the files were as they had
// been when the call was recorded.
func TestR302_WhatAPlayedResultProves(t *testing.T) {
	steps := func(calls ...string) string {
		var b strings.Builder
		for _, c := range calls {
			fmt.Fprintf(&b, "-- step --\ncall: %s\n", c)
		}
		return b.String() + "-- step --\nsay: done\n"
	}
	a1, a2, b1, check := `Put {"path": "a", "text": "1"}`, `Put {"path": "a", "text": "2"}`, `Put {"path": "b", "text": "1"}`, `Check {}`
	for name, tc := range map[string]struct {
		script string
		want   []Doubt
	}{
		"the same":       {steps(a1, b1, check, a2, check), nil},
		"another order":  {steps(b1, a1, check, a2, check), nil},
		"no first check": {steps(a1, b1, a2), nil},
		"one change less": {steps(a1, check, a2), []Doubt{
			{1, "Check (c2) ran with other files than in the recorded session: b was not changed as it had been"},
		}},
		"a change too soon": {steps(a1, b1, a2, check), []Doubt{
			{1, "Check (c4) ran with other files than in the recorded session: a was changed in another way"},
		}},
		"a change without the one before it": {steps(b1, a2), []Doubt{
			{1, "Put (c2) met another file than in the recorded session: a was not changed as it had been"},
		}},
		"a change that was not made": {steps(`Put {"path": "c", "text": "1"}`), []Doubt{
			{1, "Put (c1) was not made in the recorded session: what it would have done is not known"},
		}},
		"the check once more": {steps(a1, b1, check, a2, check, check), nil},
	} {
		is := rehearse(t, twice, "go").again(t, rehearsed(t, tc.script))
		if d := cmp.Diff(tc.want, is.Doubts()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestR302_WhatTheRuntimeAnsweredIsNotPlayedForLaterCalls: a call that was refused as a
// repetition has used up no result, one that is prepared twice has used up one, and
// advice that was given is not given twice.
func TestR302_WhatTheRuntimeAnsweredIsNotPlayedForLaterCalls(t *testing.T) {
	r := rehearse(t, `-- step --
call: Put {"path": "a"}
-- step --
call: Put {"path": "a", "text": ""}
-- step --
call: Put {"path": "b", "text": ""}
-- step --
call: Put {"path": "c", "text": ""}
-- step --
call: Put {"path": "c", "text": ""}
-- step --
call: Put {"path": "a", "text": "1"}
call: Put {"path": "a", "text": "2"}
call: Check {}
-- step --
call: Put {"path": "c", "text": ""}
-- step --
call: Check {}
call: Put {"path": "b", "text": "1"}
call: Check {}
-- step --
say: done
-- step --
call: Check {}
-- step --
say: done
`, "go", "on")
	refused := 0
	for _, m := range r.made {
		if kindOf(*m.result) == tool.Repeated {
			refused++
		}
	}
	if refused == 0 {
		t.Fatal("no call was refused as a repetition: this proves nothing")
	}
	is := r.again(t, nil)
	for _, p := range Compare(r.Steps(), is.Steps()) {
		if p.Was == nil || p.Is == nil || len(p.Request) > 0 || !p.SameNext {
			t.Errorf("turn %d, step %d differs: %v", p.Turn, p.Step, p.Request)
			if p.Was != nil && p.Is != nil {
				missing, added := Context(p.Was.Request, p.Is.Request)
				t.Logf("- %q\n+ %q", missing, added)
			}
		}
	}
	if is.Doubts() != nil {
		t.Errorf("doubts of the same: %v", is.Doubts())
	}
}

// TestWhatAPersonChangedIsThere: a call that no reply asked for, such as an undo,
// changes the files that the next turn meets.
func TestWhatAPersonChangedIsThere(t *testing.T) {
	r := rehearse(t, "-- step --\ncall: Put {\"path\": \"a\", \"text\": \"1\"}\n-- step --\nsay: done\n-- step --\ncall: Check {}\n-- step --\nsay: done\n", "go", "on")
	var events []event.Event
	for _, e := range r.Events() {
		if _, ok := e.Body.(event.Asked); ok && len(events) > 5 {
			back := edit.Intent{Path: "a", Base: edit.Digest([]byte("1")), Remove: true}
			events = append(events, event.Event{Body: event.Finished{Call: "c99", Result: tool.Result{Status: tool.Success, Edits: []edit.Intent{back}}}})
		}
		events = append(events, e)
	}
	undone, err := Read(events, journal.Memory(nil).Artifact)
	if err != nil {
		t.Fatal(err)
	}
	if is := undone.again(t, nil); is.Doubts() != nil {
		t.Errorf("doubts of the same: %v", is.Doubts())
	}
	check := undone.calls[tool.Call{Tool: "Check", Args: []byte("{}")}.Signature()][0]
	if d := cmp.Diff(files{"a": ""}, check.files); d != "" {
		t.Errorf("the files of the second turn (-want +got):\n%s", d)
	}
}

// TestR302_RandomSessionsPlayTheSame: whatever a session did, side by side and refused
// calls included, playing it with nothing changed gives the same requests and the same
// results, and leaves no doubt.
func TestR302_RandomSessionsPlayTheSame(t *testing.T) {
	refused, doubted := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 302))
		var script strings.Builder
		turns := []string{"go"}
		for range 1 + rng.IntN(8) {
			script.WriteString("-- step --\n")
			if rng.IntN(6) == 0 {
				script.WriteString("say: done\n")
				turns = append(turns, "on")
				continue
			}
			for range 1 + rng.IntN(4) {
				switch rng.IntN(5) {
				case 0:
					script.WriteString("call: Check {}\n")
				case 1:
					fmt.Fprintf(&script, "call: Put {\"path\": \"%d\", \"text\": \"\"}\n", rng.IntN(2))
				default:
					fmt.Fprintf(&script, "call: Put {\"path\": \"%d\", \"text\": \"%d\"}\n", rng.IntN(2), rng.IntN(3))
				}
			}
		}
		script.WriteString("-- step --\nsay: done\n")
		r := rehearse(t, script.String(), turns...)
		is := r.again(t, nil)
		for _, p := range Compare(r.Steps(), is.Steps()) {
			if p.Was == nil || p.Is == nil || len(p.Request) > 0 || !p.SameNext {
				t.Fatalf("seed %d, turn %d, step %d differs: %v; the script:\n%s", seed, p.Turn, p.Step, p.Request, script.String())
			}
		}
		if is.Doubts() != nil {
			t.Fatalf("seed %d: doubts of the same: %v", seed, is.Doubts())
		}
		for i, m := range r.made {
			if d := cmp.Diff(m.result.Edits, is.made[i].result.Edits); d != "" {
				t.Fatalf("seed %d: %s came to other changes (-was +is):\n%s", seed, m.call.ID, d)
			}
			if kindOf(*m.result) == tool.Repeated {
				refused++
			}
		}
		other := r.again(t, rehearsed(t, "-- step --\ncall: Put {\"path\": \"9\", \"text\": \"9\"}\n-- step --\nsay: done\n"+strings.Repeat("-- step --\nsay: done\n", len(turns))))
		doubted += len(other.Doubts())
	}
	if refused == 0 || doubted < 60 {
		t.Errorf("%d calls were refused as repetitions, and %d runs of another kind doubted: this proves little", refused, doubted)
	}
}
