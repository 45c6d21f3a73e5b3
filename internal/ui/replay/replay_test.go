package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/provider"
)

// record runs a session with two turns, equal calls with other results, a failure
// and words that come in the middle, and returns its events.
func record(t *testing.T) ([]event.Event, *journal.Journal) {
	t.Helper()
	script := `
-- step --
call: Look {"at": "a"}
-- step --
call: Look {"at": "a"}
call: Look {"at": "gone"}
-- step --
say: seen
-- step --
call: Look {"at": "a"}
-- step --
say: seen again
`
	rehearsed, err := provider.NewRehearsed("test", []byte(strings.TrimPrefix(script, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	type args struct {
		At string `json:"at"`
	}
	look := tool.New(tool.Spec{
		Name: "Look", Version: 1, Description: "Looks.", Effects: []effect.Kind{effect.Read}, Idempotency: tool.ReadOnly, Risk: tool.Low, Timeout: time.Minute,
	}, func(_ context.Context, a args, _ tool.Input) (*tool.Action, error) {
		if a.At == "gone" {
			return nil, &tool.Failure{Kind: tool.NotFound, Message: "it is gone"}
		}
		return &tool.Action{
			Parts: []tool.Part{{Name: a.At, Effects: effect.Set{{Kind: effect.Read, On: a.At}}}},
			Do: func(context.Context, tool.Env) (tool.Result, error) {
				looks++
				return tool.Result{Status: tool.Success, Text: fmt.Sprintf("look %d", looks)}, nil
			},
		}, nil
	})
	j := journal.Memory(nil)
	var events []event.Event
	var a *agent.Agent
	options := agent.Options{
		Journal: j, Provider: rehearsed, Model: model.Info{Name: "script:test"}, Tools: []tool.Tool{look},
		Session: event.Opened{Session: "s", Root: "/w", Model: "script:test"},
		Rules: func(_ context.Context, paths []string) ([]event.Ruled, error) {
			files := []event.Ruled{{Path: "AGENTS.md", Digest: "d", Text: "Be slow."}}
			if slices.Contains(paths, "a") {
				files = append(files, event.Ruled{Path: "a/AGENTS.md", Digest: fmt.Sprint(looks), Text: fmt.Sprintf("Seen %d times.", looks)})
			}
			return files, nil
		},
		Observe: func(s agent.Signal) {
			recorded, ok := s.(agent.Recorded)
			if !ok {
				return
			}
			events = append(events, recorded.Event)
			if b, ok := recorded.Event.Body.(event.Finished); ok && b.Call == "c1" {
				a.Steer(agent.Input{Text: "look closely"})
			}
		},
	}
	a, err = agent.Open(t.Context(), new(session.State), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"look", "and again"} {
		if err := a.Turn(t.Context(), agent.Input{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	return events, j
}

func play(t *testing.T, change Change, p model.Provider) []Pair {
	t.Helper()
	events, j := record(t)
	r, err := Read(events, j.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	is, err := r.Play(t.Context(), agent.Options{Journal: journal.Memory(nil), Model: model.Info{Name: r.Model()}, Provider: p, Policy: policy.Policy{Mode: policy.ModeFull}}, change)
	if err != nil {
		t.Fatal(err)
	}
	return Compare(r.Steps(), is.Steps())
}

// TestR302_NothingChangedIsTheSame: requests, and what came next, steered words and
// failures included.
func TestR302_NothingChangedIsTheSame(t *testing.T) {
	pairs := play(t, Change{}, nil)
	if len(pairs) != 5 {
		t.Fatalf("%d steps, want 5", len(pairs))
	}
	for _, p := range pairs {
		if p.Was == nil || p.Is == nil || p.Was.Request == nil || len(p.Request) > 0 || !p.SameNext {
			t.Errorf("turn %d, step %d: %+v", p.Turn, p.Step, p)
			continue
		}
		a, _ := json.Marshal(p.Was.Request)
		b, _ := json.Marshal(p.Is.Request)
		if d := cmp.Diff(string(a), string(b)); d != "" {
			t.Errorf("turn %d, step %d (-was +is):\n%s", p.Turn, p.Step, d)
		}
	}
}

// TestR302_OneThingChanged differs there and nowhere else.
func TestR302_OneThingChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		change Change
		in     string
	}{
		"the prompt":    {Change{System: "Short."}, "system"},
		"a rule file":   {Change{Rules: map[string]string{"AGENTS.md": "Be fast."}}, "system"},
		"no rule file":  {Change{Rules: map[string]string{"AGENTS.md": ""}}, "system"},
		"a description": {Change{Tools: map[string]string{"Look": "Sees."}}, "tools"},
	} {
		for _, p := range play(t, tc.change, nil) {
			if d := cmp.Diff([]string{tc.in}, p.Request); d != "" || !p.SameNext {
				t.Errorf("%s, turn %d, step %d: the same next %v; differs in (-want +got):\n%s", name, p.Turn, p.Step, p.SameNext, d)
			}
		}
	}
}

// TestR302_ARuleFileBelowTheRoot is played where it came and where it changed, and one
// that the session did not have comes with the work that it is for.
func TestR302_ARuleFileBelowTheRoot(t *testing.T) {
	reminders := func(change Change) (all []string) {
		t.Helper()
		for i, p := range play(t, change, nil) {
			for _, m := range p.Is.Request.Messages {
				for _, part := range m.Parts {
					if text, ok := part.(model.Text); ok && strings.HasPrefix(text.Text, "[project rules") {
						all = append(all, fmt.Sprint(i+1, " ", text.Text))
					}
				}
			}
		}
		return all
	}
	fenced := func(text string) string { return "```\n" + text + "\n```" }
	const of = "[project rules for a and all below it: a/AGENTS.md, which from now on reads]\n"
	const changed = "[project rules for a and all below it changed: a/AGENTS.md, which from now on reads]\n"
	for name, tc := range map[string]struct {
		change Change
		want   []string
	}{
		"as recorded": {Change{}, []string{
			"2 " + of + fenced("Seen 1 times."),
			"3 " + of + fenced("Seen 1 times."), "3 " + changed + fenced("Seen 2 times."),
			"4 " + of + fenced("Seen 1 times."), "4 " + changed + fenced("Seen 2 times."),
			"5 " + of + fenced("Seen 1 times."), "5 " + changed + fenced("Seen 2 times."), "5 " + changed + fenced("Seen 3 times."),
		}},
		"changed": {Change{Rules: map[string]string{"a/AGENTS.md": "Be fast."}}, []string{
			"2 " + of + fenced("Be fast."), "3 " + of + fenced("Be fast."), "4 " + of + fenced("Be fast."), "5 " + of + fenced("Be fast."),
		}},
		"gone": {Change{Rules: map[string]string{"a/AGENTS.md": ""}}, nil},
	} {
		if d := cmp.Diff(tc.want, reminders(tc.change)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	fresh := reminders(Change{Rules: map[string]string{"a/CLAUDE.md": "Be new."}})
	if len(fresh) != 8+4 || fresh[0] != "2 "+strings.ReplaceAll(of, "AGENTS", "CLAUDE")+fenced("Be new.") {
		t.Errorf("a new one: %q", fresh)
	}
	if never := reminders(Change{Rules: map[string]string{"b/AGENTS.md": "Be new."}}); len(never) != 8 {
		t.Errorf("one for where nothing is done: %q", never)
	}
}

// TestR302_ARuleFileThatCannotChangeIsAnError, and one that is new is named.
func TestR302_ARuleFileThatCannotChangeIsAnError(t *testing.T) {
	events, j := record(t)
	r, err := Read(events, j.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"b/AGENTS.md": `there is no rule file "b/AGENTS.md" in the session; it has AGENTS.md, a/AGENTS.md`,
		"README.md":   `"README.md" is not the path of a rule file, which is named CLAUDE.md, CODE_LAW.md, AGENTS.md; the session has AGENTS.md, a/AGENTS.md`,
	} {
		_, err := r.Play(t.Context(), agent.Options{Journal: journal.Memory(nil)}, Change{Rules: map[string]string{path: ""}})
		if missing := new(NoRule); !errors.As(err, &missing) || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string][]string{"a/AGENTS.md": nil, "b/AGENTS.md": {"b/AGENTS.md"}} {
		if d := cmp.Diff(want, r.New(Change{Rules: map[string]string{path: "x"}})); d != "" {
			t.Errorf("%s: new rule files (-want +got):\n%s", path, d)
		}
	}
}

// TestR303_WhereItLeftThePath: a model that asks for something else gets no result,
// and the lines that only one of the requests has say what it saw.
func TestR303_WhereItLeftThePath(t *testing.T) {
	script := "-- step --\ncall: Look {\"at\": \"b\"}\n-- step --\nexpect: error /not made in the recorded session/\nsay: none\n-- step --\nsay: none\n"
	other, err := provider.NewRehearsed("other", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	pairs := play(t, Change{}, other)
	if pairs[0].SameNext || pairs[1].SameNext {
		t.Error("another call counts as the same")
	}
	if len(pairs) != 5 || pairs[2].Is != nil {
		t.Errorf("%d pairs, the third %+v: want what was recorded without a counterpart", len(pairs), pairs[2])
	}
	missing, added := Context(pairs[1].Was.Request, pairs[1].Is.Request)
	if d := cmp.Diff([]string{`Look {"at":"a"}`, "look 1"}, missing); d != "" {
		t.Errorf("missing (-want +got):\n%s", d)
	}
	if len(added) < 2 || added[0] != `Look {"at":"b"}` {
		t.Errorf("added: %q", added)
	}
}

// TestEqualCallsArePlayedInOrder, and the last one again where there were no more.
func TestEqualCallsArePlayedInOrder(t *testing.T) {
	events, j := record(t)
	r, err := Read(events, j.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	tape := newTape(r)
	var got []string
	for i := range 5 {
		id := fmt.Sprint(i)
		c := tool.Call{ID: id, Tool: "Look", Args: json.RawMessage(`{ "at":"a"}`)}
		tape.asked(event.Replied{Message: model.Message{Parts: []model.Part{model.Call{Call: c}}}})
		got = append(got, tape.of(id).result.Text, tape.of(id).result.Text) // prepared twice, it is the same
	}
	if d := cmp.Diff([]string{"look 1", "look 1", "look 2", "look 2", "look 3", "look 3", "look 3", "look 3", "look 3", "look 3"}, got); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
}

// TestNothingToPlay is an error.
func TestNothingToPlay(t *testing.T) {
	if _, err := Read([]event.Event{{Seq: 1, Body: event.Opened{Session: "s"}}}, nil); err == nil {
		t.Error("a session without words is played")
	}
}
