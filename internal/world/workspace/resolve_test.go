package workspace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
)

func TestResolve(t *testing.T) {
	w := tree(t, map[string]string{
		"a/b/c.txt": "x", "link": "-> a/b", "up": "-> ../ws/a", "a/b/rel": "-> ../../a/b/c.txt",
		"dangling": "-> a/new.txt", "loop": "-> loop", `back\slash`: "x", "bad\xff": "x",
	})
	if err := os.Symlink(filepath.Join(w.Root(), "a"), filepath.Join(w.Root(), "abs")); err != nil {
		t.Fatal(err)
	}
	outer := filepath.Join(filepath.Dir(w.Root()), "alias")
	if err := os.Symlink(w.Root(), outer); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".": ".", "./": ".", "a/..": ".", w.Root(): ".", w.Root() + "/": ".",
		"a/b/c.txt": "a/b/c.txt", "./a//b/./c.txt": "a/b/c.txt", "a/b/../b/c.txt": "a/b/c.txt", "a/b/": "a/b",
		w.Root() + "/a": "a", outer + "/a/b": "a/b", "../ws/a": "a", "../alias/a": "a",
		"link": "a/b", "link/c.txt": "a/b/c.txt", "link/..": "a", "up/b": "a/b", "abs/b/c.txt": "a/b/c.txt", "link/rel": "a/b/c.txt",
		"new": "new", "new/deep/er": "new/deep/er", "link/new": "a/b/new", "new/../a": "a", "dangling": "a/new.txt",
		`back\\slash`: `back\\slash`, `back\slash`: `back\\slash`, `bad\xFF`: `bad\xFF`, `bad\xff`: `bad\xFF`, `new\x41`: `new\\x41`,
	} {
		if got, err := w.Resolve(path); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]error{
		"..": ErrOutside, "/": ErrOutside, "../ws2": ErrOutside, w.Root() + "2": ErrOutside, "new/../../x": ErrOutside,
		"": fs.ErrInvalid, "a\x00b": fs.ErrInvalid, "loop": syscall.ELOOP, "loop/x": syscall.ELOOP,
		"a/b/c.txt/x": ErrNotDirectory, "a/b/c.txt/..": ErrNotDirectory, strings.Repeat("n", 300): syscall.ENAMETOOLONG,
	} {
		if got, err := w.Resolve(path); !errors.Is(err, want) {
			t.Errorf("Resolve(%q) = %q, %v; want %v", path, got, err, want)
		}
	}
}

func TestNamesAreText(t *testing.T) {
	for name, want := range map[string]string{
		"plain": "plain", "ä日": "ä日", `a\b`: `a\\b`, "\xff\xc3": `\xFF\xC3`, `\xFF`: `\\xFF`, "\uFFFD": "\uFFFD", "\xe6\x97": `\xE6\x97`,
	} {
		if got := text(name); got != want {
			t.Errorf("text(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"plain", "a\\b\\\\c", "\xff\xc3\x28", `\xFF`, `\\xFF`, `\x`, `\xf`, "日\xe6\x97"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := text(s)
		if got := name(shown); got != s {
			t.Fatalf("%q becomes %q and then %q", s, shown, got)
		}
		if strings.ToValidUTF8(shown, "") != shown {
			t.Fatalf("%q becomes %q", s, shown)
		}
		if once := text(name(s)); name(once) != name(s) {
			t.Fatalf("%q is read as %q and written as %q", s, name(s), once)
		}
	})
}

// TestPromise_P11_PathEscape runs what a list of attacks asks for. Nothing may
// be read, listed or written outside; what is allowed must work.
func TestPromise_P11_PathEscape(t *testing.T) {
	list, err := os.ReadFile("testdata/path-escape.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for s := bufio.NewScanner(bytes.NewReader(list)); s.Scan(); rows++ {
		var row escape
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		t.Run(row.ID, row.run)
	}
	if rows < 60 {
		t.Errorf("only %d rows", rows)
	}
}

type escape struct {
	ID, Op, Path, Expect, Why string
	Fixture                   [][]any
	MustNotTouch              []string `json:"must_not_touch"`
}

func (row escape) run(t *testing.T) {
	top := t.TempDir()
	places := strings.NewReplacer("{WS}", filepath.Join(top, "ws"), "{OUT}", filepath.Join(top, "out"), "{T}", top)
	for _, f := range row.Fixture {
		fixture(t, top, places, f)
	}
	before := make(map[string]string)
	for _, path := range row.MustNotTouch {
		b, err := os.ReadFile(places.Replace(path))
		before[path] = string(b) + errorText(err)
	}
	w, err := Open(filepath.Join(top, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	start := time.Now()
	got, err := row.do(w, places.Replace(row.Path))
	if took := time.Since(start); took > blocked {
		t.Errorf("took %v", took)
	}
	if allowed := err == nil; allowed != (row.Expect == "allow") {
		t.Errorf("%s %q: %v, want %s: %s", row.Op, row.Path, err, row.Expect, row.Why)
	}
	if strings.Contains(got, "SECRET") || strings.Contains(got, "secret") {
		t.Errorf("%s %q gave %q", row.Op, row.Path, got)
	}
	for path, was := range before {
		b, err := os.ReadFile(places.Replace(path))
		if is := string(b) + errorText(err); is != was {
			t.Errorf("%s was %q and is %q", path, was, is)
		}
	}
}

// do does what the row asks for and returns all that was learnt by it.
func (row escape) do(w *Workspace, path string) (string, error) {
	switch row.Op {
	case "read":
		text, err := w.Read(path)
		return text.Content, err
	case "list":
		files, err := w.List(path)
		var b strings.Builder
		for _, f := range files {
			b.WriteString(f.Path + "\n")
		}
		return b.String(), err
	case "glob":
		var b strings.Builder
		var errs error
		dir, _, _ := strings.Cut(path, "*")
		for f, err := range w.Files(context.Background(), dir+".") {
			b.WriteString(f.Path + "\n")
			errs = errors.Join(errs, err)
		}
		return b.String(), errs
	}
	intent := edit.Intent{Path: path, Regions: []edit.Region{{Len: 4, New: []byte("evil")}}}
	if text, err := w.Read(path); err == nil {
		intent.Base = text.Digest
	}
	d, err := w.Write([]edit.Intent{intent})
	return d.Unified, err
}

func fixture(t *testing.T, top string, places *strings.Replacer, f []any) {
	t.Helper()
	argument := func(i int) string {
		s, ok := f[i].(string)
		if !ok {
			t.Fatalf("fixture %v", f)
		}
		return places.Replace(s)
	}
	switch kind := argument(0); kind {
	case "file":
		put(t, filepath.Join(top, argument(1)), false, argument(2))
	case "dir":
		put(t, filepath.Join(top, argument(1)), true, "")
	case "symlink":
		put(t, filepath.Join(top, argument(2)), false, "-> "+argument(1))
	case "fifo":
		put(t, filepath.Join(top, "ws"), true, "")
		fifo(t, filepath.Join(top, argument(1)))
	case "chardev":
		put(t, filepath.Join(top, "ws"), true, "")
		device(t, filepath.Join(top, argument(1)))
	default:
		t.Fatalf("fixture %v", f)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
