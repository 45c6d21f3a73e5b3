package toolbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestR115_EditAnswersTheDiff(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": greeting})
	d.ok("Read", args{"path": "a.go"})
	call := args{"path": "./a.go", "old": `"helo"`, "new": `"hello"`}
	a, err := d.prepare("Edit", call)
	if err != nil {
		t.Fatal(err)
	}
	if a.Summary != "Edit a.go (+1 -1)" || !strings.Contains(a.Preview, `+func Hello() string { return "hello" }`) {
		t.Errorf("summary %q, preview %q", a.Summary, a.Preview)
	}
	d.holds("a.go", greeting)

	r := d.ok("Edit", call)
	const want = "package greet\n\nfunc Hello() string { return \"hello\" }\n"
	d.holds("a.go", want)
	const text = `edited a.go (+1 -1)
--- a/a.go
+++ b/a.go
@@ -1,3 +1,3 @@
 package greet
 
-func Hello() string { return "helo" }
+func Hello() string { return "hello" }
`
	if d := cmp.Diff(text, r.Text); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
	digest := edit.Digest([]byte(want))
	if d := cmp.Diff(changeData{Path: "a.go", Added: 1, Removed: 1, Replacements: 1, Digest: digest}, facts[changeData](t, r)); d != "" {
		t.Errorf("data (-want +got):\n%s", d)
	}
	intent := []edit.Intent{{
		Path: "a.go", Base: edit.Digest([]byte(greeting)), Result: digest,
		Regions: []edit.Region{{Start: 48, End: 48, Len: 1, Old: []byte{}, New: []byte("l")}},
	}}
	if d := cmp.Diff(intent, r.Edits); d != "" {
		t.Errorf("edits (-want +got):\n%s", d)
	}
	d.ok("Edit", args{"path": "a.go", "old": "hello", "new": "hi"}) // the model knows the file as it left it
}

func TestR058_R112_R118_NoEditWithoutARead(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": greeting, "b.go": "b\n"})
	d.ok("Grep", args{"pattern": "helo"}) // shows lines, gives no digest
	for _, c := range []struct {
		name string
		args args
	}{
		{"Edit", args{"path": "a.go", "old": "helo", "new": "hello"}},
		{"MultiEdit", args{"path": "a.go", "edits": []args{{"old": "helo", "new": "hello"}}}},
		{"Write", args{"path": "a.go", "content": "x"}},
	} {
		f := d.fails(tool.NotRead, c.name, c.args)
		if f.Message != "File not read. You must read before editing." || !strings.Contains(f.Hint, "read a.go") {
			t.Errorf("%s: %q, %q", c.name, f.Message, f.Hint)
		}
	}
	d.holds("a.go", greeting)
	d.ok("Read", args{"path": "a.go", "limit": 3})
	d.ok("Edit", args{"path": "a.go", "old": "helo", "new": "hello"})
	d.fails(tool.NotFound, "Edit", args{"path": "c.go", "old": "a", "new": "b"})
	d.fails(tool.IsDirectory, "Edit", args{"path": ".", "old": "a", "new": "b"})
}

func TestR043_R119_R120_AStaleFileMustBeReadAgain(t *testing.T) {
	const changed = "package greet\n\nfunc Hello() string { return \"helo\" + name }\n"
	d := newDesk(t, map[string]string{"a.go": greeting})
	d.ok("Read", args{"path": "a.go"})
	call := args{"path": "a.go", "old": "helo", "new": "hello"}
	prepared, err := d.prepare("Edit", call)
	if err != nil {
		t.Fatal(err)
	}
	put(t, d.dir, "a.go", changed)
	digests := fmt.Sprintf(`{"expected_sha256":%q,"actual_sha256":%q`, edit.Digest([]byte(greeting)), edit.Digest([]byte(changed)))
	check := func(f *tool.Failure) {
		t.Helper()
		if !strings.HasPrefix(f.Message, "File changed since last read: a.go") || !strings.HasPrefix(string(f.Detail), digests) || f.Hint != readAgain {
			t.Errorf("%q, %s, %q; want the detail %s", f.Message, f.Detail, f.Hint, digests)
		}
	}
	check(d.fails(tool.Stale, "Edit", call))
	check(d.fails(tool.Stale, "Write", args{"path": "a.go", "content": "x"}))
	check(d.fails(tool.Stale, "Edit", call)) // failing is no reading

	_, err = prepared.Do(t.Context(), tool.Env{}) // changed after it was prepared
	f, ok := err.(*tool.Failure)
	if !ok || f.Kind != tool.Stale {
		t.Fatalf("Do on a changed file: %v, want stale", err)
	}
	check(f)
	d.holds("a.go", changed)

	d.tools["Edit"] = Edit(d.w) // which does not remember what Read has shown
	put(t, d.dir, "a.go", greeting+"// more\n")
	if f := d.fails(tool.Stale, "Edit", call); f.Message != "File changed since last read: a.go" {
		t.Errorf("message %q", f.Message)
	}
	put(t, d.dir, "a.go", changed)
	d.ok("Read", args{"path": "a.go"})
	d.ok("Edit", call)
	d.holds("a.go", strings.Replace(changed, "helo", "hello", 1))
}

// A touched or rewritten file with the same bytes is not stale.
func TestBug_E13_OnlyBytesMakeAFileStale(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": greeting})
	d.ok("Read", args{"path": "a.go"})
	if err := os.Remove(filepath.Join(d.dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	put(t, d.dir, "a.go", greeting)
	d.ok("Edit", args{"path": "a.go", "old": "helo", "new": "hello"})
}

func TestR105_R114_EditKeepsEveryOtherByte(t *testing.T) {
	const template = "s = \"$& $$ $1 ${0} \\1\""
	for _, c := range []struct{ name, content, old, new, want string }{
		{"TestBug_E01", "k = 1\n\xC4\xE3\xBA\xC3\n", "k = 1", "k = 2", "k = 2\n\xC4\xE3\xBA\xC3\n"},
		{"TestBug_E02", "\xEF\xBB\xBFabc\n", "abc", "abcd", "\xEF\xBB\xBFabcd\n"},
		{"TestBug_E03", "a\r\nb\r\nc\r\n", "a\nb", "a\nB\nb2", "a\r\nB\r\nb2\r\nc\r\n"},
		{"TestBug_E03 old with CRLF", "a\r\nb\r\n", "a\r\nb", "A\nb", "A\r\nb\r\n"},
		{"TestBug_E03 mixed", "a\r\nb\nc\r\n", "b", "B", "a\r\nB\nc\r\n"},
		{"TestBug_E04", "mark = 0", "mark = 0", template, template},
		{"TestBug_E04 CRLF", "mark = 0\r\nx\r\n", "mark = 0", template, template + "\r\nx\r\n"},
		{"TestBug_E06", `{"a":1}`, "1", "2", `{"a":2}`},
		{"TestBug_E15 tab to spaces", "\tfoo\n", "\tfoo", "    foo", "    foo\n"},
		{"TestBug_E15 trailing space", "foo \nbar\n", "foo ", "foo", "foo\nbar\n"},
		{"removal", "a\nb\nc\n", "b\n", "", "a\nc\n"},
		{"whole file", "a", "a", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"f": c.content})
			d.ok("Read", args{"path": "f"})
			d.ok("Edit", args{"path": "f", "old": c.old, "new": c.new})
			d.holds("f", c.want)
		})
	}
}

func TestBug_E04_NewTextIsLiteralWithAll(t *testing.T) {
	const template = "$& $$ $1 ${0} \\1"
	d := newDesk(t, map[string]string{"f": "a x a\na\n"})
	d.ok("Read", args{"path": "f"})
	r := d.ok("Edit", args{"path": "f", "old": "a", "new": template, "all": true})
	d.holds("f", template+" x "+template+"\n"+template+"\n")
	if n := facts[changeData](t, r).Replacements; n != 3 {
		t.Errorf("%d replacements, want 3", n)
	}
}

func TestEditSaysWhyItDoesNotMatch(t *testing.T) {
	const content = "func a() {\n\told()\n}\n\nfunc b() {\n\told()\n}\n"
	for _, c := range []struct {
		name      string
		kind      tool.Kind
		edit      args
		says, and string
	}{
		{"not there", tool.NoMatch, args{"old": "func c()", "new": "x"}, "old is not in the file", "copy them exactly"},
		{"other spaces", tool.NoMatch, args{"old": "    old()\n}", "new": "x"}, "old is not in the file", "indentation differs, and it is alike at lines 2, 6"},
		{"other words", tool.NoMatch, args{"old": "old()\n\tmore()\n}", "new": "x"}, "old is not in the file", `nearest to line 1, where line 1 is "func a() {"`},
		{"with line numbers", tool.NoMatch, args{"old": "1\tfunc a() {\n2\t\told()", "new": "x"}, "old is not in the file", "leave out the line numbers"},
		{"twice", tool.Ambiguous, args{"old": "old()", "new": "x"}, "old occurs 2 times, at lines 2, 6", "or set all"},
		{"the same", tool.NoChange, args{"old": "old()", "new": "old()"}, "the same", ""},
		{"the same but for all", tool.NoChange, args{"old": "old()", "new": "old()", "all": true}, "the same", ""},
		{"empty", tool.Invalid, args{"old": "", "new": "x"}, "old is empty", "Write"},
		{"NUL", tool.Binary, args{"old": "func a", "new": "x\x00"}, "NUL", ""},
		// a match that is anchored at both ends would swallow what is between
		{"TestBug_E09", tool.NoMatch, args{"old": "func a() {\n\tbody()\n}", "new": "x"}, "old is not in the file", `nearest to line 1, where line 2 is "\told()"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"f": content})
			d.ok("Read", args{"path": "f"})
			c.edit["path"] = "f"
			f := d.fails(c.kind, "Edit", c.edit)
			if !strings.Contains(f.Message, c.says) || !strings.Contains(f.Hint, c.and) {
				t.Errorf("message %q, hint %q; want %q, %q", f.Message, f.Hint, c.says, c.and)
			}
			d.holds("f", content)
		})
	}
}

// The second of two calls that were prepared together finds the file changed.
func TestBug_E10_TheSecondOfTwoEditsIsStale(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "B1\n"})
	d.ok("Read", args{"path": "f"})
	first, err := d.prepare("Edit", args{"path": "f", "old": "B1", "new": "B2"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.prepare("Edit", args{"path": "f", "old": "B1", "new": "B3"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Do(t.Context(), tool.Env{}); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Do(t.Context(), tool.Env{}); err == nil || err.(*tool.Failure).Kind != tool.Stale {
		t.Errorf("the second edit: %v, want stale", err)
	}
	d.holds("f", "B2\n")
}

func TestBug_E11_EditThroughALinkChangesItsTarget(t *testing.T) {
	d := newDesk(t, map[string]string{"real.txt": "v1\n"})
	for link, target := range map[string]string{"link": "real.txt", "chain": "link"} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	d.ok("Read", args{"path": "chain"})
	call := args{"path": "link", "old": "v1", "new": "v2"}
	a, err := d.prepare("Edit", call)
	if err != nil {
		t.Fatal(err)
	}
	if a.Parts[0].Name != "real.txt" || a.Effects()[1].On != "real.txt" {
		t.Errorf("the action declares %+v, want what is written, real.txt", a.Parts)
	}
	d.ok("Edit", call)
	d.holds("real.txt", "v2\n")
	if target, err := os.Readlink(filepath.Join(d.dir, "link")); err != nil || target != "real.txt" {
		t.Errorf("the link is now %q, %v", target, err)
	}
}

func TestR123_MultiEditIsAllOrNothing(t *testing.T) {
	const content = "a\nb\nc\n"
	d := newDesk(t, map[string]string{"f": content})
	d.ok("Read", args{"path": "f"})
	f := d.fails(tool.NoMatch, "MultiEdit", args{"path": "f", "edits": []args{{"old": "a", "new": "A"}, {"old": "x", "new": "y"}}})
	if !strings.Contains(f.Message, "edit 2 of 2") || !strings.Contains(f.Message, "none was made") {
		t.Errorf("message %q", f.Message)
	}
	d.fails(tool.NoChange, "MultiEdit", args{"path": "f", "edits": []args{{"old": "a", "new": "A"}, {"old": "A", "new": "a"}}})
	d.fails(tool.Invalid, "MultiEdit", args{"path": "f", "edits": []args{}})
	d.holds("f", content)

	r := d.ok("MultiEdit", args{"path": "f", "edits": []args{
		{"old": "a\nb", "new": "one\ntwo"}, // over two lines
		{"old": "two\nc", "new": "2\n3"},   // over a new line and an old one
		{"old": "one", "new": "1"},         // inside what is new
	}})
	d.holds("f", "1\n2\n3\n")
	if n := facts[changeData](t, r).Replacements; n != 3 {
		t.Errorf("%d replacements, want 3", n)
	}
}

func TestR117_WriteNeverOverwritesWhatWasNotRead(t *testing.T) {
	d := newDesk(t, map[string]string{"a": "user's own\r\nwork\r\n"})
	d.fails(tool.NotRead, "Write", args{"path": "a", "content": "mine\n"})
	d.holds("a", "user's own\r\nwork\r\n")

	made, err := d.prepare("Write", args{"path": "new", "content": "mine\n"})
	if err != nil {
		t.Fatal(err)
	}
	put(t, d.dir, "new", "the user was faster\n")
	if _, err := made.Do(t.Context(), tool.Env{}); err == nil || err.(*tool.Failure).Kind != tool.Stale {
		t.Errorf("a file that came into being meanwhile: %v, want stale", err)
	}
	d.holds("new", "the user was faster\n")
}

func TestR104_WriteMakesAndReplacesFiles(t *testing.T) {
	d := newDesk(t, map[string]string{"a": "one\r\ntwo\r\n", "blob": "\x00"})
	r := d.ok("Write", args{"path": "x/y/z.txt", "content": "new\r\nfile"})
	d.holds("x/y/z.txt", "new\r\nfile")
	if r.Text != "created x/y/z.txt (+2 -0)\n" || !facts[changeData](t, r).Created {
		t.Errorf("text %q, data %s", r.Text, r.Data)
	}
	d.ok("Edit", args{"path": "x/y/z.txt", "old": "new", "new": "old"}) // what it wrote, it knows

	d.ok("Read", args{"path": "a"})
	d.fails(tool.NoChange, "Write", args{"path": "a", "content": "one\ntwo\n"})
	d.ok("Write", args{"path": "a", "content": "one\ntwo\nthree\n"})
	d.holds("a", "one\r\ntwo\r\nthree\r\n")

	d.fails(tool.Binary, "Write", args{"path": "blob", "content": "x"})
	d.fails(tool.Binary, "Write", args{"path": "b", "content": "x\x00"})
	d.fails(tool.IsDirectory, "Write", args{"path": "x", "content": "x"})
	d.fails(tool.NotFound, "Write", args{"path": "a/b", "content": "x"})
	d.fails(tool.OutsideWorkspace, "Write", args{"path": "../b", "content": "x"})
}

func TestR053_SettleTellsHowAChangeEnded(t *testing.T) {
	for _, c := range []struct {
		name, now string
		want      *tool.Result
	}{
		{"not begun", "old\n", nil},
		{"done", "new\n", &tool.Result{Status: tool.Success, Seen: map[string]string{"f": edit.Digest([]byte("new\n"))}}},
		{"changed by somebody", "other\n", &tool.Result{Status: tool.Error}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"f": "old\n"})
			d.ok("Read", args{"path": "f"})
			a, err := d.prepare("Edit", args{"path": "f", "old": "old", "new": "new"})
			if err != nil {
				t.Fatal(err)
			}
			put(t, d.dir, "f", c.now)
			got, err := d.tools["Edit"].(tool.Settler).Settle(t.Context(), tool.Plan{}, a.Fingerprint)
			if err != nil {
				t.Fatal(err)
			}
			if (got == nil) != (c.want == nil) {
				t.Fatalf("Settle = %+v, want %+v", got, c.want)
			}
			if got == nil {
				return
			}
			if got.Status != c.want.Status || !cmp.Equal(got.Seen, c.want.Seen) {
				t.Errorf("Settle = %+v, want %+v", got, c.want)
			}
			if got.Status == tool.Error && got.Failure.Kind != tool.Stale {
				t.Errorf("failure %+v, want stale", got.Failure)
			}
		})
	}
	s := newDesk(t, nil).tools["Edit"].(tool.Settler)
	if _, err := s.Settle(t.Context(), tool.Plan{}, json.RawMessage("{")); err == nil {
		t.Error("a fingerprint that is no JSON settles something")
	}
}

// FuzzEditMatch compares edits with a dumb oracle: replacing bytes in a slice,
// one after the other.
func FuzzEditMatch(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nb", "x", "x\nc", "y", false)
	f.Add("aaaa", "aa", "b", "b", "aa", true)
	f.Add("日本\n日本", "本", "語", "語\n日", "", true)
	f.Add("abc", "b", "", "ac", "ca", false)
	d := newDesk(f, map[string]string{"f": ""})
	f.Fuzz(func(t *testing.T, content, old1, new1, old2, new2 string, all bool) {
		for _, s := range []string{content, old1, new1, old2, new2} {
			if strings.ContainsAny(s, "\r\x00\uFEFF\uFFFD") || !utf8.ValidString(s) {
				t.Skip() // what is not kept byte for byte is another test's
			}
		}
		put(t, d.dir, "f", content)
		text, err := d.w.Read("f")
		if err != nil || text.Content != content {
			t.Skip()
		}
		e := editor{overlay: over(content)}
		for _, r := range []replacement{{old1, new1, all}, {old2, new2, all}} {
			before := e.String()
			n := strings.Count(before, r.Old)
			possible := r.Old != "" && r.Old != r.New && (n == 1 || n > 1 && all)
			failure := e.apply("", r)
			after := e.String()
			switch {
			case failure == nil && possible:
				if want := strings.ReplaceAll(before, r.Old, r.New); after != want {
					t.Fatalf("edit of %q by %+v gives %q, want %q", before, r, after, want)
				}
			case failure == nil && n == 0 && len(e.rungs) > 0:
				checkLoose(t, before, after, r.Old)
			case failure == nil || possible:
				t.Fatalf("edit of %q by %+v: %v, want possible %t", before, r, failure, possible)
			case before != after:
				t.Fatalf("edit of %q by %+v fails, and makes %q", before, r, after)
			}
		}
		v, err := target{Text: text, known: text.Digest, base: content}.revise(e.splices(), refuse)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Apply([]byte(content))
		if err != nil || string(got) != e.String() || v.after != e.String() {
			t.Fatalf("edits of %q give %q, %q, %v; want %q", content, got, v.after, err, e.String())
		}
	})
}

// checkLoose checks what holds of a match that was not exact: it takes no more
// lines than were sent, and leaves all others alone.
func checkLoose(t testing.TB, before, after, old string) {
	t.Helper()
	b, a := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for len(b) > 0 && len(a) > 0 && b[0] == a[0] {
		b, a = b[1:], a[1:]
	}
	for len(b) > 0 && len(a) > 0 && b[len(b)-1] == a[len(a)-1] {
		b, a = b[:len(b)-1], a[:len(a)-1]
	}
	if most := len(strings.SplitAfter(old, "\n")); len(b) > most {
		t.Fatalf("%q became %q: %d lines are not as before, and %q has %d", before, after, len(b), old, most)
	}
}

// A change that no record has room for is refused before memory or the log is
// filled with it.
func TestEditRefusesWhatNoRecordHolds(t *testing.T) {
	many := strings.Repeat("x\n", maxReplaced+1)
	d := newDesk(t, map[string]string{"many": many, "large": strings.Repeat("x\n", 40_000)})
	d.call("Read", args{"path": "many"}) // a page of it
	d.call("Read", args{"path": "large"})
	d.fails(tool.TooLarge, "Edit", args{"path": "many", "old": "x", "new": "y", "all": true})
	d.fails(tool.TooLarge, "Edit", args{"path": "large", "old": "x", "new": strings.Repeat("y", 2000), "all": true})
	d.fails(tool.TooLarge, "MultiEdit", args{"path": "large", "edits": []args{
		{"old": "x", "new": "y", "all": true}, {"old": "y", "new": "z", "all": true}, {"old": "z", "new": "x", "all": true},
	}})
	d.holds("many", many)
}

func TestLongPreviewsAreCutAndStillDiffer(t *testing.T) {
	a := strings.Repeat("é", maxPreview)
	b := a[:maxPreview] + "x" + a[maxPreview:]
	p, q := previewed(a), previewed(b)
	if p == q || len(p) > maxPreview+200 || !utf8.ValidString(p) || !strings.Contains(p, " of 16777216 bytes of the change left out") {
		t.Errorf("equal: %t, %d bytes, %t", p == q, len(p), utf8.ValidString(p))
	}
	if previewed("short") != "short" {
		t.Error("a short one is changed")
	}
}
