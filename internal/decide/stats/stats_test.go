package stats

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/undo"
)

// A log numbers events as a journal does.
type log struct {
	fold Fold
	seq  int64
}

func (l *log) add(bodies ...event.Body) {
	for _, b := range bodies {
		l.seq++
		l.fold.Add(event.Event{Seq: l.seq, Time: time.Unix(l.seq, 0).UTC(), Body: b})
	}
}

// ask adds a reply that costs 10 tokens and 7 micro-cents and makes calls.
func (l *log) ask(calls ...tool.Call) {
	m := model.Message{Role: model.Assistant, Parts: []model.Part{model.Text{Text: "Next."}}}
	for _, c := range calls {
		m.Parts = append(m.Parts, model.Call{Call: c})
	}
	l.add(event.Replied{Message: m, Usage: model.Usage{Input: 8, Output: 2}, Cost: 7, Stop: model.Calls})
}

func call(id, name, args string) tool.Call {
	return tool.Call{ID: id, Tool: name, Args: json.RawMessage(args)}
}

func ok(id string) event.Body {
	return event.Finished{Call: id, Result: tool.Result{Status: tool.Success, Text: "ok", Metrics: &tool.Metrics{Milliseconds: 3}}}
}

func failed(id string, kind tool.Kind, message string) event.Body {
	return event.Finished{Call: id, Result: tool.Failed(&tool.Failure{Kind: kind, Message: message})}
}

func wrote(id, path, base string) event.Body {
	return event.Finished{Call: id, Result: tool.Result{Status: tool.Success, Edits: []edit.Intent{{Path: path, Base: base, Result: "new" + id}}}}
}

func opened() event.Body {
	return event.Opened{Session: "s", Tools: []tool.Spec{{Name: "Read"}, {Name: "Edit"}, {Name: "Bash"}}}
}

// TestR023_R151_FiguresOfASession counts one with a bit of everything: calls per
// task, calls that another tool was for, the share of the shell, changes that
// were taken back, what each accepted one cost.
func TestR023_R151_FiguresOfASession(t *testing.T) {
	var l log
	l.add(opened(), event.Asked{Text: "go"})
	l.ask(call("c1", "Read", `{"path":"src"}`), call("c2", "Look", `{}`), call("c3", "Bash", `{"command":"cat a"}`))
	l.add(failed("c1", tool.IsDirectory, "read src: a directory"), failed("c2", tool.NotFound, "there is no tool"),
		event.Finished{Call: "c3", Result: tool.Failed(&tool.Failure{Kind: tool.Invalid, Message: "not run", Detail: tool.InsteadDetail([]tool.Call{call("", "Read", `{"path":"a"}`)})})})
	l.ask(call("c4", "Edit", `{"path":"a"}`), call("c5", "Edit", `{"path":"b"}`), call("c6", "Bash", `{"command":"go test"}`))
	l.add(event.Decided{Call: "c6", Verdict: "allow", By: event.ByPerson}, wrote("c4", "a", "x"), wrote("c5", "b", "y"), ok("c6"))
	l.ask()
	l.add(event.Stopped{Reason: "end"}, event.Asked{Text: "more"})
	for _, id := range []string{"c7", "c8", "c9"} {
		l.ask(call(id, "Bash", `{"command":"`+id+`"}`))
		l.add(failed(id, tool.CircuitOpen, "the breaker is open"))
	}
	l.ask(call("c10", "Bash", `{"command":"rm"}`))
	l.add(failed("c10", tool.Denied, "denied"), event.Stopped{Reason: "interrupted"})
	// A person takes one change back; that call is not the model's.
	report, _ := json.Marshal(undo.Report{Taken: []undo.Ref{{Call: "c5", Path: "b"}}})
	l.add(event.Planned{Plan: tool.Plan{Call: call("c11", undo.Tool, `{}`)}},
		event.Finished{Call: "c11", Result: tool.Result{Status: tool.Success, Data: report, Edits: []edit.Intent{{Path: "b", Base: "newc5", Result: "y"}}}})

	want := Stats{
		Sessions: 1, Tasks: 2, Ends: map[string]int{"end": 1, "interrupted": 1}, Steps: 7, Calls: 10,
		Tools: map[string]Tool{"Read": {1, 1, 0}, "Look": {1, 1, 0}, "Edit": {2, 0, 0}, "Bash": {6, 5, 3}},
		Kinds: map[tool.Kind]int{tool.IsDirectory: 1, tool.NotFound: 1, tool.Invalid: 1, tool.CircuitOpen: 3, tool.Denied: 1},
		Wrong: 3, Trips: 1, Asked: 1, Denied: 1, Usage: model.Usage{Input: 56, Output: 14}, Cost: 49, Changes: 2, Back: 1,
	}
	got := l.fold.Stats()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("figures (-want +got):\n%s", d)
	}
	if got.Shell() != 0.6 || got.WrongRate() != 0.3 || got.Done() != 0.5 || got.Accepted() != 1 {
		t.Errorf("shares: shell %v, wrong %v, done %v, accepted %d", got.Shell(), got.WrongRate(), got.Done(), got.Accepted())
	}
	b, err := json.Marshal(got.Plus(got))
	if err != nil {
		t.Fatal(err)
	}
	var sums map[string]any
	if err := json.Unmarshal(b, &sums); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"sessions": 2, "calls": 20, "calls_per_task": 5, "wrong_tool": 6, "wrong_tool_share": 0.3, "shell_share": 0.6,
		"changes_accepted": 2, "tokens_per_accepted_change": 70, "cost_micro_cents_per_accepted_change": 49,
	} {
		if sums[name] != want {
			t.Errorf("of two equal sessions %s is %v, want %v", name, sums[name], want)
		}
	}
}

// TestTasksThatGoOn: a resumed task is one task, and how it ended first is not
// how it ended.
func TestTasksThatGoOn(t *testing.T) {
	for name, tc := range map[string]struct {
		events []event.Body
		tasks  int
		ends   map[string]int
	}{
		"steered":           {[]event.Body{event.Asked{}, event.Replied{}, event.Asked{}, event.Replied{}, event.Stopped{Reason: "end"}}, 1, map[string]int{"end": 1}},
		"cut":               {[]event.Body{event.Asked{}, event.Replied{}}, 1, map[string]int{"cut": 1}},
		"cut, then resumed": {[]event.Body{event.Asked{}, event.Replied{}, opened(), event.Replied{}, event.Stopped{Reason: "end"}}, 1, map[string]int{"end": 1}},
		"stopped, resumed":  {[]event.Body{event.Asked{}, event.Stopped{Reason: "limit: steps"}, opened(), event.Replied{}, event.Stopped{Reason: "end"}}, 1, map[string]int{"end": 1}},
		"two":               {[]event.Body{event.Asked{}, event.Stopped{Reason: "error"}, event.Asked{}, event.Replied{}, event.Stopped{Reason: "end"}}, 2, map[string]int{"end": 1, "error": 1}},
		"none":              {nil, 0, map[string]int{}},
	} {
		var l log
		l.add(opened())
		l.add(tc.events...)
		got := l.fold.Stats()
		if got.Tasks != tc.tasks || !cmp.Equal(got.Ends, tc.ends) {
			t.Errorf("%s: %d tasks, ended %v; want %d, %v", name, got.Tasks, got.Ends, tc.tasks, tc.ends)
		}
	}
}

// TestNothingIsDividedByZero of a session in which nothing was done.
func TestNothingIsDividedByZero(t *testing.T) {
	if _, err := json.Marshal(Stats{}); err != nil {
		t.Error(err)
	}
}

// TestR318_R319_FailuresStay with their arguments, the model's words after them
// and what it did next, also where the task ends well.
func TestR318_R319_FailuresStay(t *testing.T) {
	var l log
	l.add(opened(), event.Asked{Text: "go"})
	edit := call("c1", "Edit", `{"path":"a"}`)
	l.ask(edit, call("c2", "Read", `{"path":"b"}`)) // c2 is no answer to how c1 ends
	l.add(failed("c1", tool.Stale, "edit a.go: it changed"), ok("c2"))
	l.ask(call("c3", "Edit", `{"path":"a"}`))
	l.add(failed("c3", tool.Repeated, "the same call failed"))
	l.ask(call("c4", "Read", `{"path":"a"}`))
	l.add(ok("c4"))
	l.ask(call("c5", "Edit", `{"path":"a"}`))
	l.add(ok("c5"), event.Stopped{Reason: "end"})
	got := l.fold.Failures()
	want := []Failure{
		{
			Seq: 4, Call: edit, Kind: tool.Stale, Message: "edit a.go: it changed", Words: "Next.", Mended: true,
			Then: []Next{{Tool: "Edit", Same: true, Kind: tool.Repeated}, {Tool: "Read"}, {Tool: "Edit", Same: true}},
		},
		{
			Seq: 7, Call: call("c3", "Edit", `{"path":"a"}`), Kind: tool.Repeated, Message: "the same call failed", Words: "Next.", Mended: true,
			Then: []Next{{Tool: "Read"}, {Tool: "Edit", Same: true}},
		},
	}
	for i := range got {
		got[i].Time = time.Time{}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("failures (-want +got):\n%s", d)
	}
}

// TestR327_ALessonIsWhatMends: the way that helped in most cases of a group, and
// none where there are too few cases or it helped too seldom.
func TestR327_ALessonIsWhatMends(t *testing.T) {
	read, again := Next{Tool: "Read"}, Next{Tool: "Edit"}
	mended := Failure{Call: tool.Call{Tool: "Edit"}, Kind: tool.Stale, Message: "edit a.go: it changed at line 3", Then: []Next{read, again}, Mended: true}
	other := mended
	other.Message, other.Session = `edit "b c.go": it changed at line 77`, "2"
	lost := mended
	lost.Then, lost.Mended = nil, false
	for name, tc := range map[string]struct {
		all    []Failure
		groups int
		lesson string
	}{
		"three of three":  {[]Failure{mended, other, mended}, 1, "Read, Edit"},
		"three of four":   {[]Failure{mended, lost, other, mended}, 1, "Read, Edit"},
		"two of two":      {[]Failure{mended, other}, 1, ""},
		"three of six":    {[]Failure{mended, mended, mended, lost, lost, lost}, 1, ""},
		"of another kind": {[]Failure{mended, mended, {Call: tool.Call{Tool: "Edit"}, Kind: tool.NoMatch, Message: "x"}}, 2, ""},
		"none":            {nil, 0, ""},
	} {
		groups := Grouped(tc.all)
		if len(groups) != tc.groups {
			t.Errorf("%s: %d groups, want %d: %+v", name, len(groups), tc.groups, groups)
			continue
		}
		lesson := ""
		if len(groups) > 0 {
			if w, found := groups[0].Lesson(); found {
				lesson = w.Calls
			}
		}
		if lesson != tc.lesson {
			t.Errorf("%s: the lesson is %q, want %q", name, lesson, tc.lesson)
		}
	}
}
