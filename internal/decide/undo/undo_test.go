package undo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A log is a session being written, and the files it is about.
type log struct {
	t *testing.T
	History
	files  map[string]string
	images map[string][]byte
	calls  int
}

func newLog(t *testing.T, files map[string]string) *log {
	l := &log{t: t, files: files, images: make(map[string][]byte)}
	for _, text := range files {
		l.keep(text)
	}
	l.Add(event.Event{Body: event.Opened{Session: "s"}})
	return l
}

func (l *log) keep(text string) string {
	d := edit.Digest([]byte(text))
	l.images[d] = []byte(text)
	return d
}

func (l *log) image(digest string) ([]byte, error) {
	b, ok := l.images[digest]
	if !ok {
		return nil, errors.New("no such image")
	}
	return b, nil
}

func (l *log) ask()  { l.Add(event.Event{Body: event.Asked{Text: "do it"}}) }
func (l *log) stop() { l.Add(event.Event{Body: event.Stopped{Reason: "end"}}) }

// call makes a call of the model that changes files to what they are given as;
// "" removes one.
func (l *log) call(to map[string]string) string {
	l.calls++
	id := fmt.Sprintf("c%d", l.calls)
	l.Add(event.Event{Body: event.Replied{Message: model.Message{Parts: []model.Part{model.Call{Call: tool.Call{ID: id, Tool: "Edit"}}}}}})
	l.Add(event.Event{Body: event.Planned{Plan: tool.Plan{Call: tool.Call{ID: id, Tool: "Edit"}}}})
	l.finish(id, to, nil)
	return id
}

func (l *log) finish(id string, to map[string]string, data json.RawMessage) {
	var edits []edit.Intent
	for path, text := range to {
		now, exists := l.files[path]
		l.keep(now)
		i, _ := between(path, File{Exists: exists, Bytes: []byte(now), Mode: "0644"}, File{Exists: text != "", Bytes: []byte(text), Mode: "0644"})
		if i.Base == i.Result {
			continue
		}
		for n := range i.Regions { // as an event has them
			i.Regions[n].Old, i.Regions[n].New = nil, nil
		}
		if l.keep(text); text == "" {
			delete(l.files, path)
		} else {
			l.files[path] = text
		}
		edits = append(edits, i)
	}
	l.Add(event.Event{Body: event.Finished{Call: id, Result: tool.Result{Edits: edits, Data: data}}})
}

// undo takes back what is in s, as the tool does.
func (l *log) undo(s Scope) (Report, error) {
	found, err := l.Select(s)
	if err != nil {
		return Report{}, err
	}
	r := Report{Redo: s.Redo}
	to := make(map[string]string)
	for _, path := range Paths(found) {
		of := of(found, path)
		now, exists := l.files[path]
		i, changed, left := Back(of, File{Exists: exists, Bytes: []byte(now), Mode: "0644"}, l.image)
		if left != nil {
			r.Left = append(r.Left, *left)
			continue
		}
		for _, c := range of {
			r.Taken = append(r.Taken, Ref{c.Call, path})
		}
		if !changed {
			continue
		}
		b, err := i.Apply([]byte(now))
		if err != nil {
			l.t.Fatalf("%+v does not apply: %v", i, err)
		}
		to[path] = string(b)
	}
	l.calls++
	id := fmt.Sprintf("c%d", l.calls)
	l.Add(event.Event{Body: event.Planned{Plan: tool.Plan{Call: tool.Call{ID: id, Tool: Tool}}}})
	data, err := json.Marshal(r)
	if err != nil {
		l.t.Fatal(err)
	}
	l.finish(id, to, data)
	return r, nil
}

func (l *log) want(files map[string]string) {
	l.t.Helper()
	if diff := cmp.Diff(files, l.files); diff != "" {
		l.t.Error(diff)
	}
}

// TestR116_UndoTakesTurnsBackAndRedoBringsThemAgain: turn by turn, the newest
// first, and all of it again.
func TestR116_UndoTakesTurnsBackAndRedoBringsThemAgain(t *testing.T) {
	zero := map[string]string{"a": "one\ntwo\n", "b": "b\n"}
	l := newLog(t, cloned(zero))
	l.ask()
	l.call(map[string]string{"a": "one\n2\n"})
	l.call(map[string]string{"a": "one\n2\nthree\n", "new": "n\n"})
	l.stop()
	one := cloned(l.files)
	l.ask()
	l.ask() // while it runs: the same turn
	l.call(map[string]string{"b": "", "a": "1\n2\nthree\n"})
	l.stop()
	two := cloned(l.files)
	l.ask() // changes nothing
	l.stop()

	for _, step := range []struct {
		scope Scope
		want  map[string]string
	}{
		{Scope{}, one}, {Scope{}, zero}, {Scope{Redo: true}, one}, {Scope{Redo: true}, two},
		{Scope{Turn: 2}, one}, {Scope{Redo: true}, two}, {Scope{}, one}, {Scope{}, zero},
	} {
		if _, err := l.undo(step.scope); err != nil {
			t.Fatalf("%+v: %v", step.scope, err)
		}
		l.want(step.want)
	}
	for scope, why := range map[Scope]string{
		{}:            "all that the session changed was taken back by call",
		{Turn: 1}:     "all that turn 1 changed was taken back by call",
		{Turn: 3}:     "turn 3 changed nothing",
		{Turn: 4}:     "there is no turn 4; the newest is 3",
		{Call: "c1"}:  "all that call c1 changed was taken back by call",
		{Call: "c99"}: "there is no call c99 that ended",
		{File: "zzz"}: "the session changed nothing at zzz",
		{File: "b"}:   "all that the session changed was taken back by call",
	} {
		if _, err := l.undo(scope); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), why) {
			t.Errorf("%+v: %v, want %q", scope, err, why)
		}
	}
	l.undo(Scope{Redo: true})
	l.undo(Scope{Redo: true})
	if _, err := l.undo(Scope{Redo: true}); !errors.Is(err, ErrNothing) {
		t.Errorf("a redo too many: %v", err)
	}
	l.want(two)
}

// A call and a file can be taken back out of the middle, and only they.
func TestR116_UndoOfACallAndOfAFile(t *testing.T) {
	base := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	l := newLog(t, map[string]string{"a": base, "b": "b\n"})
	l.ask()
	first := l.call(map[string]string{"a": strings.Replace(base, "2", "two", 1)})
	l.call(map[string]string{"a": strings.Replace(l.files["a"], "8", "eight", 1), "b": "B\n"})
	if _, err := l.undo(Scope{Call: first}); err != nil {
		t.Fatal(err)
	}
	l.want(map[string]string{"a": strings.Replace(base, "8", "eight", 1), "b": "B\n"})
	if _, err := l.undo(Scope{File: "a"}); err != nil {
		t.Fatal(err)
	}
	l.want(map[string]string{"a": base, "b": "B\n"})
	l.undo(Scope{Redo: true})
	l.undo(Scope{Redo: true})
	l.want(map[string]string{"a": strings.NewReplacer("2", "two", "8", "eight").Replace(base), "b": "B\n"})
}

// TestR117_WhatTheUserChangedStays: before, between and after, in other regions;
// in the same ones the file is left as it is, and the lines are named.
func TestR117_WhatTheUserChangedStays(t *testing.T) {
	base := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	l := newLog(t, map[string]string{"a": base, "mine": "m\n"})
	l.files["mine"] = "dirty\n"
	l.keep("dirty\n")
	l.ask()
	l.call(map[string]string{"a": strings.Replace(base, "2", "two", 1), "made": "x\n"})
	l.files["a"] = strings.Replace(l.files["a"], "5", "user's", 1)
	l.call(map[string]string{"a": strings.Replace(l.files["a"], "8", "eight", 1)})
	l.files["a"] = "0\n" + l.files["a"]
	l.files["made"] += "and the user's\n"
	r, err := l.undo(Scope{})
	if err != nil {
		t.Fatal(err)
	}
	l.want(map[string]string{"a": "0\n" + strings.Replace(base, "5", "user's", 1), "mine": "dirty\n", "made": "x\nand the user's\n"})
	want := []Left{{Path: "made", Call: "c1", Why: "c1 created it, and it was changed since"}}
	if diff := cmp.Diff(want, r.Left); diff != "" {
		t.Error(diff)
	}

	l = newLog(t, map[string]string{"a": base})
	l.ask()
	l.call(map[string]string{"a": strings.NewReplacer("2", "two\n2.5", "8", "eight").Replace(base)})
	l.files["a"] = strings.Replace(l.files["a"], "2.5", "user's", 1)
	left := cloned(l.files)
	if r, err = l.undo(Scope{}); err != nil {
		t.Fatal(err)
	}
	l.want(left)
	want = []Left{{Path: "a", Call: "c1", Why: "what c1 wrote there was changed since", Lines: []Span{{2, 3}}}}
	if diff := cmp.Diff(want, r.Left); diff != "" {
		t.Error(diff)
	}
	l.files["a"] = strings.Replace(l.files["a"], "user's", "2.5", 1)
	if _, err := l.undo(Scope{}); err != nil { // it is still in force
		t.Fatal(err)
	}
	l.want(map[string]string{"a": base})
}

func TestBackSaysWhyNot(t *testing.T) {
	old, made := []byte("old\n"), []byte("made\n")
	images := func(digest string) ([]byte, error) {
		if digest == edit.Digest(old) {
			return old, nil
		}
		return nil, errors.New("lost")
	}
	change := edit.Intent{Path: "f", Base: edit.Digest(old), Result: edit.Digest(made), Regions: []edit.Region{{End: 4, Len: 5}}}
	removal := edit.Intent{Path: "f", Base: edit.Digest(old), Remove: true, Was: "0600"}
	creation := edit.Intent{Path: "f", Result: edit.Digest(made), Regions: []edit.Region{{Len: 5}}}
	mode := edit.Intent{Path: "f", Base: edit.Digest(old), Result: edit.Digest(old), Mode: "0755", Was: "0600"}
	relinked := edit.Intent{Path: "f", Base: change.Base, Result: change.Result, Regions: change.Regions, Mode: edit.Link, Was: edit.Link}
	unlinked := edit.Intent{Path: "f", Base: removal.Base, Remove: true, Was: edit.Link}
	link := func(b []byte) File { return File{Exists: true, Bytes: b, Mode: edit.Link} }
	lost := edit.Intent{Path: "f", Base: edit.Digest([]byte("?")), Remove: true}
	is := func(b []byte) File { return File{Exists: true, Bytes: b, Mode: "0644"} }
	tests := map[string]struct {
		edit edit.Intent
		now  File
		want edit.Intent
		left string
	}{
		"changed":                   {change, is(made), edit.Intent{Path: "f", Base: change.Result, Result: change.Base, Regions: edit.Between(made, old)}, ""},
		"changed back":              {change, is(old), edit.Intent{}, ""},
		"changed and gone":          {change, File{}, edit.Intent{}, "it is gone since c1 changed it"},
		"changed and lost":          {change, is([]byte("x\n")), edit.Intent{}, "what c1 made of it is not kept: lost"},
		"removed":                   {removal, File{}, edit.Intent{Path: "f", Result: removal.Base, Mode: "0600", Regions: edit.Between(nil, old)}, ""},
		"removed and back":          {removal, is(old), edit.Intent{}, ""},
		"removed and made anew":     {removal, is(made), edit.Intent{}, "c1 removed it, and someone made it anew"},
		"removed and lost":          {lost, File{}, edit.Intent{}, "what it was before c1 is not kept: lost"},
		"created":                   {creation, is(made), edit.Intent{Path: "f", Base: creation.Result, Remove: true, Was: "0644"}, ""},
		"created and gone":          {creation, File{}, edit.Intent{}, ""},
		"created and changed":       {creation, is(old), edit.Intent{}, "c1 created it, and it was changed since"},
		"permissions":               {mode, File{Exists: true, Bytes: old, Mode: "0755"}, edit.Intent{Path: "f", Base: mode.Base, Result: mode.Base, Mode: "0600", Was: "0755"}, ""},
		"permissions set by a user": {mode, is(old), edit.Intent{}, ""},
		"link led elsewhere": {relinked, link(made), edit.Intent{
			Path: "f", Base: change.Result, Result: change.Base, Regions: edit.Between(made, old), Mode: edit.Link, Was: edit.Link,
		}, ""},
		"link led back":               {relinked, link(old), edit.Intent{}, ""},
		"link that is a file now":     {relinked, is(made), edit.Intent{}, "it is no link any more"},
		"file that is a link now":     {change, link(made), edit.Intent{}, "it is a link now"},
		"link removed":                {unlinked, File{}, edit.Intent{Path: "f", Result: removal.Base, Mode: edit.Link, Regions: edit.Between(nil, old)}, ""},
		"link removed and back":       {unlinked, link(old), edit.Intent{}, ""},
		"link removed, and a file is": {unlinked, is(old), edit.Intent{}, "c1 removed it, and someone made it anew"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, changed, left := Back([]Change{{Call: "c1", Edit: tt.edit}}, tt.now, images)
			if !changed {
				got = edit.Intent{}
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if (left == nil) != (tt.left == "") || left != nil && left.Why != tt.left {
				t.Errorf("left: %+v, want %q", left, tt.left)
			}
		})
	}
}

// What is taken back is never more or less than the agent's: on files of
// numbered lines that only one of them changes, the user's lines are as the user
// left them and the agent's as they were.
func TestBackAgainstLines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		const n = 16
		base, mine := make([]string, n), make([]string, n)
		for i := range base {
			base[i] = fmt.Sprintf("%d\n", i)
		}
		copy(mine, base)
		l := newLog(t, map[string]string{"f": strings.Join(base, "")})
		now := append([]string(nil), base...)
		l.ask()
		for step := range 1 + r.IntN(6) { // the agent has lines 0, 4, 8 and 12, and touches none of the user's
			line := 4 * r.IntN(4)
			text := fmt.Sprintf("step %d\n", step)
			if r.IntN(2) == 0 {
				now[line] = text
				l.call(map[string]string{"f": strings.Join(now, "")})
				continue
			}
			line += 2
			now[line], mine[line] = text, text
			l.files["f"] = strings.Join(now, "")
		}
		was := l.files["f"]
		report, err := l.undo(Scope{})
		if errors.Is(err, ErrNothing) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(mine, "")
		if l.files["f"] != want || report.Left != nil {
			t.Fatalf("got %q, want %q of %q; left %+v", l.files["f"], want, was, report.Left)
		}
	}
}

// TestR126_WhoseEachRegionIs tells the commit, the user's earlier changes, those
// of calls and the user's later ones apart.
func TestR126_WhoseEachRegionIs(t *testing.T) {
	committed := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	dirty := strings.Replace(committed, "1\n", "dirty\n", 1)
	l := newLog(t, map[string]string{"f": dirty})
	l.ask()
	one := l.call(map[string]string{"f": strings.Replace(dirty, "3\n", "three\n", 1)})
	two := l.call(map[string]string{"f": strings.Replace(l.files["f"], "5\n", "five\n", 1)})
	l.files["f"] = strings.Replace(l.files["f"], "9\n", "nine\n", 1)

	owned := func(committed []byte) string {
		pieces, err := l.Provenance("f", committed, []byte(l.files["f"]), l.image)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, p := range pieces {
			fmt.Fprintf(&b, "%s%s %q; ", p.By, p.Call, l.files["f"][p.Start:p.End])
		}
		return b.String()
	}
	want := `user "dirty\n"; baseline "2\n"; agent` + one + ` "three\n"; baseline "4\n"; agent` + two +
		` "five\n"; baseline "6\n7\n8\n"; user "nine\n"; `
	if got := owned([]byte(committed)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = strings.Replace(want, `user "dirty\n"; baseline "2\n"`, `baseline "dirty\n2\n"`, 1)
	if got := owned(nil); got != want {
		t.Errorf("without a commit\ngot  %s\nwant %s", got, want)
	}
	if _, err := l.undo(Scope{Call: one}); err != nil {
		t.Fatal(err)
	}
	want = `user "dirty\n"; baseline "2\n3\n4\n"; agent` + two + ` "five\n"; baseline "6\n7\n8\n"; user "nine\n"; `
	if got := owned([]byte(committed)); got != want {
		t.Errorf("after an undo\ngot  %s\nwant %s", got, want)
	}
	if _, err := l.undo(Scope{Redo: true}); err != nil {
		t.Fatal(err)
	}
	want = `user "dirty\n"; baseline "2\n"; agent` + one + ` "three\n"; baseline "4\n"; agent` + two + ` "five\n"; baseline "6\n7\n8\n"; user "nine\n"; `
	if got := owned([]byte(committed)); got != want {
		t.Errorf("after a redo\ngot  %s\nwant %s", got, want)
	}
	delete(l.images, edit.Digest([]byte(dirty)))
	if _, err := l.Provenance("f", nil, []byte(l.files["f"]), l.image); err == nil {
		t.Error("provenance without an image")
	}
	if _, err := l.Provenance("f", nil, bytes.Repeat([]byte("x"), maxOwned+1), l.image); err == nil {
		t.Error("provenance of a file too large")
	}
}

// A turn that a crash cut off is one for itself: what is asked afterwards begins
// another.
func TestATurnEndsWithTheProcess(t *testing.T) {
	l := newLog(t, map[string]string{"a": "a\n"})
	l.ask()
	l.call(map[string]string{"a": "b\n"})
	l.Add(event.Event{Body: event.Opened{Session: "s"}})
	l.call(map[string]string{"a": "c\n"}) // it goes on
	l.ask()
	l.call(map[string]string{"a": "d\n"})
	if l.Turn() != 2 {
		t.Errorf("%d turns", l.Turn())
	}
	l.undo(Scope{})
	l.want(map[string]string{"a": "c\n"})
	l.undo(Scope{})
	l.want(map[string]string{"a": "a\n"})
}

// of returns the changes of one file.
func of(changes []Change, path string) (of []Change) {
	for _, c := range changes {
		if c.Edit.Path == path {
			of = append(of, c)
		}
	}
	return of
}

func cloned(m map[string]string) map[string]string {
	out := make(map[string]string)
	for k, v := range m {
		out[k] = v
	}
	return out
}
