package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

const poem = "one\ntwo\nthree\nfour\nfive\n"

func TestR124_AChangeIsMergedWithTheUsers(t *testing.T) {
	for _, c := range []struct {
		name, tool string
		args       args
		now, want  string
	}{
		{"Edit", "Edit", args{"old": "two", "new": "2"}, "one\ntwo\nthree\nfour\n5\n", "one\n2\nthree\nfour\n5\n"},
		{"what is matched is what was read", "Edit", args{"old": "two", "new": "2"}, "zero\ntwo\none\ntwo\nthree\nfour\nfive\n", "zero\ntwo\none\n2\nthree\nfour\nfive\n"},
		{"MultiEdit", "MultiEdit", args{"edits": []args{{"old": "one", "new": "1"}, {"old": "five", "new": "5"}}}, "one\ntwo\n3\nfour\nfive\n", "1\ntwo\n3\nfour\n5\n"},
		{"Write", "Write", args{"content": "one\n2\nthree\nfour\nfive\n"}, "one\ntwo\nthree\nfour\n5\nsix\n", "one\n2\nthree\nfour\n5\nsix\n"},
		{"line endings", "Edit", args{"old": "two", "new": "2\n2b"}, "one\r\ntwo\r\nthree\r\nfour\r\n5\r\n", "one\r\n2\r\n2b\r\nthree\r\nfour\r\n5\r\n"},
		{"a byte that is no text", "Edit", args{"old": "two", "new": "2"}, "one\ntwo\nthree\nfour\n\xff\n", "one\n2\nthree\nfour\n\xff\n"},
		{"half of it is there already", "MultiEdit", args{"edits": []args{{"old": "one", "new": "1"}, {"old": "five", "new": "5"}}}, "1\ntwo\nthree\nfour\nfive\n", "1\ntwo\nthree\nfour\n5\n"},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, late %t", c.name, late), func(t *testing.T) {
				d := newDesk(t, map[string]string{"f": poem})
				d.ok("Read", args{"path": "f"})
				c.args["path"] = "f"
				if !late {
					put(t, d.dir, "f", c.now)
				}
				a, err := d.prepare(c.tool, c.args)
				if err != nil {
					t.Fatal(err)
				}
				put(t, d.dir, "f", c.now) // late: after the call was approved
				r, err := a.Do(t.Context(), tool.Env{})
				if err != nil {
					t.Fatal(err)
				}
				d.holds("f", c.want)
				if !strings.Contains(r.Text, "(merged: someone else had changed f since you read it, as follows)\n--- a/f\n") || !facts[changeData](t, r).Merged {
					t.Errorf("text %q, data %s", r.Text, r.Data)
				}
				digest := edit.Digest([]byte(c.want))
				if i := r.Edits[0]; i.Base != edit.Digest([]byte(c.now)) || i.Result != digest || r.Seen["f"] != digest {
					t.Errorf("the intent is from %s to %s, seen %v", i.Base, i.Result, r.Seen)
				}
			})
		}
	}
}

// What has been changed in just this way is not changed again.
func TestAChangeThatTheUserMadeIsNoChange(t *testing.T) {
	d := newDesk(t, map[string]string{"f": poem})
	d.ok("Read", args{"path": "f"})
	put(t, d.dir, "f", "one\n2\nthree\nfour\n5\n")
	if f := d.fails(tool.NoChange, "Edit", args{"path": "f", "old": "two", "new": "2"}); !strings.Contains(f.Message, "in just this way") {
		t.Errorf("message %q", f.Message)
	}
}

// A merge with more than can be shown leaves the model without the file.
func TestAMergeThatCannotBeShownMustBeRead(t *testing.T) {
	d := newDesk(t, map[string]string{"f": poem})
	d.ok("Read", args{"path": "f"})
	long := poem + strings.Repeat("a long line that the user has added\n", 1000)
	put(t, d.dir, "f", long)
	r := d.ok("Edit", args{"path": "f", "old": "two", "new": "2"})
	d.holds("f", strings.Replace(long, "two", "2", 1))
	if _, ok := r.Seen["f"]; ok || !strings.Contains(r.Text, "read it again") {
		t.Errorf("seen %v, text %q", r.Seen, r.Text)
	}
}

func TestR125_AConflictShowsBothSides(t *testing.T) {
	d := newDesk(t, map[string]string{"f": poem})
	d.ok("Read", args{"path": "f"})
	const now = "one\nTWO\nthree\nfour\n5\n"
	put(t, d.dir, "f", now)
	f := d.fails(tool.Stale, "MultiEdit", args{"path": "f", "edits": []args{{"old": "two", "new": "2"}, {"old": "five", "new": "V"}}})
	const message = `File changed since last read: f
f line 2
as it was read:
  two
as someone has changed it:
  TWO
as this call would have it:
  2
f line 5
as it was read:
  five
as someone has changed it:
  5
as this call would have it:
  V
`
	if d := cmp.Diff(message, f.Message); d != "" {
		t.Errorf("message (-want +got):\n%s", d)
	}
	for _, side := range []string{`"line":2`, `"as_read":"two\n"`, `"as_it_is":"TWO\n"`, `"as_the_call_makes_it":"2\n"`, `"as_it_is":"5\n"`} {
		if !strings.Contains(string(f.Detail), side) {
			t.Errorf("detail %s has no %s", f.Detail, side)
		}
	}
	d.holds("f", now)
}

func TestR125_APersonSettlesAConflict(t *testing.T) {
	const now = "one\nTWO\nthree\nfour\n5\n"
	for _, c := range []struct {
		answer, want string
		kind         tool.Kind // of the failure
	}{
		{`{"keep":"mine"}`, now, tool.Denied},
		{`{"keep":"theirs"}`, "one\n2\nthree\nfour\n5\n", ""},
		{`{"keep":"both"}`, "one\n<<<<<<< user\nTWO\n=======\n2\n>>>>>>> agent\nthree\nfour\n5\n", ""},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, late %t", c.answer, late), func(t *testing.T) {
				d := newDesk(t, map[string]string{"f": poem})
				d.ok("Read", args{"path": "f"})
				d.asks = true
				if !late {
					put(t, d.dir, "f", now)
				}
				a, err := d.prepare("Edit", args{"path": "f", "old": "two", "new": "2"})
				if err != nil {
					t.Fatal(err)
				}
				put(t, d.dir, "f", now)
				asked := ""
				r, err := a.Do(t.Context(), tool.Env{Ask: func(_ context.Context, schema json.RawMessage, text string) (json.RawMessage, error) {
					asked = text
					return json.RawMessage(c.answer), nil
				}})
				if !strings.Contains(asked, "  TWO\n") || !strings.Contains(asked, "  2\n") {
					t.Errorf("asked %q", asked)
				}
				f, _ := errors.AsType[*tool.Failure](err)
				if (err != nil) != (c.kind != "") || err != nil && (f == nil || f.Kind != c.kind) {
					t.Fatalf("ends in %v, want %q", err, c.kind)
				}
				d.holds("f", c.want)
				if err == nil && r.Edits[0].Result != edit.Digest([]byte(c.want)) {
					t.Errorf("the intent leads to %s", r.Edits[0].Result)
				}
			})
		}
	}
}

// The answer is for the lines that were shown: if they change while a person
// thinks, the question is put again.
func TestR125_WhatChangesMeanwhileIsAskedAgain(t *testing.T) {
	d := newDesk(t, map[string]string{"f": poem})
	d.ok("Read", args{"path": "f"})
	d.asks = true
	put(t, d.dir, "f", "one\nTWO\nthree\nfour\nfive\n")
	a, err := d.prepare("Edit", args{"path": "f", "old": "two", "new": "2"})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	_, err = a.Do(t.Context(), tool.Env{Ask: func(_ context.Context, _ json.RawMessage, text string) (json.RawMessage, error) {
		asked = append(asked, text)
		put(t, d.dir, "f", "one\nZWEI\nthree\nfour\nfive\n")
		return json.RawMessage(`{"keep":"both"}`), nil
	}})
	if err != nil || len(asked) != 2 || !strings.Contains(asked[1], "ZWEI") {
		t.Fatalf("%v; asked %q", err, asked)
	}
	d.holds("f", "one\n<<<<<<< user\nZWEI\n=======\n2\n>>>>>>> agent\nthree\nfour\nfive\n")
}

// What a change left is kept by the workspace, so that a session that goes on
// another day merges too.
func TestR124_WhatAChangeLeftIsKnownLater(t *testing.T) {
	dir, undo := t.TempDir(), t.TempDir()
	put(t, dir, "f", "\uFEFFone\r\ntwo\r\nthree\r\n")
	w, err := workspace.OpenWith(dir, workspace.Options{Undo: undo})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	d := newDesk(t, nil)
	d.dir, d.w = dir, w
	text, err := w.Read("f")
	if err != nil {
		t.Fatal(err)
	}
	d.seen["f"] = text.Digest
	d.tools["Edit"] = Edit(w)
	d.ok("Edit", args{"path": "f", "old": "one", "new": "1"})
	put(t, dir, "f", "\uFEFF1\r\ntwo\r\nIII\r\n")
	d.tools["Edit"] = (&changer{w: w, shown: new(shown)}).edit()
	d.ok("Edit", args{"path": "f", "old": "1", "new": "one"})
	d.holds("f", "\uFEFFone\r\ntwo\r\nIII\r\n")
}

func TestShownForgetsTheOldest(t *testing.T) {
	s := new(shown)
	big := strings.Repeat("x", maxShownOne)
	const fit = maxShown / maxShownOne
	for n := range fit {
		s.put(fmt.Sprint(n), big)
	}
	s.get("0")
	s.put("new", "y")
	for n, want := range map[string]bool{"0": true, "1": false, "2": true, "new": true} {
		if _, ok := s.get(n); ok != want {
			t.Errorf("%s is remembered: %t, want %t", n, ok, want)
		}
	}
	s.put("too large", big+"x")
	if _, ok := s.get("too large"); ok {
		t.Error("a text that is too large is remembered")
	}
}

// onTmpfs makes the directory of a desk in memory, where there is such a place:
// the test is about what is written, not about the disk.
func onTmpfs(t *testing.T) {
	if dir, err := os.MkdirTemp("/dev/shm", "belay"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		t.Setenv("TMPDIR", dir)
	}
}

// TestR117_R124_InterleavedEditsLoseNothing lets an agent and a user edit one
// file in any order, with the user also between the preparation of a call and
// its execution. After each call the file must be what the user had left, with
// the one place replaced that the call was about, or, if the call failed, what
// the user had left: no byte is lost, none is invented.
func TestR117_R124_InterleavedEditsLoseNothing(t *testing.T) {
	onTmpfs(t)
	rounds := 500
	if soak {
		rounds = 10_000
	}
	r := rand.New(rand.NewPCG(11, 12))
	merged, stale, plain := 0, 0, 0
	d := newDesk(t, nil)
	for round := range rounds {
		u := &person{r: r, d: d}
		for n := range 4 + r.IntN(10) {
			u.lines = append(u.lines, fmt.Sprintf("line %d.%d", round, n))
		}
		u.save()
		d.ok("Read", args{"path": "f"})
		known := strings.Join(u.lines, "\n") + "\n" // as the model knows the file
		for step := range 5 {
			u.edit(round, step)
			call, place, fresh := u.request(known, fmt.Sprintf("agent %d.%d", round, step))
			before := u.text()
			a, err := d.prepare("Edit", call)
			if r.IntN(3) == 0 {
				u.edit(round, step+100)
				before = u.text()
			}
			var result tool.Result
			if err == nil {
				result, err = a.Do(t.Context(), tool.Env{})
			}
			after, _ := os.ReadFile(filepath.Join(d.dir, "f"))
			if err != nil {
				f, ok := errors.AsType[*tool.Failure](err)
				overlaps := ok && f.Kind == tool.Ambiguous && strings.Count(known, place) == 1
				if !ok || f.Kind != tool.Stale && f.Kind != tool.NoChange && !overlaps {
					t.Fatalf("round %d: %v of %q", round, err, known)
				}
				if string(after) != before {
					t.Fatalf("round %d: a call failed, and %q became %q", round, before, after)
				}
				stale++
				d.ok("Read", args{"path": "f"})
				known = before
				continue
			}
			if !replacedOnce(before, string(after), place, fresh) {
				t.Fatalf("round %d: %q to %q in %q gives %q", round, place, fresh, before, after)
			}
			if facts[changeData](t, result).Merged {
				merged++
			} else {
				plain++
			}
			d.seen["f"] = result.Seen["f"]
			known = string(after)
			u.lines = strings.Split(strings.TrimSuffix(known, "\n"), "\n")
		}
	}
	t.Logf("%d merged, %d stale, %d plain", merged, stale, plain)
	if least := rounds / 4; merged < least || stale < least || plain < least {
		t.Errorf("%d merged, %d stale, %d plain: too few of one", merged, stale, plain)
	}
}

// replacedOnce reports whether after is before with fresh in one place of old.
func replacedOnce(before, after, old, fresh string) bool {
	for _, at := range occurrences(before, old) {
		if before[:at]+fresh+before[at+len(old):] == after {
			return true
		}
	}
	return false
}

// A person edits f, a line at a time, and saves it.
type person struct {
	r     *rand.Rand
	d     *desk
	lines []string
}

func (u *person) text() string { return strings.Join(u.lines, "\n") + "\n" }

func (u *person) save() { put(u.d.t, u.d.dir, "f", u.text()) }

func (u *person) edit(round, step int) {
	for n := range u.r.IntN(3) {
		at := u.r.IntN(len(u.lines))
		fresh := fmt.Sprintf("user %d.%d.%d", round, step, n)
		switch u.r.IntN(4) {
		case 0:
			u.lines[at] = fresh
		case 1:
			u.lines = append(u.lines[:at:at], append([]string{fresh}, u.lines[at:]...)...)
		case 2:
			if len(u.lines) > 3 {
				u.lines = append(u.lines[:at:at], u.lines[at+1:]...)
			}
		default: // twice the same line
			u.lines = append(u.lines[:at:at], append([]string{u.lines[at]}, u.lines[at:]...)...)
		}
	}
	u.save()
}

// request is an edit of a line, or two, that known has once; with the line
// endings, so that what is replaced is whole lines.
func (u *person) request(known, fresh string) (call args, old, replacement string) {
	all := strings.SplitAfter(known, "\n")
	all = all[:len(all)-1]
	for {
		at := u.r.IntN(len(all))
		to := min(len(all), at+1+u.r.IntN(2))
		old = strings.Join(all[at:to], "")
		if len(occurrences(known, old)) == 1 {
			break
		}
	}
	replacement = fresh + "\n"
	if u.r.IntN(3) == 0 {
		replacement = old + fresh + "\n"
	}
	return args{"path": "f", "old": old, "new": replacement}, old, replacement
}

func TestAFileThatNoLongerParsesIsSaid(t *testing.T) {
	no, yes := false, true
	for _, c := range []struct {
		name, before, old, new string
		want                   *syntax
		warns                  bool
	}{
		{"a.go", "package a\n\nfunc f() {}\n", "{}", "{", &syntax{Before: &yes, Error: "3:12: expected '}', found 'EOF'"}, true},
		{"b.go", "package a\n", " a", " b", nil, false},
		{"c.go", "package a\n\nfunc f( {}\n", "func f( {}", "func g( {}", &syntax{Before: &no, Error: "3:9: expected ')', found '{'"}, false},
		{"d.go", "package a\n\nfunc f( {}\n", "f( {", "f() {", nil, false},
		{"a.json", "{\"a\": 1}\n", "1", "1,", &syntax{Before: &yes, Error: "line 1: invalid character '}' looking for beginning of object key string"}, true},
		{"a.toml", "a = 1\n", "1", "[", &syntax{Before: &yes}, true},
		{"a.toml.txt", "a = 1\n", "1", "[", nil, false},
		{"a.sh", "if true; then :; fi\n", "; fi", "", &syntax{Before: &yes}, true},
		{"b.sh", "echo ${x:-'a'}\n", "'a'", "\"b\"", nil, false},
		{"a.yaml", "a: 1\n---\nb: [1, 2]\n", "]", "", &syntax{Before: &yes}, true},
		{"b.yml", "a: {{ .Values.x }}\nb: 1\n", "b: 1", "b: 2", nil, false},
		{"a.zsh", "if true; then :; fi\n", "; fi", "", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{c.name: c.before})
			d.ok("Read", args{"path": c.name})
			r := d.ok("Edit", args{"path": c.name, "old": c.old, "new": c.new})
			got := facts[changeData](t, r).Syntax
			if c.want != nil && c.want.Error == "" && got != nil {
				c.want.Error = got.Error
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("syntax (-want +got):\n%s", d)
			}
			if warns := strings.Contains(r.Text, "(warning: it can no longer be parsed: "); warns != c.warns {
				t.Errorf("text %q", r.Text)
			}
		})
	}
	d := newDesk(t, nil)
	r := d.ok("Write", args{"path": "new.json", "content": "{"})
	if s := facts[changeData](t, r).Syntax; s == nil || s.Before != nil || s.After || !strings.Contains(r.Text, "warning") {
		t.Errorf("a new file that cannot be parsed: %+v, %q", s, r.Text)
	}
}

// A name that Glob does not show is as taken as any other.
func TestR117_WriteNeverReplacesWhatGlobHides(t *testing.T) {
	d := newDesk(t, map[string]string{".env": "KEY=1\n", ".gitignore": "out/\n", "out/a": "built\n", ".git/config": "x\n"})
	for _, path := range []string{".env", "out/a", ".git/config", ".gitignore"} {
		d.fails(tool.NotRead, "Write", args{"path": path, "content": "mine\n"})
	}
	d.holds(".env", "KEY=1\n")
	d.holds("out/a", "built\n")
}

// A file with other names is parted from them only if a person says so: by the
// approval of a plan that says it, or by an answer.
func TestBug_E12_AFileWithOtherNamesNeedsApproval(t *testing.T) {
	says := func(word string) func(context.Context, json.RawMessage, string) (json.RawMessage, error) {
		return func(_ context.Context, _ json.RawMessage, text string) (json.RawMessage, error) {
			if !strings.Contains(text, "3 names") {
				t.Errorf("asked %q", text)
			}
			return json.RawMessage(`{"part":"` + word + `"}`), nil
		}
	}
	for name, c := range map[string]struct {
		env  tool.Env
		rule string // a file that a rule lets be parted
		kind tool.Kind
	}{
		"nobody there":      {kind: tool.NeedsApproval},
		"a rule":            {rule: "f"},
		"a rule of another": {rule: "g", kind: tool.NeedsApproval},
		"approved":          {env: tool.Env{Approved: true}},
		"yes":               {env: tool.Env{Ask: says("yes")}},
		"no":                {env: tool.Env{Ask: says("no")}, kind: tool.NeedsApproval},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"f": "one\n"})
			f := &changer{w: d.w, shown: new(shown), parting: func(path string) bool { return path == c.rule }}
			d.tools["Edit"] = f.edit()
			for _, other := range []string{"g", "h"} {
				if err := os.Link(filepath.Join(d.dir, "f"), filepath.Join(d.dir, other)); err != nil {
					t.Skipf("no hard links here: %v", err)
				}
			}
			d.ok("Read", args{"path": "f"})
			a, err := d.prepare("Edit", args{"path": "f", "old": "one", "new": "two"})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(a.Summary, "2 other names") {
				t.Errorf("the summary is %q", a.Summary)
			}
			r, err := a.Do(t.Context(), c.env)
			failure, _ := errors.AsType[*tool.Failure](err)
			want := "two\n"
			if c.kind != "" {
				want = "one\n"
			} else if !strings.Contains(r.Text, "(it had 3 names (hard links) and is parted from the others, which keep the old content)\n") || facts[changeData](t, r).Names != 3 {
				t.Errorf("text %q, data %s", r.Text, r.Data)
			}
			if (c.kind != "") != (failure != nil) || failure != nil && failure.Kind != c.kind {
				t.Errorf("it ends in %v %+v, want %q", err, r, c.kind)
			}
			d.holds("f", want)
			d.holds("g", "one\n")
		})
	}
}

// A person who is asked about one file has said nothing of the next, and one who
// approved a change has said nothing of names that the file got since.
func TestBug_E12_EachFileWithOtherNamesIsAskedAbout(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "one\n", "g": "one\n"})
	link := func(name string) {
		t.Helper()
		if err := os.Link(filepath.Join(d.dir, name), filepath.Join(d.dir, name+"2")); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	d.tools["Patch"] = (&changer{w: d.w, shown: new(shown)}).patch()
	d.ok("Read", args{"path": "f"})
	d.ok("Read", args{"path": "g"})
	prepared := func() *tool.Action {
		a, err := d.prepare("Patch", args{"patch": "*** Begin Patch\n*** Update File: f\n@@\n-one\n+two\n*** Update File: g\n@@\n-one\n+two\n*** End Patch"})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	refused := func(a *tool.Action, env tool.Env) {
		t.Helper()
		r, err := a.Do(t.Context(), env)
		if f, ok := errors.AsType[*tool.Failure](err); !ok || f.Kind != tool.NeedsApproval {
			t.Errorf("it ends in %v %+v", err, r)
		}
		d.holds("f", "one\n")
		d.holds("g", "one\n")
	}
	link("f")
	before := prepared()
	link("g")
	refused(before, tool.Env{Approved: true})
	asked := 0
	refused(prepared(), tool.Env{Ask: func(context.Context, json.RawMessage, string) (json.RawMessage, error) {
		asked++
		return json.RawMessage([]string{`{"part":"yes"}`, `{"part":"no"}`}[min(asked, 2)-1]), nil
	}})
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// What someone saved in the moment of a change, and then saved over, is named.
func TestStaleNamesWhereAFirstSaveIs(t *testing.T) {
	d := newDesk(t, nil)
	err := errors.Join(&workspace.StaleError{Path: "f", Want: "w", Have: "h"},
		&workspace.KeptError{At: ".belay-T", Err: workspace.ErrStale})
	if f := failed(t.Context(), d.w, "f", err); f.Kind != tool.Stale || !strings.Contains(f.Message, ".belay-T") {
		t.Errorf("%s: %s", f.Kind, f.Message)
	}
}
