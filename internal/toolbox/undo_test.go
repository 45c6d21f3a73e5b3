package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/contract/tool/tooltest"
	"github.com/belay-agent/belay/internal/decide/undo"
	"github.com/belay-agent/belay/internal/world/snapshot"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A past is a workspace in which calls have changed files, and what the log says
// of them.
type past struct {
	t     testing.TB
	dir   string
	w     *workspace.Workspace
	h     undo.History
	undo  tool.Tool
	calls int

	images string // where they are kept
}

func newPast(t testing.TB, dir string, files map[string]string) *past {
	t.Helper()
	for path, text := range files {
		put(t, dir, path, text)
	}
	images := filepath.Join(t.TempDir(), "undo")
	w, err := workspace.OpenWith(dir, workspace.Options{Undo: images})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	p := &past{t: t, dir: dir, w: w, images: images}
	p.undo = Undo(w, func() (*undo.History, error) { return &p.h, nil })
	p.h.Add(event.Event{Body: event.Opened{Session: "s"}})
	p.h.Add(event.Event{Body: event.Asked{Text: "go"}})
	return p
}

// change makes a call of the model: name ARGUMENTS, knowing all files.
func (p *past) change(t tool.Tool, args string) tool.Result {
	p.t.Helper()
	return p.call(t, args, p.seen())
}

// seen returns the digests of all files.
func (p *past) seen() map[string]string {
	p.t.Helper()
	seen := make(map[string]string)
	for e, err := range p.w.Tree(p.t.Context()) {
		if err != nil {
			p.t.Fatal(err)
		}
		if c, err := e.Content(); err == nil {
			seen[e.Path] = edit.Digest(c.Bytes)
		}
	}
	return seen
}

func (p *past) call(t tool.Tool, args string, seen map[string]string) tool.Result {
	p.t.Helper()
	p.calls++
	id := fmt.Sprintf("c%d", p.calls)
	c := tool.Call{ID: id, Tool: t.Spec().Name, Args: json.RawMessage(args)}
	a, err := t.Prepare(p.t.Context(), tool.Input{Call: id, Args: c.Args, Seen: seen})
	if err == nil && c.Tool != undo.Tool {
		p.asked(c)
	}
	var r tool.Result
	if err == nil {
		p.h.Add(event.Event{Body: event.Planned{Plan: tool.Plan{Call: c}}})
		r, err = a.Do(p.t.Context(), tool.Env{})
	}
	if f, ok := errors.AsType[*tool.Failure](err); ok {
		p.calls-- // as one that is not recorded
		return tool.Failed(f)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.finish(id, r)
	return r
}

// asked records that the model has asked for a call.
func (p *past) asked(c tool.Call) {
	p.h.Add(event.Event{Body: event.Replied{Message: model.Message{Parts: []model.Part{model.Call{Call: c}}}}})
}

// command is a call of the model that runs a program, which does what f does.
func (p *past) command(f func()) snapshot.Changes {
	p.t.Helper()
	s, err := snapshot.Open(snapshot.Options{Workspace: p.w, Dir: p.images})
	if err != nil {
		p.t.Fatal(err)
	}
	p.calls++
	id := fmt.Sprintf("c%d", p.calls)
	if err := s.Before(p.t.Context(), id, nil); err != nil {
		p.t.Fatal(err)
	}
	f()
	c := s.After(id)
	if err := s.Done(id); err != nil {
		p.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.asked(tool.Call{ID: id, Tool: "Bash"})
	text := "done"
	if c.Note != "" {
		text += "\n[" + c.Note + "]" // as the agent does
	}
	p.finish(id, tool.Result{Status: tool.Success, Text: text, Edits: c.Edits})
	return c
}

// finish records a result, as it is read back from the log.
func (p *past) finish(id string, r tool.Result) {
	b, err := json.Marshal(r)
	if err == nil {
		r = tool.Result{}
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.h.Add(event.Event{Body: event.Finished{Call: id, Result: r}})
}

// tree returns all there is: files by path, with their permissions, and directories.
func (p *past) tree() map[string]string {
	p.t.Helper()
	out := make(map[string]string)
	for e, err := range p.w.Tree(p.t.Context()) {
		if err != nil {
			p.t.Fatal(err)
		}
		c, err := e.Content()
		if target, e := e.Target(); err != nil && e == nil {
			c.Bytes = []byte("-> " + target)
		}
		out[e.Path] = strings.TrimSuffix(fmt.Sprintf("%s %s%s", e.Info.Mode(), c.Bytes, c.Attrs), workspace.Plain)
	}
	return out
}

func (p *past) want(want map[string]string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.tree()); diff != "" {
		p.t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestR116_UndoKeepsItsContract(t *testing.T) {
	c := tooltest.Case{Open: func(t testing.TB, dir string) (tool.Tool, tool.Input) {
		p := newPast(t, dir, map[string]string{"a.go": greeting, "b.go": greeting})
		p.change(Edit(p.w), `{"path":"a.go","old":"helo","new":"hello"}`)
		p.change(Edit(p.w), `{"path":"b.go","old":"helo","new":"hello"}`)
		p.change(Write(p.w), `{"path":"x/y/z","content":"z\n"}`)
		return p.undo, tool.Input{Args: json.RawMessage(`{}`), Seen: p.seen()}
	}}
	tooltest.Test(t, c)
}

func TestR116_UndoAndRedoOfToolsOnDisk(t *testing.T) {
	p := newPast(t, t.TempDir(), map[string]string{"a": "1\n2\n3\n4\n5\n", "run.sh": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(p.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	zero := p.tree()
	p.change(Edit(p.w), `{"path":"a","old":"2","new":"two"}`)
	p.change(Write(p.w), `{"path":"new/dir/f","content":"f\n"}`)
	p.change(Write(p.w), `{"path":"new/g","content":"g\n"}`)
	p.change(Edit(p.w), `{"path":"run.sh","old":"sh","new":"bash"}`)
	one := p.tree()

	seen := p.seen()
	put(t, p.dir, "a", "1\ntwo\n3\n4\nfive\n")
	zero["a"] = "-rw-r--r-- 1\n2\n3\n4\nfive\n"
	r := p.call(p.undo, `{}`, seen)
	p.want(zero)
	if want := "took back what c1, c2, c3, c4 changed: run.sh, new/g, new/dir/f, a"; r.Text != want || r.Status != tool.Success {
		t.Errorf("%s %q, want %q", r.Status, r.Text, want)
	}
	known := map[string]string{"run.sh": edit.Digest([]byte("#!/bin/sh\n")), "new/g": "", "new/dir/f": ""} // not a, which is new to it
	if diff := cmp.Diff(known, r.Seen); diff != "" {
		t.Errorf("what the model knows: %s", diff)
	}
	if r := p.call(p.undo, `{}`, nil); r.Failure == nil || r.Failure.Kind != tool.NoChange {
		t.Errorf("twice: %+v", r)
	}
	p.call(p.undo, `{"redo":true}`, nil)
	one["a"] = "-rw-r--r-- 1\ntwo\n3\n4\nfive\n"
	p.want(one)
	p.call(p.undo, `{"call":"c2"}`, nil)
	delete(one, "new/dir/f")
	delete(one, "new/dir")
	p.want(one)
	p.call(p.undo, `{"file":"./new/../a"}`, nil)
	one["a"] = zero["a"]
	p.want(one)
	for args, kind := range map[string]tool.Kind{
		`{"turn":1,"call":"c1"}`: tool.Invalid, `{"file":"../x"}`: tool.OutsideWorkspace, `{"turn":7}`: tool.NoChange,
	} {
		if r := p.call(p.undo, args, nil); r.Failure == nil || r.Failure.Kind != kind {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// What cannot be taken back does not keep the rest from it, and can be tried again.
func TestR117_UndoLeavesWhatItCannotTakeBack(t *testing.T) {
	p := newPast(t, t.TempDir(), map[string]string{"a": "1\n2\n3\n4\n5\n", "b": "b\n", "c": "c\n", "d": "d\n"})
	p.change(Edit(p.w), `{"path":"a","old":"2","new":"two"}`)
	for _, path := range []string{"b", "c", "d"} {
		p.change(Edit(p.w), fmt.Sprintf(`{"path":%q,"old":%q,"new":"x"}`, path, path))
	}
	put(t, p.dir, "a", "1\nuser\n3\n4\n5\n")
	at := func(name string) string { return filepath.Join(p.dir, name) }
	if err := errors.Join(os.Link(at("b"), at("name2")), os.Remove(at("c")), os.Symlink("d", at("c"))); err != nil {
		t.Fatal(err)
	}
	r := p.call(p.undo, `{}`, nil)
	want := `took back what c4 changed: d
left as it is:
  c: it is a link now
  b: file has 2 names (hard links), of which all but this would keep the old content
  a: what c1 wrote there was changed since; lines 2-2`
	if r.Status != tool.Partial || r.Text != want {
		t.Errorf("%s\n%s\nwant\n%s", r.Status, r.Text, want)
	}
	r = p.call(p.undo, `{}`, nil)
	if r.Failure == nil || r.Failure.Kind != tool.Stale || !strings.Contains(r.Text, "nothing was taken back") {
		t.Errorf("again: %+v", r)
	}
	put(t, p.dir, "a", "1\ntwo\n3\n4\nfive\n")
	if err := os.Remove(at("name2")); err != nil {
		t.Fatal(err)
	}
	p.call(p.undo, `{}`, nil)
	for path, want := range map[string]string{"a": "1\n2\n3\n4\nfive\n", "b": "b\n", "d": "d\n"} {
		if b, err := os.ReadFile(at(path)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
}

// A crash in the middle leaves some files taken back; the result says which, and
// the others are taken back by the next undo.
func TestPromise_P08_AnUndoThatACrashCutOffIsSettled(t *testing.T) {
	files := map[string]string{"a": "a\n", "b": "b\n", "c": "c\n"}
	for done := range 6 {
		t.Run(fmt.Sprint(done), func(t *testing.T) {
			p := newPast(t, t.TempDir(), files)
			zero := p.tree()
			for path := range files {
				p.change(Edit(p.w), fmt.Sprintf(`{"path":%q,"old":%q,"new":"x"}`, path, path))
			}
			p.change(Write(p.w), `{"path":"new/f","content":"f\n"}`)
			p.command(func() {
				if err := os.Symlink("a", filepath.Join(p.dir, "link")); err != nil {
					t.Fatal(err)
				}
			})
			a, err := p.undo.Prepare(t.Context(), tool.Input{Args: json.RawMessage(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			p.calls++
			id := fmt.Sprintf("c%d", p.calls)
			plan := tool.Plan{Call: tool.Call{ID: id, Tool: undo.Tool}}
			p.h.Add(event.Event{Body: event.Planned{Plan: plan}})
			if _, err := p.w.Write(a.Edits[:done]); err != nil { // and then it crashed
				t.Fatal(err)
			}
			r, err := p.undo.(tool.Settler).Settle(t.Context(), plan, a.Fingerprint)
			if err != nil || (r == nil) != (done == 0) {
				t.Fatalf("%+v, %v", r, err)
			}
			if done > 0 {
				if len(r.Edits) != done || (r.Status == tool.Success) != (done == len(a.Edits)) {
					t.Errorf("%+v", r)
				}
				p.finish(id, *r)
			}
			if done < len(a.Edits) {
				p.call(p.undo, `{}`, nil)
			}
			p.want(zero)
		})
	}
}

func TestUndoOfMoreFilesThanOneCallTakes(t *testing.T) {
	p := newPast(t, t.TempDir(), nil)
	var edits []edit.Intent
	for i := range maxUndone + 10 {
		edits = append(edits, edit.Intent{Path: fmt.Sprintf("f%d", i)})
	}
	if _, err := p.w.Write(edits); err != nil {
		t.Fatal(err)
	}
	for i := range edits {
		edits[i].Result = edit.Digest(nil)
	}
	p.finish("c1", tool.Result{Edits: edits})
	p.calls = 1
	r := p.call(p.undo, `{}`, nil)
	if r.Status != tool.Partial || !strings.Contains(r.Text, "and 1480 more files") || !strings.Contains(r.Text, "10 files more than one undo takes back") {
		t.Errorf("%s %s", r.Status, r.Text)
	}
	if r := p.call(p.undo, `{}`, nil); r.Status != tool.Success {
		t.Errorf("%+v", r)
	}
	p.want(map[string]string{})
}

// What a command did to links comes back and can be done again. What they lead to
// is left alone, inside and outside.
func TestPromise_P08_LinksComeBack(t *testing.T) {
	p := newPast(t, t.TempDir(), map[string]string{"a": "a\n", "b": "b\n", "dir/c": "c\n", "later": "l\n"})
	at := func(name string) string { return filepath.Join(p.dir, name) }
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "f")
	do(os.WriteFile(outside, []byte("theirs\n"), 0o644))
	for name, target := range map[string]string{"gone": "a", "moved": "a", "dead": "nowhere", "out": outside, "folder": "dir", "sub": "dir"} {
		do(os.Symlink(target, at(name)))
	}
	zero := p.tree()
	p.command(func() {
		do(os.Remove(at("gone")), os.Remove(at("moved")), os.Remove(at("dead")), os.Remove(at("out")), os.Remove(at("b")))
		do(os.Symlink(outside, at("moved")), os.Symlink("a", at("b")), os.Mkdir(at("new"), 0o755), os.Symlink("../a", at("new/l")))
		put(t, p.dir, "dead", "no link\n")
		do(os.Remove(at("folder")))
		put(t, p.dir, "folder/x", "x\n")
	})
	one := p.tree()
	for range 2 {
		// A directory is in the place of a link: what is in it goes first.
		if r := p.call(p.undo, `{}`, nil); r.Status != tool.Partial || !strings.Contains(r.Text, "left as it is:\n  folder: ") || strings.Contains(r.Text, "folder/x: ") {
			t.Errorf("undo: %s", r.Text)
		}
		for _, step := range []struct {
			args string
			want map[string]string // nil: not yet
		}{{`{}`, zero}, {`{"redo":true}`, nil}, {`{"redo":true}`, one}} {
			if r := p.call(p.undo, step.args, nil); r.Status != tool.Success {
				t.Errorf("%s: %s", step.args, r.Text)
			}
			if step.want != nil {
				p.want(step.want)
			}
		}
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "theirs\n" {
		t.Errorf("outside: %q, %v", b, err)
	}
}

// What a command changed and undo does not cover is said again by the undo of its
// turn, whether or not there is anything else to take back.
func TestR117_UndoSaysWhatItDoesNotCover(t *testing.T) {
	p := newPast(t, t.TempDir(), map[string]string{"a": "a\n"})
	large := func(size int64) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(p.dir, "large"), os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	large(20 << 20)
	p.command(func() { large(21 << 20) })
	const said = "not covered by undo, c1: these changes: large (over 16 MiB)"
	if r := p.call(p.undo, `{}`, nil); r.Failure == nil || r.Failure.Kind != tool.NoChange || !strings.Contains(r.Failure.Message, said) {
		t.Errorf("nothing else: %s", r.Text)
	}
	p.change(Edit(p.w), `{"path":"a","old":"a","new":"b"}`)
	a, err := p.undo.Prepare(t.Context(), tool.Input{Args: json.RawMessage(`{}`)})
	if err != nil || !strings.Contains(a.Preview, said) {
		t.Errorf("preview: %v, %v", a, err)
	}
	if r := p.call(p.undo, `{"call":"c2"}`, nil); r.Status != tool.Success || strings.Contains(r.Text, "large") {
		t.Errorf("of another call: %s", r.Text)
	}
	if r := p.call(p.undo, `{"redo":true}`, nil); r.Status != tool.Success || strings.Contains(r.Text, "large") {
		t.Errorf("redo: %s", r.Text)
	}
	if r := p.call(p.undo, `{"turn":1}`, nil); r.Status != tool.Partial || !strings.Contains(r.Text, "left as it is:\n  "+said) {
		t.Errorf("of the turn: %s", r.Text)
	}
}
