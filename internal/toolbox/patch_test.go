package toolbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// patchDesk is a desk with Patch, where all files have been read.
func patchDesk(t testing.TB, files map[string]string) *desk {
	t.Helper()
	d := newDesk(t, files)
	f := &changer{w: d.w, shown: new(shown)}
	d.tools["Patch"] = f.patch()
	for path := range files {
		text, err := d.w.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		d.seen[path] = text.Digest
		f.shown.put(text.Digest, text.Content)
	}
	return d
}

// tree returns all files below the root of d.
func (d *desk) tree() map[string]string {
	d.t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(d.dir, path)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

const verse = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"

func TestR106_PatchFormats(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		files, want map[string]string
	}{
		{"unified", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", map[string]string{"f": verse}, map[string]string{"f": strings.Replace(verse, "two", "2", 1)}},
		{"unified, no prefix", "--- f\t2026-01-01\n+++ f\t2026-01-02\n@@ -1,3 +1,3 @@ func x\n one\n-two\n+2\n three\n", map[string]string{"f": verse}, map[string]string{"f": strings.Replace(verse, "two", "2", 1)}},
		{"wrong counts", "--- a/f\n+++ b/f\n@@ -1,9 +1,7 @@\n one\n-two\n+2\n three\n\n", map[string]string{"f": verse}, map[string]string{"f": strings.Replace(verse, "two", "2", 1)}},
		{"counts too small", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n three\n", map[string]string{"f": verse}, map[string]string{"f": strings.Replace(verse, "two", "2", 1)}},
		{"offset", "--- a/f\n+++ b/f\n@@ -101,3 +101,3 @@\n five\n-six\n+6\n seven\n", map[string]string{"f": verse}, map[string]string{"f": strings.Replace(verse, "six", "6", 1)}},
		{"the line it names", "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n-x\n+y\n b\n", map[string]string{"f": "x\nb\nx\nb\n"}, map[string]string{"f": "x\nb\ny\nb\n"}},
		{"no numbers", "--- a/f\n+++ b/f\n@@ @@\n one\n-two\n+2\n", map[string]string{"f": verse}, map[string]string{"f": strings.Replace(verse, "two", "2", 1)}},
		{"a removed line that looks like a name", "--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n a\n--- b\n c\n", map[string]string{"f": "a\n-- b\nc\n"}, map[string]string{"f": "a\nc\n"}},
		{"an empty line without its blank", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", map[string]string{"f": "a\n\nc\n"}, map[string]string{"f": "a\n\nC\n"}},
		{"TestBug_E06 no newline", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", map[string]string{"f": "a"}, map[string]string{"f": "b"}},
		{"TestBug_E06 no newline, not said", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", map[string]string{"f": "a"}, map[string]string{"f": "b"}},
		{"a newline added", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", map[string]string{"f": "a"}, map[string]string{"f": "a\n"}},
		{"TestBug_E03 CRLF", "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,3 @@\r\n-a\r\n+A\r\n+A2\r\n b\r\n", map[string]string{"f": "a\r\nb\r\nc\n"}, map[string]string{"f": "A\r\nA2\r\nb\r\nc\n"}},
		{"TestBug_E01 bytes", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-k = 1\n+k = 2\n", map[string]string{"f": "k = 1\n\xC4\xE3\xBA\xC3\n"}, map[string]string{"f": "k = 2\n\xC4\xE3\xBA\xC3\n"}},
		{"git: add, change, remove, move", "diff --git a/new b/new\nnew file mode 100644\nindex 0000000..1234567\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n" +
			"diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n" +
			"diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" +
			"diff --git a/here b/sub/there\nsimilarity index 50%\nrename from here\nrename to sub/there\n--- a/here\n+++ b/sub/there\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n" +
			"diff --git a/m b/n\nsimilarity index 100%\nrename from m\nrename to n\n-- \n2.39\n",
			map[string]string{"f": verse, "old": "gone\n", "here": "x\ny\n", "m": "same"},
			map[string]string{"new": "a\nb\n", "f": "1" + verse[3:], "sub/there": "x\nz\n", "n": "same"}},
		{"git: an empty file", "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\ndiff --git a/g b/g\ndeleted file mode 100644\nindex e69de29..0000000\n", map[string]string{"g": ""}, map[string]string{"e": ""}},
		{"git: a quoted name", "--- \"a/h\\303\\251 \\\"1\\\"\"\n+++ \"b/h\\303\\251 \\\"1\\\"\"\n@@ -1 +1 @@\n-a\n+b\n", map[string]string{"hé \"1\"": "a\n"}, map[string]string{"hé \"1\"": "b\n"}},
		{"begun", "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n three\n*** End Patch", map[string]string{"f": verse}, map[string]string{"f": strings.Replace(verse, "two", "2", 1)}},
		{"begun: all that it has", "*** Begin Patch\n*** Add File: new\n+a\n+\n+b\n*** Delete File: old\n*** Update File: f\n*** Move to: g\n@@ two\n three\n-four\n+4\n@@\n-seven\n+7\n*** End of File\n*** End Patch\n",
			map[string]string{"f": verse, "old": "x"}, map[string]string{"new": "a\n\nb\n", "g": "one\ntwo\nthree\n4\nfive\nsix\n7\n"}},
		{"begun: an anchor says which", "*** Begin Patch\n*** Update File: f\n@@ func b() {\n-\told()\n+\tnew()\n*** End Patch\n",
			map[string]string{"f": "func a() {\n\told()\n}\n\nfunc b() {\n\told()\n}\n\nfunc c() {\n\told()\n}\n"},
			map[string]string{"f": "func a() {\n\told()\n}\n\nfunc b() {\n\tnew()\n}\n\nfunc c() {\n\told()\n}\n"}},
		{"begun: two anchors", "*** Begin Patch\n*** Update File: f\n@@ class B\n@@ def x\n-  1\n+  2\n*** End Patch\n",
			map[string]string{"f": "class A\n def x\n  1\nclass B\n def x\n  1\n"}, map[string]string{"f": "class A\n def x\n  1\nclass B\n def x\n  2\n"}},
		{"begun: lines to the end", "*** Begin Patch\n*** Update File: f\n+more\n*** End Patch\n", map[string]string{"f": "a\n"}, map[string]string{"f": "a\nmore\n"}},
		{"begun: to an end without newline", "*** Begin Patch\n*** Update File: f\n a\n+more\n*** End Patch\n", map[string]string{"f": "a"}, map[string]string{"f": "a\nmore"}},
		{"contexts that share a line", "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n two\n@@\n two\n-three\n+3\n*** End Patch\n", map[string]string{"f": verse}, map[string]string{"f": "1\ntwo\n3" + verse[13:]}},
		{"the ladder: indentation", "*** Begin Patch\n*** Update File: f\n@@\n func a() {\n-    old()\n+    new()\n+    if x {\n+        y()\n+    }\n }\n*** End Patch\n",
			map[string]string{"f": "func a() {\n\told()\n}\n"}, map[string]string{"f": "func a() {\n\tnew()\n\tif x {\n\t\ty()\n\t}\n}\n"}},
		{"the ladder: look-alikes", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n it's\n-a - b\n+a - c\n", map[string]string{"f": "it’s\na – b\n"}, map[string]string{"f": "it’s\na – c\n"}},
		{"the ladder: trailing blanks", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", map[string]string{"f": "a  \nb\t\n"}, map[string]string{"f": "a  \nc\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := patchDesk(t, c.files)
			r := d.ok("Patch", args{"patch": c.patch})
			if diff := cmp.Diff(c.want, d.tree()); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			for _, i := range r.Edits {
				if want, ok := c.want[i.Path]; ok && i.Result != edit.Digest([]byte(want)) || !ok && !i.Remove {
					t.Errorf("the intent %+v does not lead to %q", i, want)
				}
			}
			if strings.Contains(c.name, "ladder") != strings.Contains(r.Text, "inexact match at line") {
				t.Errorf("text %q", r.Text)
			}
		})
	}
}

func TestR113_APatchThatCannotBeAppliedChangesNothing(t *testing.T) {
	good := "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
	update := func(body string) string {
		return "*** Begin Patch\n*** Update File: f\n" + body + "*** End Patch\n"
	}
	for _, c := range []struct {
		name, patch string
		kind        tool.Kind
		says        string
	}{
		{"the second file is not there", good + "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n", tool.NotFound, "patch of none: no such file"},
		{"the second hunk is not there", good + "@@ -5,2 +5,2 @@\n-cinq\n+5\n six\n", tool.NoMatch, "patch of f: hunk 2 of 2: its 2 lines"},
		{"the second file was not read", good + "--- a/unread\n+++ b/unread\n@@ -1 +1 @@\n-a\n+b\n", tool.NotRead, "patch of unread: File not read."},
		{"hunks out of order", update("@@\n-six\n+6\n@@\n-two\n+2\n"), tool.NoMatch, "hunk 2 of 2"},
		{"two places", "--- a/twice\n+++ b/twice\n@@ -9 +9 @@\n-x\n+y\n", tool.Ambiguous, "its lines occur 2 times, at lines 1, 3"},
		{"two places, inexact", "--- a/twice\n+++ b/twice\n@@ -1 +1 @@\n-  x\n+  y\n", tool.Ambiguous, "occur 2 times, but that indentation differs"},
		{"an anchor that is not there", update("@@ nowhere\n-two\n+2\n"), tool.NoMatch, `no line is "nowhere"`},
		{"no context", "--- a/f\n+++ b/f\n@@ -3,0 +4 @@\n+x\n", tool.Invalid, "no lines of context"},
		{"not at the end", update("-two\n+2\n*** End of File\n"), tool.NoMatch, "not in the file"},
		{"no change", update(" two\n"), tool.NoChange, "leaves the file as it is"},
		{"a file that exists", "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n", tool.Stale, "File exists already: f"},
		{"moved to one that exists", "*** Begin Patch\n*** Update File: f\n*** Move to: twice\n-two\n+2\n*** End Patch\n", tool.Stale, "File exists already: twice"},
		{"moved to where it is", "*** Begin Patch\n*** Update File: f\n*** Move to: ./f\n-two\n+2\n*** End Patch\n", tool.Invalid, "where it is"},
		{"one file twice", good + good, tool.Invalid, "names f twice"},
		{"removes not all", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", tool.NoMatch, "leaves 6 lines"},
		{"outside", "*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch\n", tool.OutsideWorkspace, ""},
		{"cut off", "*** Begin Patch\n*** Update File: f\n-two\n+2\n", tool.Invalid, "ends without *** End Patch"},
		{"no file", "@@ -1 +1 @@\n-a\n+b\n", tool.Invalid, "a hunk without a file"},
		{"no patch", "change two to 2", tool.Invalid, "it names no file"},
		{"a strange line", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\nwhat\n", tool.Invalid, "line 6 of the patch"},
		{"a strange line, begun", update("what\n"), tool.Invalid, "line 3 of the patch"},
		{"binary", "diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 1\n", tool.Binary, ""},
		{"a link", "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n", tool.Invalid, "not that of a plain file"},
		{"a copy", "diff --git a/f b/g\ncopy from f\ncopy to g\n", tool.Invalid, "copies"},
		{"a NUL", "*** Begin Patch\n*** Add File: n\n+\x00\n*** End Patch\n", tool.Binary, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := patchDesk(t, map[string]string{"f": verse, "twice": "x\ny\nx\n", "unread": "a\n"})
			delete(d.seen, "unread")
			before := d.tree()
			if f := d.fails(c.kind, "Patch", args{"patch": c.patch}); !strings.Contains(f.Message, c.says) || f.Hint == "" {
				t.Errorf("message %q, hint %q; want %q", f.Message, f.Hint, c.says)
			}
			if diff := cmp.Diff(before, d.tree()); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

// A file of the patch that someone changes meanwhile keeps all of it from
// happening, unless the change can be merged.
func TestR113_R124_PatchesAreAllOrNoneMeanwhile(t *testing.T) {
	const patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n--- a/g\n+++ b/g\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
	d := patchDesk(t, map[string]string{"f": verse, "g": verse})
	a, err := d.prepare("Patch", args{"patch": patch})
	if err != nil {
		t.Fatal(err)
	}
	put(t, d.dir, "g", "uno\ntwo\n")
	if _, err := a.Do(t.Context(), tool.Env{}); err == nil || err.(*tool.Failure).Kind != tool.Stale {
		t.Fatalf("a conflict in the second file: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"f": verse, "g": "uno\ntwo\n"}, d.tree()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	put(t, d.dir, "g", verse+"eight\n")
	r, err := a.Do(t.Context(), tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"f": "1" + verse[3:], "g": "1" + verse[3:] + "eight\n"}, d.tree()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	data := facts[changesData](t, r)
	if len(data.Files) != 2 || data.Files[0].Merged || !data.Files[1].Merged || data.Added != 2 || data.Files[0].Added != 1 {
		t.Errorf("data %+v", data)
	}
}

// Modes are git's: who may execute follows from who may read.
func TestPatchModes(t *testing.T) {
	d := patchDesk(t, map[string]string{"run": "a\n", "stay": "a\n"})
	for path, mode := range map[string]os.FileMode{"run": 0o640, "stay": 0o751} {
		if err := os.Chmod(filepath.Join(d.dir, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	d.ok("Patch", args{"patch": "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n" +
		"diff --git a/stay b/moved\nrename from stay\nrename to moved\n--- a/stay\n+++ b/moved\n@@ -1 +1 @@\n-a\n+b\n" +
		"diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n"})
	for path, want := range map[string]os.FileMode{"run": 0o750, "moved": 0o751, "new": 0o755} {
		info, err := os.Stat(filepath.Join(d.dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	d.fails(tool.NoChange, "Patch", args{"patch": "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"})
}

func TestR053_SettleTellsWhichFilesOfAPatchChanged(t *testing.T) {
	const patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n--- a/g\n+++ /dev/null\n--- /dev/null\n+++ b/h\n@@ -0,0 +1 @@\n+h\n"
	done := "1" + verse[3:]
	for _, c := range []struct {
		name   string
		now    map[string]string
		status tool.Status // "" for nothing done
		says   string
	}{
		{"not begun", map[string]string{"f": verse, "g": "g\n"}, "", ""},
		{"done", map[string]string{"f": done, "h": "h\n"}, tool.Success, "f, g, h hold the change"},
		{"in the middle", map[string]string{"f": done, "g": "g\n"}, tool.Error, "changed: f; not changed: g, h"},
		{"changed by someone", map[string]string{"f": "x", "h": "h\n"}, tool.Error, "f is neither as it was before the change nor as the change makes it; changed: g, h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := patchDesk(t, map[string]string{"f": verse, "g": "g\n"})
			a, err := d.prepare("Patch", args{"patch": patch})
			if err != nil {
				t.Fatal(err)
			}
			for path := range d.tree() {
				os.Remove(filepath.Join(d.dir, path))
			}
			for path, content := range c.now {
				put(t, d.dir, path, content)
			}
			r, err := d.tools["Patch"].(tool.Settler).Settle(t.Context(), tool.Plan{}, a.Fingerprint)
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				r = &tool.Result{}
			}
			if r.Status != c.status || !strings.Contains(r.Text, c.says) {
				t.Errorf("Settle = %s %q, want %s %q", r.Status, r.Text, c.status, c.says)
			}
		})
	}
}

// Whatever asks for a change, the same change is the same intent in what counts:
// from which bytes to which, and nothing outside of what differs. Conflicts, audit
// and undo see no format.
func TestR109_R110_R111_EveryFormatComesToOneIntent(t *testing.T) {
	const before = "package a\r\n\r\nfunc f() {}\r\n// caf\xE9\r\n"
	const after = "package a\r\n\r\nfunc g() {}\r\n// caf\xE9\r\n"
	for name, call := range map[string]args{
		"Edit":      {"path": "a.go", "old": "func f() {}", "new": "func g() {}"},
		"MultiEdit": {"path": "./a.go", "edits": []args{{"old": "f()", "new": "h()"}, {"old": "h()", "new": "g()"}}},
		"Rename":    {"path": "a.go", "symbol": "f", "to": "g"},
		"Patch":     {"patch": "--- a/a.go\n+++ b/a.go\n@@ -3 +3 @@\n-func f() {}\n+func g() {}\n"},
		"Write":     {"path": "a.go"},
	} {
		t.Run(name, func(t *testing.T) {
			d := patchDesk(t, map[string]string{"a.go": before})
			d.tools["Rename"] = Rename(d.w)
			if name == "Write" {
				text, err := d.w.Read("a.go")
				if err != nil {
					t.Fatal(err)
				}
				call["content"] = strings.Replace(text.Content, "func f", "func g", 1)
			}
			if err := os.Chmod(filepath.Join(d.dir, "a.go"), 0o750); err != nil {
				t.Fatal(err)
			}
			r := d.ok(name, call)
			d.holds("a.go", after)
			i := r.Edits[0]
			if len(r.Edits) != 1 || i.Path != "a.go" || i.Base != edit.Digest([]byte(before)) || i.Result != edit.Digest([]byte(after)) || i.Inexact != "" {
				t.Errorf("intents %+v", r.Edits)
			}
			if g := i.Regions[0]; len(i.Regions) != 1 || before[:g.Start]+string(g.New)+before[g.End:] != after || g.End-g.Start > len("func f() {}\r\n") {
				t.Errorf("regions %+v", i.Regions)
			}
			back, err := i.Invert([]byte(before))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.w.Write([]edit.Intent{back}); err != nil {
				t.Fatal(err)
			}
			d.holds("a.go", before)
			if info, err := os.Stat(filepath.Join(d.dir, "a.go")); err != nil || info.Mode().Perm() != 0o750 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

// applied is what a patch of one file makes of its content.
func applied(content, patch string) (string, error) {
	files, err := parsePatch(patch)
	if err != nil {
		return "", err
	}
	splices, _, _, failure := files[0].land(content)
	if failure != nil {
		return "", failure
	}
	return spliced(content, splices), nil
}

// someLines makes a text of lines that repeat, one like a piece of a patch, the
// last at times without a newline.
func someLines(r *rand.Rand, n int) string {
	words := []string{"", "a", "b", "-", "+++ x", "--- y", "@@ -1 +1 @@", " ", "\\ x", "*** End Patch", "c", "d"}
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(words[r.IntN(len(words))] + "\n")
	}
	return strings.TrimSuffix(b.String(), strings.Repeat("\n", r.IntN(2)))
}

// TestR106_ADiffAppliedIsTheOtherText makes a diff of two texts and applies it,
// as it is, with other lines before, and in the other format where that can say
// the same.
func TestR106_ADiffAppliedIsTheOtherText(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	rounds := 5_000
	if soak {
		rounds = 200_000
	}
	moved, refused := 0, 0
	for range rounds {
		a := someLines(r, 30)
		b := a
		for range r.IntN(4) {
			at := r.IntN(len(b) + 1)
			b = b[:at] + someLines(r, 3) + b[at:]
		}
		if r.IntN(5) == 0 {
			b = someLines(r, 30)
		}
		if a == b {
			continue
		}
		diff := udiff.Unified("a/f", "b/f", a, b)
		if got, err := applied(a, diff); err != nil || got != b {
			t.Fatalf("%q patched by %q is %q, %v; want %q", a, diff, got, err, b)
		}
		before := strings.Repeat("other\n", 1+r.IntN(5))
		if a == "" {
			continue
		}
		switch got, err := applied(before+a, diff); {
		case err != nil:
			refused++ // its lines are not the only ones, or it has none
		case got == before+b:
			moved++
		default: // a number that by chance fits another place
			if _, err := applied(a, strings.ReplaceAll(diff, "@@ -", "@@ -9")); err == nil {
				t.Fatalf("%q patched by %q is %q, want %q", before+a, diff, got, before+b)
			}
		}
	}
	if moved < rounds/4 {
		t.Errorf("%d moved, %d refused: too few", moved, refused)
	}
}

// FuzzPatch applies the diff of any two texts.
func FuzzPatch(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("", "x")
	f.Add("x\n", "")
	f.Add("-- \n+++ \n", "--- \n++ \n")
	f.Add("a\r\n\rb", "a\n\rb\r")
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == b || !utf8.ValidString(a) || !utf8.ValidString(b) || strings.Contains(a+b, "\r\n") {
			t.Skip() // a text as it is shown has LF only
		}
		diff := udiff.Unified("a/f", "b/f", a, b)
		if strings.Contains(diff, "\r\n") {
			t.Skip()
		}
		if got, err := applied(a, diff); err != nil || got != b {
			t.Fatalf("%q patched by %q is %q, %v; want %q", a, diff, got, err, b)
		}
	})
}

// FuzzParsePatch reads anything, and lands what can be read.
func FuzzParsePatch(f *testing.F) {
	f.Add("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", verse)
	f.Add("*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@ two\n three\n-four\n+4\n*** End of File\n*** End Patch\n", verse)
	f.Add("diff --git \"a/\\303\" \"b/\\303\"\nnew file mode 100755\n", "")
	f.Fuzz(func(t *testing.T, patch, text string) {
		files, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, p := range files {
			if p.path == "" {
				t.Fatalf("a file without a name in %q", patch)
			}
			splices, _, _, failure := p.land(text)
			if failure != nil {
				continue
			}
			removed, end := 0, 0
			for _, s := range splices {
				if s.start < end || s.end < s.start || s.end > len(text) {
					t.Fatalf("%q in %q: %+v", patch, text, splices)
				}
				end = s.end
				removed += lineCount(text[s.start:s.end])
			}
			most := 0
			for _, h := range p.hunks {
				most += len(h.old)
			}
			if removed > most {
				t.Fatalf("%q in %q takes %d lines, and names %d", patch, text, removed, most)
			}
		}
	})
}

// BenchmarkPatch lands a hunk with an offset in a file of 21,000 lines.
func BenchmarkPatch(b *testing.B) {
	text := tall(7_000)
	patch := fmt.Sprintf("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n \tif x%d {\n-\t\treturn “%d”\n+\t\treturn 0\n \t}\n", 6500, 6500)
	for b.Loop() {
		if _, err := applied(text, patch); err != nil {
			b.Fatal(err)
		}
	}
}
