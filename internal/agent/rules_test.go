package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/rulefile"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A ruledPlace has rule files, by path.
type ruledPlace map[string]string

func (p ruledPlace) rules(_ context.Context, paths []string) ([]event.Ruled, error) {
	var files []event.Ruled
	for path, text := range p {
		if text == "broken" {
			return nil, errors.New("broken rules")
		}
		if !rulefile.Nested(path) || slices.ContainsFunc(paths, func(at string) bool { return rulefile.Holds(path, at) }) {
			files = append(files, event.Ruled{Path: path, Digest: edit.Digest([]byte(text)), Text: text})
		}
	}
	slices.SortFunc(files, func(a, b event.Ruled) int { return rulefile.Compare(a.Path, b.Path) })
	return files, nil
}

// inTurn is a model that makes calls, one a step, and then is done.
type inTurn []tool.Call

func (m *inTurn) Stream(context.Context, *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		reply := model.Reply{Stop: model.End, Message: model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "Done."}}}}
		if len(*m) > 0 {
			reply.Stop = model.Calls
			reply.Message.Parts = append(reply.Message.Parts, model.Call{Call: (*m)[0]})
			*m = (*m)[1:]
		}
		yield(reply, nil)
	}
}

func (l *long) ruled() (all []string) {
	for _, e := range l.events {
		if b, ok := e.Body.(event.Ruled); ok {
			what := b.Text
			switch {
			case b.Gone():
				what = "gone"
			case b.Left != "" && b.Text != "":
				what += " as before: " + b.Left
			case b.Left != "":
				what = "left out: " + b.Left
			}
			all = append(all, b.Path+" "+what)
		}
	}
	l.events = nil
	return all
}

func (l *long) hasRuled(when string, want ...string) {
	l.t.Helper()
	if d := cmp.Diff(want, l.ruled()); d != "" {
		l.t.Errorf("%s (-want +got):\n%s", when, d)
	}
}

// TestR235_RulesComeWithTheWork: those of a folder when a call is at work in it, once;
// what changed, came or went where there was work before is told at the next turn.
func TestR235_RulesComeWithTheWork(t *testing.T) {
	place := ruledPlace{"AGENTS.md": "root", "f1.go/AGENTS.md": "one", "other/AGENTS.md": "other"}
	m := &small{calls: 1, size: 10}
	l := newLong(t, m, 0, func(o *agent.Options) { o.Rules = place.rules })
	turn := func(words string) {
		t.Helper()
		if err := l.turn(words); err != nil {
			t.Fatal(err)
		}
	}
	turn("go") // looks at f1.go
	l.hasRuled("at first", "AGENTS.md root", "f1.go/AGENTS.md one")
	if got := m.sent[1].Messages; !strings.Contains(encoded(t, got[len(got)-2:]), "f1.go/AGENTS.md, which from now on reads") {
		t.Errorf("the next request does not have them at its end: %s", encoded(t, got))
	}
	turn("again")
	l.hasRuled("with nothing new")
	place["f1.go/AGENTS.md"], place["AGENTS.md"] = "uno", "root 2"
	turn("and again")
	l.hasRuled("changed", "AGENTS.md root 2", "f1.go/AGENTS.md uno")
	delete(place, "f1.go/AGENTS.md")
	place["f1.go/CLAUDE.md"] = "claude"
	turn("and again")
	l.hasRuled("gone, and come", "f1.go/CLAUDE.md claude", "f1.go/AGENTS.md gone")

	delete(place, "f1.go/CLAUDE.md")
	turn("and again")
	l.hasRuled("gone", "f1.go/CLAUDE.md gone")
	place["f1.go/AGENTS.md"] = "one again" // where only what the model knows of a file leads
	turn("and again")
	l.hasRuled("come again", "f1.go/AGENTS.md one again")

	place["AGENTS.md"] = "broken"
	if err := l.turn("now"); err == nil || err.Error() != "broken rules" {
		t.Errorf("with rules that cannot be read: %v", err)
	}
	if len(l.events) > 0 {
		t.Errorf("the turn began: %v", l.events)
	}
}

// TestR235_WhatThePersonNamesBringsItsRules into L2, before the first words.
func TestR235_WhatThePersonNamesBringsItsRules(t *testing.T) {
	place := ruledPlace{"AGENTS.md": "root", "lib/AGENTS.md": "of lib"}
	m := new(small)
	l := newLong(t, m, 0, func(o *agent.Options) { o.Rules = place.rules })
	if err := l.Turn(t.Context(), agent.Input{Text: "see @lib/a.go", Mentions: []string{"lib/a.go"}}); err != nil {
		t.Fatal(err)
	}
	root, lib := strings.Index(m.sent[0].System, "\n\n```\nroot\n```\n"), strings.Index(m.sent[0].System, "\n## lib/AGENTS.md (for lib and all below it)\n\n```\nof lib\n```\n")
	if root < 0 || lib < root {
		t.Errorf("L2 has not both, the nearest last: %s", m.sent[0].System)
	}
}

// TestR235_NestedRulesDoNotFloodARequest: of 300 folders with rules those enter that
// there is room for, and of each of the others it is said that it is left out.
func TestR235_NestedRulesDoNotFloodARequest(t *testing.T) {
	place := ruledPlace{"AGENTS.md": "root"}
	for i := range 300 {
		place[fmt.Sprintf("f%d.go/AGENTS.md", i+1)] = "short"
	}
	m := &small{calls: 300, size: 1}
	l := newLong(t, m, 0, func(o *agent.Options) { o.Rules = place.rules })
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	in, out := 0, 0
	for _, r := range l.ruled() {
		if strings.Contains(r, "there is no room for more rule files below the root; read it before you work there") {
			out++
		} else {
			in++
		}
	}
	if in != 1+64 || out != 300-64 {
		t.Errorf("%d rule files came in, and %d were said to be left out", in, out)
	}

	const window = 12_000
	long := words("x", 1800)
	place = ruledPlace{"AGENTS.md": long, "f1.go/AGENTS.md": long, "f1.go/a/AGENTS.md": "never", "f2.go/AGENTS.md": long, "f3.go/AGENTS.md": "short"}
	l = newLong(t, &small{calls: 3, size: 1}, window, func(o *agent.Options) { o.Rules = place.rules })
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	l.hasRuled("in a small window", "AGENTS.md "+long, "f1.go/AGENTS.md "+long,
		"f2.go/AGENTS.md left out: there is no room for more rule files below the root; read it before you work there", "f3.go/AGENTS.md short")
	delete(place, "f1.go/AGENTS.md") // then there is room
	if err := l.turn("on"); err != nil {
		t.Fatal(err)
	}
	l.hasRuled("with room again", "f2.go/AGENTS.md "+long, "f1.go/AGENTS.md gone")
}

// TestRulesThatACommandChangedStayAsTheyWere: nothing keeps a command from writing
// or removing them where it may write at all, and they outrank the person's words.
func TestRulesThatACommandChangedStayAsTheyWere(t *testing.T) {
	place := ruledPlace{"known/AGENTS.md": "of mine", "AGENTS.md": "root"}
	writes := func(name string, kinds ...effect.Kind) tool.Tool {
		return tool.New(tool.Spec{
			Name: name, Version: 1, Description: "For the test.", Effects: kinds, Idempotency: tool.None, Risk: tool.Low, Timeout: time.Minute,
		}, func(_ context.Context, in onArgs, _ tool.Input) (*tool.Action, error) {
			part := tool.Part{Name: in.On}
			for _, k := range kinds {
				part.Effects = append(part.Effects, effect.Effect{Kind: k})
			}
			return &tool.Action{Parts: []tool.Part{part}, Summary: name, Do: func(context.Context, tool.Env) (tool.Result, error) {
				text := "obey " + name
				e := edit.Intent{Path: in.On, Result: edit.Digest([]byte(text)), Regions: []edit.Region{{Len: len(text), New: []byte(text)}}}
				if place[in.On] = text; name == "Remove" {
					delete(place, in.On)
					e = edit.Intent{Path: in.On, Remove: true}
				}
				return tool.Result{Status: tool.Success, Text: "ok", Edits: []edit.Intent{e}}, nil
			}}, nil
		})
	}
	call := func(name, on string) tool.Call {
		return tool.Call{Tool: name, Args: json.RawMessage(`{"on":"` + on + `"}`)}
	}
	turns := inTurn{
		call("Put", "a/AGENTS.md"), call("Run", "b/AGENTS.md"), call("Run", "known/AGENTS.md"),
		call("Remove", "known/AGENTS.md"), call("Run", "AGENTS.md"), call("Run", "b/AGENTS.md"),
	}
	l := newLong(t, new(small), 0, func(o *agent.Options) {
		o.Rules, o.Provider = place.rules, &turns
		o.Tools = []tool.Tool{writes("Put", effect.Write), writes("Run", effect.Write, effect.Process), writes("Remove", effect.Write, effect.Process)}
	})
	if err := l.Turn(t.Context(), agent.Input{Text: "see @known", Mentions: []string{"known"}}); err != nil {
		t.Fatal(err)
	}
	const next = "; that counts in sessions that begin after this one"
	l.hasRuled("after all", "AGENTS.md root", "known/AGENTS.md of mine", "a/AGENTS.md obey Put",
		"b/AGENTS.md left out: a command wrote it (c2)"+next,
		"known/AGENTS.md of mine as before: a command wrote it (c3)"+next,
		"known/AGENTS.md of mine as before: a command removed it (c4)"+next,
		"AGENTS.md root as before: a command wrote it (c5)"+next)
	if err := l.turn("on"); err != nil {
		t.Fatal(err)
	}
	l.hasRuled("with nothing new")
	place["b/AGENTS.md"], place["AGENTS.md"], place["known/AGENTS.md"] = "by a person", "root", "of mine"
	if err := l.turn("on"); err != nil {
		t.Fatal(err)
	}
	l.hasRuled("after a person", "AGENTS.md root", "b/AGENTS.md by a person", "known/AGENTS.md of mine")
	delete(place, "a/AGENTS.md") // by a person
	if err := l.turn("on"); err != nil {
		t.Fatal(err)
	}
	l.hasRuled("after a person removed one", "a/AGENTS.md gone")
}

// TestR235_R262_RulesThatAreTooLongAreSaidToBe, where a request has no room for
// anything beside them.
func TestR235_R262_RulesThatAreTooLongAreSaidToBe(t *testing.T) {
	for tokens, named := range map[int]bool{30_000: true, 10: false} {
		place := ruledPlace{"AGENTS.md": words("rule", tokens)}
		l := newLong(t, &small{window: 20_000}, 20_000, func(o *agent.Options) { o.Rules = place.rules })
		text := "go"
		if !named {
			text = words("please", 30_000)
		}
		err := l.turn(text)
		limit, ok := errors.AsType[*agent.Limit](err)
		if !ok || limit.What != "overflow" {
			t.Fatalf("rules of %d tokens: it ended in %v", tokens, err)
		}
		if got := strings.Contains(err.Error(), "shorten the project's rule files"); got != named || got != (limit.Rules > 0) {
			t.Errorf("rules of %d tokens: %v", tokens, err)
		}
	}
}
