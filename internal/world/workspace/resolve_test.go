package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
