package toolbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// everyFormat makes the change of a first line by each tool that can, on a fresh
// file, and checks what is on disk.
func everyFormat(t *testing.T, content, old, now, want string) {
	t.Helper()
	change := args{"old": old, "new": now}
	unified := fmt.Sprintf("--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-%s\n+%s\n", old, now)
	begin := fmt.Sprintf("*** Begin Patch\n*** Update File: f\n@@\n-%s\n+%s\n*** End Patch", old, now)
	for name, a := range map[string]args{
		"Edit": {"path": "f", "old": old, "new": now}, "MultiEdit": {"path": "f", "edits": []args{change}},
		"Patch": {"patch": unified}, "Patch ": {"patch": begin},
	} {
		d := newDesk(t, map[string]string{"f": content})
		d.tools["Patch"] = (&changer{w: d.w, shown: new(shown)}).patch()
		d.ok("Read", args{"path": "f"})
		d.ok(strings.TrimSpace(name), a)
		if b, err := os.ReadFile(filepath.Join(d.dir, "f")); err != nil || string(b) != want {
			t.Errorf("%s leaves %q, want %q (%v)", name, b, want, err)
		}
	}
}

func TestBug_E01_NoFormatTouchesOtherBytes(t *testing.T) {
	for _, rest := range []string{
		"\xC4\xE3\xBA\xC3\n",        // GB18030
		"caf\xe9\n",                 // Latin-1
		"a\xffb\xfe\n",              // nothing that is known
		"caf\xc3\xa9 \xe4\xbd",      // UTF-8 that is cut in a character
		"ok \xf0\x9f\x98\x80 \xc3(", // ... in the midst of one
	} {
		everyFormat(t, "k = 1\n"+rest, "k = 1", "k = 2", "k = 2\n"+rest)
	}
}

func TestBug_E02_TheMarkStaysAndStaysOne(t *testing.T) {
	const mark = "\xEF\xBB\xBF"
	everyFormat(t, mark+"abc\nx\n", "abc", "abcd", mark+"abcd\nx\n")
	for sent, want := range map[string]string{"new\n": mark + "new\n", mark + "new\n": mark + "new\n"} {
		d := newDesk(t, map[string]string{"f": mark + "abc\n"})
		if r := d.ok("Read", args{"path": "f"}); r.Text != "1\tabc\n" {
			t.Errorf("the model sees %q", r.Text)
		}
		d.ok("Write", args{"path": "f", "content": sent})
		d.holds("f", want)
	}
	d := newDesk(t, map[string]string{"f": mark + "abc\n"})
	d.ok("Read", args{"path": "f"})
	d.ok("Edit", args{"path": "f", "old": "abc\n", "new": "x\n"})
	d.holds("f", mark+"x\n")
}

func TestBug_E03_LineEndingsMatchAndStay(t *testing.T) {
	everyFormat(t, "a\r\nb\r\nc", "a", "A", "A\r\nb\r\nc")
	everyFormat(t, "a\r\nb\nc\r\n", "a", "A", "A\r\nb\nc\r\n")
	d := newDesk(t, map[string]string{"f": "a\r\nb\r\nc\r\n"})
	d.ok("Read", args{"path": "f"})
	d.ok("Edit", args{"path": "f", "old": "a\nb", "new": "a\nB\nb2"})
	d.holds("f", "a\r\nB\r\nb2\r\nc\r\n")
	d.ok("Write", args{"path": "f", "content": "a\nB\nb2\nnew\nc\n"})
	d.holds("f", "a\r\nB\r\nb2\r\nnew\r\nc\r\n")
}

func TestBug_E04_NewTextIsLiteralInEveryFormat(t *testing.T) {
	const template = `s = "$& $$ $1 ${0} \1 %s %%"`
	everyFormat(t, "mark = 0\r\nx\r\n", "mark = 0", template, template+"\r\nx\r\n")
	d := newDesk(t, map[string]string{"f": "a x a\r\na\r\n"})
	d.ok("Read", args{"path": "f"})
	d.ok("Edit", args{"path": "f", "old": "a", "new": template, "all": true})
	d.holds("f", template+" x "+template+"\r\n"+template+"\r\n")
}

func TestBug_E06_NoNewlineIsAdded(t *testing.T) {
	everyFormat(t, "a\nb", "a", "A", "A\nb")
	d := newDesk(t, map[string]string{"f": `{"a":1}`})
	d.ok("Read", args{"path": "f"})
	r := d.ok("Edit", args{"path": "f", "old": "1", "new": "2"})
	d.holds("f", `{"a":2}`)
	const diff = "@@ -1 +1 @@\n-{\"a\":1}\n\\ No newline at end of file\n+{\"a\":2}\n\\ No newline at end of file\n"
	if !strings.HasSuffix(r.Text, diff) {
		t.Errorf("the diff is %q", r.Text)
	}
}

// A range is never taken because its first and last lines fit.
func TestBug_E09_ThreeHundredLinesStay(t *testing.T) {
	var body strings.Builder
	for n := range 298 {
		fmt.Fprintf(&body, "  line %d\n", n)
	}
	content := "func a() {\n" + body.String() + "}\n"
	d := newDesk(t, map[string]string{"f": content})
	d.ok("Read", args{"path": "f"})
	d.fails(tool.NoMatch, "Edit", args{"path": "f", "old": "func a() {\n  old body\n}", "new": "x"})
	d.holds("f", content)
}

func TestBug_E11_ARelativeLinkInASubfolder(t *testing.T) {
	d := newDesk(t, map[string]string{"real.txt": "v1\n", "sub/other": ""})
	for link, target := range map[string]string{"sub/link": "../real.txt", "chain": "sub/link"} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	d.ok("Read", args{"path": "real.txt"})
	a, err := d.prepare("Edit", args{"path": "chain", "old": "v1", "new": "v2"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Parts[0].Name != "real.txt" {
		t.Errorf("it is judged as %q", a.Parts[0].Name)
	}
	if _, err := a.Do(t.Context(), tool.Env{}); err != nil {
		t.Fatal(err)
	}
	d.holds("real.txt", "v2\n")
	for link, target := range map[string]string{"sub/link": "../real.txt", "chain": "sub/link"} {
		if got, err := os.Readlink(filepath.Join(d.dir, link)); err != nil || got != target {
			t.Errorf("%s leads to %q, %v", link, got, err)
		}
	}
}

// Calls of one message on one file, by all its spellings and at once: what reports
// success is in the file, the others are stale.
func TestBug_E14_WhatReportsSuccessIsInTheFile(t *testing.T) {
	for round := range 20 {
		d := newDesk(t, map[string]string{"a.txt": "0\n-\n1\n-\n2\n-\n3\n-\n4\n-\n5\n-\nuser\n", "sub/x": ""})
		if err := os.Symlink("a.txt", filepath.Join(d.dir, "link")); err != nil {
			t.Fatal(err)
		}
		d.ok("Read", args{"path": "a.txt"})
		var actions []*tool.Action
		for n, path := range []string{"a.txt", "./a.txt", "sub/../a.txt", "link", filepath.Join(d.dir, "a.txt"), "sub//..//./a.txt"} {
			b, err := json.Marshal(args{"path": path, "old": fmt.Sprint(n), "new": fmt.Sprintf("done %d", n)})
			if err != nil {
				t.Fatal(err)
			}
			a, err := d.tools["Edit"].Prepare(t.Context(), tool.Input{Call: fmt.Sprint(n), Args: b, Seen: maps.Clone(d.seen)})
			if err != nil {
				t.Fatal(err)
			}
			actions = append(actions, a)
		}
		results := make([]error, len(actions))
		var all sync.WaitGroup
		for n, a := range actions {
			all.Go(func() { _, results[n] = a.Do(t.Context(), tool.Env{}) })
		}
		all.Wait()
		b, err := os.ReadFile(filepath.Join(d.dir, "a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for n, err := range results {
			f, _ := errors.AsType[*tool.Failure](err)
			if err != nil && (f == nil || f.Kind != tool.Stale) {
				t.Errorf("round %d, call %d: %v", round, n, err)
			}
			if there := strings.Contains(string(b), fmt.Sprintf("done %d\n", n)); there != (err == nil) {
				t.Errorf("round %d, call %d: %v, and the file holds %q", round, n, err, b)
			}
		}
		if strings.Count(string(b), "\n") != 13 || !strings.HasSuffix(string(b), "user\n") {
			t.Errorf("round %d: the file holds %q", round, b)
		}
	}
}

func TestBug_E15_BlanksAreBytes(t *testing.T) {
	everyFormat(t, "\tfoo\nx\n", "\tfoo", "    foo", "    foo\nx\n")
	everyFormat(t, "foo \nx\n", "foo ", "foo", "foo\nx\n")
	d := newDesk(t, map[string]string{"f": "\tfoo\n"})
	d.tools["Patch"] = (&changer{w: d.w, shown: new(shown)}).patch()
	d.ok("Read", args{"path": "f"})
	for name, a := range map[string]args{
		"Edit": {"path": "f", "old": "foo", "new": "foo"}, "Write": {"path": "f", "content": "\tfoo\n"},
		"MultiEdit": {"path": "f", "edits": []args{{"old": "foo", "new": "foo"}}},
		"Patch":     {"patch": "*** Begin Patch\n*** Update File: f\n@@\n-\tfoo\n+\tfoo\n*** End Patch"},
	} {
		d.fails(tool.NoChange, name, a)
	}
	d.holds("f", "\tfoo\n")
}

// A repository that belongs to someone else, which git itself would refuse to look
// at, is worked in like any other, and nothing in it changes.
func TestBug_V03_ARepositoryOfSomeoneElse(t *testing.T) {
	p := newPast(t, t.TempDir(), map[string]string{"f": "1\n2\n", ".gitignore": "out\n", "out": "o\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n"})
	for _, name := range []string{"", ".git", ".git/HEAD", ".git/config"} {
		if err := os.Chown(filepath.Join(p.dir, name), 12345, 23456); err != nil {
			t.Skipf("give it away: %v", err)
		}
	}
	zero, git := p.tree(), below(t, filepath.Join(p.dir, ".git"))
	p.change(Edit(p.w), `{"path":"f","old":"1","new":"one"}`)
	p.command(func() { put(t, p.dir, "f", "one\n2\n3\n") })
	if r := p.change(p.undo, `{}`); r.Status != tool.Success {
		t.Fatal(r.Text)
	}
	p.want(zero)
	if now := below(t, filepath.Join(p.dir, ".git")); !maps.Equal(git, now) {
		t.Errorf(".git was %q and is %q", git, now)
	}
}

// Where a text begins again before it has ended, it is in two places, unless it
// comes to the same in both.
func TestEditOfATextThatOverlapsItself(t *testing.T) {
	for _, c := range []struct{ content, old, new, want string }{
		{"aaa\n", "aa", "b", ""},
		{"x\nx\nx\n", "x\nx\n", "x\ny\n", ""},
		{"a\n\n\n\nb\n", "\n\n\n", "\n\n", "a\n\n\nb\n"},
		{"x\nx\nx\n", "x\nx\n", "x\n", "x\nx\n"},
	} {
		d := newDesk(t, map[string]string{"f": c.content})
		d.ok("Read", args{"path": "f"})
		call := args{"path": "f", "old": c.old, "new": c.new}
		if c.want != "" {
			d.ok("Edit", call)
			d.holds("f", c.want)
			continue
		}
		if f := d.fails(tool.Ambiguous, "Edit", call); !strings.Contains(f.Message, "2 times") {
			t.Errorf("%q: %s", c.content, f.Message)
		}
		d.holds("f", c.content)
	}
}

// What names a directory or a link is not taken for a file that it is not.
func TestNamesOfDirectoriesAndLinksAreNotThoseOfFiles(t *testing.T) {
	d := newDesk(t, map[string]string{"real": "1\n", "dir/x": "x\n"})
	if err := os.Symlink("real", filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	d.tools["Patch"] = (&changer{w: d.w, shown: new(shown)}).patch()
	d.ok("Read", args{"path": "real"})
	start := below(t, d.dir)
	for name, patch := range map[string]string{
		"a directory":      "*** Begin Patch\n*** Add File: new/\n+x\n*** End Patch",
		"to a directory":   "*** Begin Patch\n*** Update File: real\n*** Move to: dir/\n@@\n-1\n+2\n*** End Patch",
		"a link":           "*** Begin Patch\n*** Delete File: link\n*** End Patch",
		"a link elsewhere": "*** Begin Patch\n*** Update File: link\n*** Move to: there\n@@\n-1\n+2\n*** End Patch",
	} {
		if f := d.fails(tool.Invalid, "Patch", args{"patch": patch}); f.Hint == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	d.fails(tool.Invalid, "Write", args{"path": "new/", "content": "x"})
	d.fails(tool.Invalid, "Write", args{"path": "real/", "content": "x"})
	if now := below(t, d.dir); !maps.Equal(start, now) {
		t.Errorf("was %q, is %q", start, now)
	}
	if _, err := os.Readlink(filepath.Join(d.dir, "link")); err != nil {
		t.Error(err)
	}
}
