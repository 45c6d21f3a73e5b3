package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fold applies bodies to a new state, a second apart, and fails the test if one
// does not fit.
func fold(t *testing.T, bodies ...event.Body) *State {
	t.Helper()
	s := new(State)
	for _, b := range bodies {
		add(t, s, b)
	}
	return s
}

func add(t *testing.T, s *State, b event.Body) {
	t.Helper()
	if err := s.Apply(next(s, b)); err != nil {
		t.Fatal(err)
	}
}

func next(s *State, b event.Body) event.Event {
	seq := s.Seq() + 1
	return event.Event{Seq: seq, Time: start.Add(time.Duration(seq) * time.Second), Body: b}
}

func opened() event.Body { return event.Opened{Session: "s", Root: "/w"} }

func asked(text string) event.Body { return event.Asked{Text: text} }

// replied is a reply that says text and calls tools by name and arguments.
func replied(s *State, text string, calls ...tool.Call) event.Body {
	m := model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: text}}}
	for i, c := range calls {
		c.ID = s.NextCall(i)
		m.Parts = append(m.Parts, model.Call{Call: c})
	}
	stop := model.End
	if len(calls) > 0 {
		stop = model.Calls
	}
	return event.Replied{Message: m, Stop: stop, Usage: model.Usage{Input: 10, Output: 1}, Cost: 7}
}

func calling(name, args string) tool.Call { return tool.Call{Tool: name, Args: json.RawMessage(args)} }

func plan(id string, c tool.Call, kinds ...effect.Kind) tool.Plan {
	c.ID = id
	part := tool.Part{Name: "x"}
	for _, k := range kinds {
		part.Effects = append(part.Effects, effect.Effect{Kind: k, On: "x"})
	}
	return tool.Plan{Call: c, Parts: []tool.Part{part}}
}

func allowed(p tool.Plan) event.Body {
	return event.Decided{Call: p.Call.ID, Plan: p.Digest(), Verdict: "allow", By: "mode full"}
}

func finished(id string, r tool.Result) event.Body { return event.Finished{Call: id, Result: r} }

func success() tool.Result { return tool.Result{Status: tool.Success, Text: "ok"} }

func failed(k tool.Kind) tool.Result { return tool.Failed(&tool.Failure{Kind: k, Message: string(k)}) }

func TestApplyRefusesWhatCannotFollow(t *testing.T) {
	read := calling("Read", `{"path":"a"}`)
	p := plan("c1", read, effect.Read)
	begun := func(t *testing.T) *State {
		s := fold(t, opened(), asked("go"))
		add(t, s, replied(s, "", read))
		return s
	}
	for _, tc := range []struct {
		name   string
		before func(*testing.T) *State
		body   event.Body
	}{
		{"words before the opening", func(t *testing.T) *State { return new(State) }, asked("go")},
		{"an opening without a name", func(t *testing.T) *State { return new(State) }, event.Opened{}},
		{"a reply outside a turn", func(t *testing.T) *State { return fold(t, opened()) }, event.Replied{}},
		{"a reply while a call is open", begun, event.Replied{}},
		{"words while a call is open", begun, asked("more")},
		{"a stop while a call is open", begun, event.Stopped{Reason: "end"}},
		{"a start that nobody allowed", begun, event.Started{Call: "c1"}},
		{"a result of no call", begun, finished("c9", success())},
		{"a plan of a call that does not come next", begun, event.Planned{Plan: plan("c9", read)}},
		{"a decision without a plan", begun, allowed(p)},
		{"a decision on another plan", func(t *testing.T) *State {
			s := begun(t)
			add(t, s, event.Planned{Plan: p})
			return s
		}, allowed(plan("c1", read, effect.Write))},
		{"a start after a denial", func(t *testing.T) *State {
			s := begun(t)
			add(t, s, event.Planned{Plan: p})
			add(t, s, event.Decided{Call: "c1", Plan: p.Digest(), Verdict: "deny"})
			return s
		}, event.Started{Call: "c1"}},
		{"a start of a plan that changed after the decision", func(t *testing.T) *State {
			s := begun(t)
			add(t, s, event.Planned{Plan: p})
			add(t, s, allowed(p))
			add(t, s, event.Planned{Plan: plan("c1", read, effect.Write)})
			return s
		}, event.Started{Call: "c1"}},
		{"a second result", func(t *testing.T) *State {
			s := begun(t)
			add(t, s, finished("c1", success()))
			return s
		}, finished("c1", success())},
		{"a plan after the result", func(t *testing.T) *State {
			s := begun(t)
			add(t, s, finished("c1", success()))
			return s
		}, event.Planned{Plan: p}},
		{"a settlement of a known outcome", func(t *testing.T) *State {
			s := begun(t)
			add(t, s, finished("c1", success()))
			return s
		}, event.Settled{Call: "c1", As: "done"}},
		{"calls out of order", func(t *testing.T) *State { return fold(t, opened(), asked("go")) },
			event.Replied{Message: model.Message{Parts: []model.Part{model.Call{Call: tool.Call{ID: "c2"}}}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := tc.before(t)
			before := fmt.Sprintf("%+v", *s)
			if err := s.Apply(next(s, tc.body)); !errors.Is(err, ErrInvalid) {
				t.Errorf("Apply = %v, want ErrInvalid", err)
			}
			if after := fmt.Sprintf("%+v", *s); after != before {
				t.Errorf("the state changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestApplyRefusesAGap(t *testing.T) {
	s := fold(t, opened())
	e := next(s, asked("go"))
	e.Seq++
	if err := s.Apply(e); !errors.Is(err, ErrInvalid) {
		t.Errorf("Apply = %v, want ErrInvalid", err)
	}
}

// TestR066_EachCallHasOneResult throws random events at a state. Whatever it
// accepts, an independent count of calls and results must agree.
func TestR066_EachCallHasOneResult(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 66))
		s := fold(t, opened())
		asked, results := map[string]bool{}, map[string]int{}
		for range 60 {
			b := randomBody(rng, s)
			if s.Apply(next(s, b)) != nil {
				continue
			}
			switch b := b.(type) {
			case event.Replied:
				for _, c := range b.Message.Calls() {
					if asked[c.ID] {
						t.Fatalf("seed %d: call id %s is used twice", seed, c.ID)
					}
					asked[c.ID] = true
				}
			case event.Planned:
				asked[b.Plan.Call.ID] = true
			case event.Finished:
				if results[b.Call]++; results[b.Call] > 1 || !asked[b.Call] {
					t.Fatalf("seed %d: result %d of call %s", seed, results[b.Call], b.Call)
				}
			case event.Asked, event.Stopped:
				if len(asked) != len(results) {
					t.Fatalf("seed %d: %T with %d calls and %d results", seed, b, len(asked), len(results))
				}
			}
			if open := len(s.Open()); open != len(asked)-len(results) {
				t.Fatalf("seed %d: %d calls are open, want %d", seed, open, len(asked)-len(results))
			}
		}
	}
}

func randomBody(rng *rand.Rand, s *State) event.Body {
	id := fmt.Sprintf("c%d", rng.IntN(6))
	p := plan(id, calling("T", `{}`), effect.Write)
	switch rng.IntN(8) {
	case 0:
		return event.Asked{Text: "x"}
	case 1:
		return replied(s, "x", make([]tool.Call, rng.IntN(3))...)
	case 2:
		return event.Planned{Plan: p}
	case 3:
		return allowed(p)
	case 4:
		return event.Started{Call: id}
	case 5, 6:
		return finished(id, success())
	}
	return event.Stopped{Reason: "end"}
}

// A plan on disk may be without its secrets; the verdict is on what it was.
func TestAVerdictIsOnThePlanBeforeItsSecretsWereTakenOut(t *testing.T) {
	s := fold(t, opened(), asked("go"))
	add(t, s, replied(s, "", calling("Bash", `{"command":"[redacted:KEY]"}`)))
	was := plan("c1", calling("Bash", `{"command":"a key"}`), effect.Anything)
	add(t, s, event.Planned{Plan: plan("c1", calling("Bash", `{"command":"[redacted:KEY]"}`), effect.Anything), Digest: was.Digest()})
	if err := s.Apply(next(s, event.Decided{Call: "c1", Plan: "another", Verdict: "allow"})); !errors.Is(err, ErrInvalid) {
		t.Errorf("a verdict on another plan: %v, want ErrInvalid", err)
	}
	add(t, s, allowed(was))
}

func TestFold(t *testing.T) {
	s := fold(t, opened(), event.Ruled{Path: "AGENTS.md", Digest: "d1", Text: "be kind"}, asked("go"))
	add(t, s, replied(s, "reading", calling("Read", `{"path":"a"}`), calling("Bash", `{"command":"make"}`)))
	bash := plan("c2", calling("Bash", `{"command":"make"}`), effect.Anything)
	add(t, s, event.Planned{Plan: bash})
	add(t, s, allowed(bash))
	add(t, s, event.Started{Call: "c2", Fingerprint: json.RawMessage(`1`)})

	want := []OpenCall{
		{Plan: tool.Plan{Call: tool.Call{ID: "c1", Tool: "Read", Args: json.RawMessage(`{"path":"a"}`)}}},
		{Plan: bash, Started: true, Fingerprint: []byte("1")},
	}
	if diff := cmp.Diff(want, s.Open()); diff != "" {
		t.Errorf("open calls (-want +got):\n%s", diff)
	}

	add(t, s, finished("c2", success()))
	add(t, s, finished("c1", tool.Result{
		Status: tool.Success, Text: "text", Seen: map[string]string{"a": "d2"}, Todo: []tool.Todo{{Text: "x", State: "active"}},
	}))
	if diff := cmp.Diff(map[string]string{"a": "d2"}, s.Seen()); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]tool.Todo{{Text: "x", State: "active"}}, s.Todo()); diff != "" {
		t.Errorf("todo (-want +got):\n%s", diff)
	}
	results := s.Talk()[1].Results
	if got := []string{results[0].Text, results[1].Text}; !cmp.Equal(got, []string{"text", "ok"}) {
		t.Errorf("results are %q, not in call order", got)
	}

	add(t, s, replied(s, "done"))
	add(t, s, event.Stopped{Reason: "end"})
	turn := s.Turn()
	turn.Began = time.Time{}
	wantTurn := Turn{Steps: 2, Usage: model.Usage{Input: 20, Output: 2}, Cost: 14, Stop: model.End}
	if diff := cmp.Diff(wantTurn, turn); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	add(t, s, asked("again"))
	if got := s.Turn().Steps; got != 0 {
		t.Errorf("a new turn has %d steps", got)
	}
}

func TestApprovalsBecomeRules(t *testing.T) {
	s := fold(t, opened(), asked("go"))
	add(t, s, replied(s, "", calling("Bash", `{}`)))
	p := plan("c1", calling("Bash", `{}`), effect.Anything)
	add(t, s, event.Planned{Plan: p})
	add(t, s, event.Decided{Call: "c1", Plan: p.Digest(), Verdict: "allow", By: event.ByPerson, Remember: "Bash(make)"})
	rules := s.Rules()
	if len(rules) != 1 || rules[0].Tool != "Bash" || rules[0].Pattern != "make" {
		t.Errorf("rules are %+v", rules)
	}
	add(t, s, event.Decided{Call: "c1", Plan: p.Digest(), Verdict: "allow", By: event.ByPerson, Remember: "Bash(("})
	if got := len(s.Rules()); got != 1 {
		t.Errorf("%d rules after one that cannot be read, want 1", got)
	}
}

// TestAPlanIsKnownByTheDigestThatWasRecorded: on its way to disk it may have
// lost a secret.
func TestAPlanIsKnownByTheDigestThatWasRecorded(t *testing.T) {
	s := fold(t, opened(), asked("go"))
	add(t, s, replied(s, "", calling("Bash", `{}`)))
	p := plan("c1", calling("Bash", `{}`), effect.Anything)
	whole := p
	whole.Summary = "curl -H key"
	add(t, s, event.Planned{Plan: p, Digest: whole.Digest()})
	decided := event.Decided{Call: "c1", Plan: p.Digest(), Verdict: "allow"}
	if err := s.Apply(next(s, decided)); !errors.Is(err, ErrInvalid) {
		t.Errorf("a decision about another plan: %v", err)
	}
	decided.Plan = whole.Digest()
	add(t, s, decided)
	add(t, s, event.Started{Call: "c1"})
}

// step is one call, made and ended, or words of the user.
type step struct {
	name, args string
	kinds      []effect.Kind
	result     tool.Result
	words      string
}

func TestR121_Repeats(t *testing.T) {
	edit := step{name: "Edit", args: `{"path":"a"}`, kinds: nil}
	fails := func(k tool.Kind) step { s := edit; s.result = failed(k); return s }
	sees := func(digest string) step {
		r := success()
		r.Seen = map[string]string{"a": digest}
		return step{name: "Read", args: `{"path":"a"}`, kinds: []effect.Kind{effect.Read}, result: r}
	}
	ran := func(r tool.Result) step {
		return step{name: "Bash", args: `{}`, kinds: []effect.Kind{effect.Anything}, result: r}
	}
	for _, tc := range []struct {
		name  string
		steps []step
		ask   tool.Call
		want  bool
	}{
		{"no failure", nil, calling("Edit", `{"path":"a"}`), false},
		{"failed by its arguments", []step{fails(tool.NoMatch)}, calling("Edit", `{"path":"a"}`), true},
		{"other white space", []step{fails(tool.NoMatch)}, calling("Edit", `{ "path" : "a" }`), true},
		{"other arguments", []step{fails(tool.NoMatch)}, calling("Edit", `{"path":"b"}`), false},
		{"another tool", []step{fails(tool.NoMatch)}, calling("Write", `{"path":"a"}`), false},
		{"failed by the tool", []step{fails(tool.TimedOut)}, calling("Edit", `{"path":"a"}`), false},
		{"denied", []step{fails(tool.Denied)}, calling("Edit", `{"path":"a"}`), false},
		{"the user spoke", []step{fails(tool.NoMatch), {words: "try"}}, calling("Edit", `{"path":"a"}`), false},
		{"a command ran", []step{fails(tool.NoMatch), ran(success())}, calling("Edit", `{"path":"a"}`), false},
		{"a command failed", []step{fails(tool.NoMatch), ran(failed(tool.NonzeroExit))}, calling("Edit", `{"path":"a"}`), true},
		{"a read does not mend a wrong text", []step{fails(tool.NoMatch), sees("d1")}, calling("Edit", `{"path":"a"}`), true},
		{"a read mends not_read", []step{fails(tool.NotRead), sees("d1")}, calling("Edit", `{"path":"a"}`), false},
		{"a read mends stale", []step{sees("d1"), fails(tool.Stale), sees("d2")}, calling("Edit", `{"path":"a"}`), false},
		{"a read that shows nothing new", []step{sees("d1"), fails(tool.Stale), sees("d1")}, calling("Edit", `{"path":"a"}`), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := playSteps(t, tc.steps)
			if _, got := s.Repeats(tc.ask); got != tc.want {
				t.Errorf("Repeats = %v, want %v", got, tc.want)
			}
		})
	}
}

// playSteps folds a session in which each step is one reply with one call.
func playSteps(t *testing.T, steps []step) *State {
	t.Helper()
	s := fold(t, opened(), asked("go"))
	for _, x := range steps {
		if x.words != "" {
			add(t, s, asked(x.words))
			continue
		}
		id, c := s.NextCall(0), calling(x.name, x.args)
		add(t, s, replied(s, "", c))
		p := plan(id, c, x.kinds...)
		add(t, s, event.Planned{Plan: p})
		add(t, s, allowed(p))
		add(t, s, event.Started{Call: id})
		add(t, s, finished(id, x.result))
	}
	return s
}

func TestR059_Troubled(t *testing.T) {
	bash := func(r tool.Result) step { return step{name: "Bash", args: `{}`, result: r} }
	for _, tc := range []struct {
		name  string
		steps []step
		want  int
	}{
		{"never used", nil, 0},
		{"in a row", []step{bash(failed(tool.TimedOut)), bash(failed(tool.Idle)), bash(failed(tool.Internal))}, 3},
		{"a success between", []step{bash(failed(tool.TimedOut)), bash(success()), bash(failed(tool.TimedOut))}, 1},
		{"an exit status between", []step{bash(failed(tool.TimedOut)), bash(failed(tool.NonzeroExit)), bash(failed(tool.TimedOut))}, 1},
		{"a denial between", []step{bash(failed(tool.TimedOut)), bash(failed(tool.Denied)), bash(failed(tool.TimedOut))}, 2},
		{"wrong arguments between", []step{bash(failed(tool.TimedOut)), bash(failed(tool.Invalid)), bash(failed(tool.TimedOut))}, 2},
		{"only exit statuses", []step{bash(failed(tool.NonzeroExit)), bash(failed(tool.NonzeroExit))}, 0},
		{"another tool", []step{{name: "Grep", args: `{}`, result: failed(tool.TimedOut)}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := playSteps(t, tc.steps)
			if got, _ := s.Troubled("Bash"); got != tc.want {
				t.Errorf("%d failures in a row, want %d", got, tc.want)
			}
		})
	}
}

// TestATurnStoppedEarlyGoesOn when the session is next opened, with limits of
// its own; one that was done does not.
func TestATurnStoppedEarlyGoesOn(t *testing.T) {
	for reason, goesOn := range map[string]bool{
		"end": false, "length": false, "refused": false,
		"error": true, "interrupted": true, "limit: steps": true,
	} {
		s := fold(t, opened(), asked("go"))
		add(t, s, replied(s, "half"))
		add(t, s, event.Stopped{Reason: reason})
		if s.Turn().Open {
			t.Errorf("%s: the turn is still open", reason)
		}
		add(t, s, opened())
		if got := s.Turn(); got.Open != goesOn || goesOn && got.Steps != 0 {
			t.Errorf("%s: after the next opening the turn is %+v", reason, got)
		}
	}
}

// TestAnswered: a turn whose answer is there, but not its end, has only to end.
func TestAnswered(t *testing.T) {
	cut := func(s *State) event.Body {
		r := replied(s, "half").(event.Replied)
		r.Stop = model.Cut
		return r
	}
	for _, tt := range []struct {
		name string
		then []func(*State) event.Body
		want string
	}{
		{"nothing was said", nil, ""},
		{"an answer", []func(*State) event.Body{said("done")}, "done"},
		{"an answer that broke off", []func(*State) event.Body{cut}, ""},
		{"an answer, and an opening", []func(*State) event.Body{said("done"), just(opened())}, "done"},
		{"an answer, and a word of the user", []func(*State) event.Body{said("done"), just(asked("and now?"))}, ""},
		{"an answer, and its end", []func(*State) event.Body{said("done"), just(event.Stopped{Reason: "end"})}, ""},
		{"a call", []func(*State) event.Body{func(s *State) event.Body { return replied(s, "look", calling("LS", "{}")) }}, ""},
	} {
		s := fold(t, opened(), asked("go"))
		for _, body := range tt.then {
			add(t, s, body(s))
		}
		if got, ok := s.Answered(); ok != (tt.want != "") || ok && (got.Text() != tt.want || got.Seq != 3) {
			t.Errorf("%s: answered %v by event %d, %q", tt.name, ok, got.Seq, got.Text())
		}
	}
}

func said(text string) func(*State) event.Body {
	return func(s *State) event.Body { return replied(s, text) }
}

func just(b event.Body) func(*State) event.Body { return func(*State) event.Body { return b } }

// TestR116_TheModelIsToldWhatAPersonChanged: a call that a person asked for and
// that changed files is a remark to the model; one that did not is none.
func TestR116_TheModelIsToldWhatAPersonChanged(t *testing.T) {
	s := fold(t, opened(), asked("go"))
	add(t, s, replied(s, "done"))
	add(t, s, event.Stopped{Reason: "end"})
	for i, edits := range [][]edit.Intent{nil, {{Path: "a.txt"}}} {
		p := plan(fmt.Sprintf("c%d", i+1), calling("Undo", `{}`), effect.Write)
		add(t, s, event.Planned{Plan: p, Digest: p.Digest()})
		add(t, s, allowed(p))
		add(t, s, event.Started{Call: p.Call.ID})
		add(t, s, finished(p.Call.ID, tool.Result{Status: tool.Success, Text: "took back a.txt", Edits: edits}))
	}
	talk := s.Talk()
	if len(talk) != 3 {
		t.Fatalf("%d messages, want 3: %+v", len(talk), talk)
	}
	last := talk[2].Message
	if want := "[the user changed files by Undo: took back a.txt]"; last.Role != model.User || last.Text() != want {
		t.Errorf("%s %q, want %q", last.Role, last.Text(), want)
	}
}
