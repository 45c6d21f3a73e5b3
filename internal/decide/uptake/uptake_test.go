package uptake

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A story is a session being written.
type story struct {
	Fold
	seq   int64
	calls int
}

func begin() *story {
	s := new(story)
	s.add(event.Opened{Session: "s", Tools: []tool.Spec{{Name: "Read", Idempotency: tool.ReadOnly}, {Name: "Grep", Idempotency: tool.ReadOnly}}})
	s.ask()
	return s
}

func (s *story) add(b event.Body) {
	s.seq++
	s.Add(event.Event{Seq: s.seq, Body: b})
}

func (s *story) ask()  { s.add(event.Asked{Text: "go on"}) }
func (s *story) stop() { s.say(); s.add(event.Stopped{Reason: "end"}) }
func (s *story) say() {
	s.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "done"}}}, Stop: model.End})
}

// A play is a call and what comes of it.
type play struct {
	call   string // the tool and its arguments
	result tool.Result
}

// step is a reply with calls.
func (s *story) step(plays ...play) {
	var parts []model.Part
	var calls []tool.Call
	for _, p := range plays {
		s.calls++
		name, args, _ := strings.Cut(p.call, " ")
		c := tool.Call{ID: fmt.Sprintf("c%d", s.calls), Tool: name, Args: json.RawMessage(args)}
		calls, parts = append(calls, c), append(parts, model.Call{Call: c})
	}
	s.add(event.Replied{Message: model.Message{Role: model.Assistant, Parts: parts}, Stop: model.Calls})
	for i, p := range plays {
		kind := effect.Write
		if s.looks[calls[i].Tool] {
			kind = effect.Read
		}
		s.add(event.Planned{Plan: tool.Plan{Call: calls[i], Parts: []tool.Part{{Effects: effect.Set{{Kind: kind}}}}}})
		s.add(event.Finished{Call: calls[i].ID, Result: p.result})
	}
}

func ok(text string) tool.Result { return tool.Result{Status: tool.Success, Text: text} }
func fails(k tool.Kind) tool.Result {
	return tool.Failed(&tool.Failure{Kind: k, Message: "no: " + string(k)})
}
func changes(path string) tool.Result {
	return tool.Result{Status: tool.Success, Edits: []edit.Intent{{Path: path, Base: "1", Result: "2"}}}
}
func cut(handle string) tool.Result {
	return tool.Result{Status: tool.Partial, Text: "head", Artifacts: []tool.Artifact{{Handle: handle}}}
}
func rather(calls ...tool.Call) tool.Result {
	return tool.Failed(&tool.Failure{Kind: tool.Invalid, Message: "use another tool", Detail: tool.InsteadDetail(calls)})
}
func tests(files ...string) tool.Result {
	r := fails(tool.NonzeroExit)
	var failing []map[string]string
	for _, f := range files {
		failing = append(failing, map[string]string{"name": "TestA", "file": f})
	}
	r.Data, _ = json.Marshal(map[string]any{"failing": failing})
	return r
}

const (
	readA = `Read {"path":"a.go"}`
	editA = `Edit {"path":"a.go","old":"x","new":"y"}`
	testA = `Test {}`
)

// TestR303_WhatWasNotTakenUp: each kind, and beside it what is like it and is none.
func TestR303_WhatWasNotTakenUp(t *testing.T) {
	retryable := tool.Failed(&tool.Failure{Kind: tool.TimedOut, Message: "slow", Retry: true})
	read := tool.Call{Tool: "Read", Args: json.RawMessage(`{"path":"a.go"}`)}
	for name, tc := range map[string]struct {
		session func(s *story)
		want    []string
	}{
		"the same call after the same failure": {func(s *story) {
			s.step(play{editA, fails(tool.NoMatch)})
			s.step(play{editA, fails(tool.NoMatch)})
		}, []string{"same_call c1 c2 1.2: Edit a.go failed (no_match), nothing had changed, and it was called again"}},
		"and was refused": {func(s *story) {
			s.step(play{editA, fails(tool.NoMatch)})
			s.step(play{readA, ok("text")})
			s.step(play{editA, fails(tool.Repeated)})
		}, []string{"same_call c1 c3 1.3: Edit a.go failed (no_match), nothing had changed, and it was called again"}},
		"the same call in the same reply": {func(s *story) {
			s.step(play{editA, fails(tool.NoMatch)}, play{editA, fails(tool.NoMatch)})
		}, nil},
		"the same call after something changed": {func(s *story) {
			s.step(play{testA, tests("a.go")})
			s.step(play{editA, changes("a.go")}, play{testA, tests("a.go")})
		}, nil},
		"the same call after a command": {func(s *story) {
			s.step(play{testA, fails(tool.NonzeroExit)})
			s.step(play{`Bash {"command":"make"}`, ok("")})
			s.step(play{testA, fails(tool.NonzeroExit)})
		}, nil},
		"the same call after the user spoke": {func(s *story) {
			s.step(play{editA, fails(tool.NoMatch)})
			s.ask()
			s.step(play{editA, fails(tool.NoMatch)})
		}, nil},
		"the same call after a compaction": {func(s *story) {
			s.step(play{editA, fails(tool.NoMatch)})
			s.add(event.Compacted{Through: 3, Handoff: "h"})
			s.step(play{editA, fails(tool.NoMatch)})
		}, nil},
		"the same call with another failure": {func(s *story) {
			s.step(play{editA, fails(tool.NotRead)})
			s.step(play{editA, fails(tool.Denied)})
		}, nil},
		"the same call that may succeed later": {func(s *story) {
			s.step(play{testA, retryable})
			s.step(play{testA, retryable})
		}, nil},
		"the same call, which succeeds": {func(s *story) {
			s.step(play{testA, fails(tool.NonzeroExit)})
			s.step(play{testA, ok("")})
		}, nil},

		"an edit without reading again": {func(s *story) {
			s.step(play{editA, fails(tool.Stale)})
			s.step(play{`Edit {"path":"./a.go","old":"z","new":"y"}`, fails(tool.NoMatch)})
		}, []string{"not_read_again c1 c2 1.2: Edit a.go failed (stale), and the file was not looked at before the next try"}},
		"an edit after a look at another file": {func(s *story) {
			s.step(play{editA, fails(tool.Stale)})
			s.step(play{`Read {"path":"b.go"}`, ok("b")})
			s.step(play{`Edit {"path":"a.go","old":"z","new":"y"}`, fails(tool.NoMatch)})
		}, []string{"not_read_again c1 c3 1.3: Edit a.go failed (stale), and the file was not looked at before the next try"}},
		"an edit after reading": {func(s *story) {
			s.step(play{editA, fails(tool.Stale)})
			s.step(play{readA, ok("a")})
			s.step(play{`Edit {"path":"a.go","old":"z","new":"y"}`, fails(tool.NoMatch)})
		}, nil},
		"an edit after a search that showed the file": {func(s *story) {
			r := ok("a.go:1: z")
			r.Seen = map[string]string{"a.go": "d"}
			s.step(play{editA, fails(tool.Stale)})
			s.step(play{`Grep {"pattern":"z"}`, r})
			s.step(play{`Edit {"path":"a.go","old":"z","new":"y"}`, fails(tool.NoMatch)})
		}, nil},
		"an edit after a command that names the file": {func(s *story) {
			s.step(play{editA, fails(tool.Stale)})
			s.step(play{`Bash {"command":"git diff a.go"}`, ok("-z")})
			s.step(play{`Edit {"path":"a.go","old":"z","new":"y"}`, fails(tool.NoMatch)})
		}, nil},
		"another edit that succeeds": {func(s *story) {
			s.step(play{editA, fails(tool.Stale)})
			s.step(play{`Edit {"path":"a.go","old":"z","new":"y"}`, changes("a.go")})
		}, nil},

		"not the tool that was named": {func(s *story) {
			s.step(play{`Bash {"command":"cat a.go"}`, rather(read)})
			s.step(play{`Bash {"command":"head a.go"}`, rather(read)})
		}, []string{"not_instead c1 c2 1.2: Bash cat a.go was answered with the call to make, Read a.go, and it was not made"}},
		"the tool that was named, and later not": {func(s *story) {
			s.step(play{`Bash {"command":"cat a.go"}`, rather(read)})
			s.step(play{readA, ok("a")})
			s.step(play{`Bash {"command":"head a.go"}`, rather(read)})
		}, nil},

		"cut short and run again": {func(s *story) {
			s.step(play{`Bash {"command":"make"}`, cut("artifact:1")})
			s.step(play{`Bash {"command":"make"}`, cut("artifact:2")})
		}, []string{"rest_unseen c1 c2 1.2: the result of Bash make was cut short, its whole (artifact:1) was not looked at, and it was called again"}},
		"cut short, looked at, and run again": {func(s *story) {
			s.step(play{`Bash {"command":"make"}`, cut("artifact:1")})
			s.step(play{`Grep {"pattern":"error","path":"artifact:1"}`, ok("error")})
			s.step(play{`Bash {"command":"make"}`, cut("artifact:2")})
		}, nil},
		"cut short, and run again after an edit": {func(s *story) {
			s.step(play{`Bash {"command":"make"}`, cut("artifact:1")})
			s.step(play{editA, changes("a.go")})
			s.step(play{`Bash {"command":"make"}`, cut("artifact:2")})
		}, nil},

		"what had been answered": {func(s *story) {
			s.step(play{readA, ok("a")})
			s.step(play{`Grep {"pattern":"z"}`, ok("b")})
			s.step(play{readA, ok("a")})
		}, []string{"asked_again c1 c3 1.3: Read a.go had answered, nothing had changed, and it was called again and said the same"}},
		"what had been answered, and is other now": {func(s *story) {
			s.step(play{readA, ok("a")})
			s.step(play{readA, ok("b")})
		}, nil},
		"what had been answered, after a failure": {func(s *story) {
			s.step(play{readA, ok("a")})
			s.step(play{editA, fails(tool.NoMatch)})
			s.step(play{readA, ok("a")})
		}, nil},
		"what a process prints": {func(s *story) {
			s.step(play{`Process {"action":"read"}`, ok("still running")})
			s.step(play{`Process {"action":"read"}`, ok("still running")})
		}, nil},

		"a failing test, and the end": {func(s *story) {
			s.step(play{editA, changes("a.go")})
			s.step(play{testA, tests("a_test.go", "b_test.go")})
			s.stop()
		}, []string{"test_unseen c2  1.3: Test failed after a change, and the turn ended with nothing else looked at or changed: not a_test.go, b_test.go"}},
		"a failing test of a command, and the end": {func(s *story) {
			r := fails(tool.NonzeroExit)
			r.Data = json.RawMessage(`{"exit_code":1,"reports":[{"tool":"go","failing":[{"name":"TestA"}],"problems":[{"file":"warned.go"}]}]}`)
			s.step(play{editA, changes("a.go")})
			s.step(play{`Bash {"command":"go test"}`, r})
			s.stop()
		}, []string{"test_unseen c2  1.3: Bash go test failed after a change, and the turn ended with nothing else looked at or changed: not TestA"}},
		"a failing test that is looked into": {func(s *story) {
			s.step(play{editA, changes("a.go")})
			s.step(play{testA, tests("a_test.go")})
			s.step(play{`Read {"path":"a_test.go"}`, ok("t")})
			s.stop()
		}, nil},
		"a failing test that was asked for": {func(s *story) {
			s.step(play{testA, tests("a_test.go")})
			s.stop()
		}, nil},
		"a failing test in a turn before": {func(s *story) {
			s.step(play{editA, changes("a.go")})
			s.step(play{testA, tests("a_test.go")})
			s.step(play{readA, ok("a")})
			s.stop()
			s.ask()
			s.stop()
		}, nil},
	} {
		s := begin()
		tc.session(s)
		s.settle()
		var got []string
		for _, m := range s.Misses() {
			got = append(got, fmt.Sprintf("%s %s %s %d.%d: %s", m.Kind, m.Of, m.At, m.Turn, m.Reply, m.What))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestR303_SameCallsAgainstAnOracle: of random sessions the same calls are found that
// a search through all pairs of calls finds.
func TestR303_SameCallsAgainstAnOracle(t *testing.T) {
	type fact struct {
		call    string
		kind    tool.Kind
		changes bool // or the user speaks, or a compaction
	}
	found := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := begin()
		var facts []fact
		for range rng.IntN(30) {
			switch rng.IntN(8) {
			case 0:
				s.ask()
				facts = append(facts, fact{changes: true})
			case 1:
				s.add(event.Compacted{Through: s.seq})
				facts = append(facts, fact{changes: true})
			case 2:
				s.step(play{`Bash {"command":"make"}`, ok("")})
				facts = append(facts, fact{changes: true, call: `Bash {"command":"make"}`})
			default:
				call := fmt.Sprintf(`Edit {"path":"%d"}`, rng.IntN(3))
				kind := []tool.Kind{"", tool.Invalid, tool.NonzeroExit, tool.Repeated}[rng.IntN(4)]
				if kind == "" {
					s.step(play{call, changes("p")})
				} else {
					s.step(play{call, fails(kind)})
				}
				facts = append(facts, fact{call, kind, kind == ""})
			}
		}
		s.settle()
		want := 0
		for i, d := range facts {
			for j := i - 1; j >= 0; j-- {
				p := facts[j]
				if p.call != "" && p.call == d.call && p.kind != "" && (d.kind == p.kind || d.kind == tool.Repeated) {
					want++
				}
				if p.changes || p.call == d.call {
					break
				}
			}
		}
		got := len(slices.DeleteFunc(s.Misses(), func(m Miss) bool { return m.Kind != SameCall }))
		if got != want {
			t.Errorf("seed %d: %d same calls, want %d of %+v", seed, got, want, facts)
		}
		found += want
	}
	if found < 100 {
		t.Errorf("only %d same calls in all sessions: this proves little", found)
	}
}

// TestMissesOnlyGrow: what more of a log says takes back nothing.
func TestMissesOnlyGrow(t *testing.T) {
	s := begin()
	var before []Miss
	for range 3 {
		s.step(play{editA, fails(tool.NoMatch)})
		s.step(play{readA, ok("a")})
		s.stop()
		s.ask()
		now := s.Misses()
		if d := cmp.Diff(before, now[:len(before)]); d != "" {
			t.Errorf("(-before +now):\n%s", d)
		}
		before = now
	}
}

// FuzzMisses: whatever tools and models write, nothing but what the log has is named, and a
// miss is of a result that was known when its call was made.
func FuzzMisses(f *testing.F) {
	f.Add(`{"path":"a.go"}`, `{"instead":[]}`, `{"failing":[{"file":"a_test.go"}]}`, uint8(0))
	f.Add(`{"path":1}`, `{"instead":[{"id":"","tool":"Read","args":null}]}`, `{"reports":[{"errors":1,"problems":[{}]}]}`, uint8(1))
	f.Add(`not JSON`, `null`, `[]`, uint8(2))
	f.Fuzz(func(t *testing.T, args, detail, data string, kind uint8) {
		r := fails(tool.Kinds[int(kind)%len(tool.Kinds)])
		r.Failure.Detail, r.Data = json.RawMessage(detail), json.RawMessage(data)
		s := begin()
		for range 3 {
			s.step(play{"Bash " + args, r}, play{"Edit " + args, changes("a.go")})
			s.step(play{"Read " + args, cut("artifact:1")}, play{"Bash " + args, r})
			s.stop()
		}
		replies := make(map[string]int) // by call
		for i := range s.calls {
			replies[fmt.Sprintf("c%d", i+1)] = i / 2
		}
		for _, m := range s.Misses() {
			of, there := replies[m.Of]
			at, also := replies[m.At]
			if !there || m.At != "" && (!also || at <= of) || m.What == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}
