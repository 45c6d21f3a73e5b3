package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// load reads a file by a Loader.
func load(t testing.TB, w *Workspace, l *Loader, path string) (string, error) {
	t.Helper()
	f, err := w.Entry(path)
	if err != nil {
		t.Fatal(err)
	}
	text, modified, err := l.Load(f)
	if err == nil {
		info, err := w.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if !modified.Equal(info.ModTime()) {
			t.Errorf("%s was modified at %v, and Load says %v", path, info.ModTime(), modified)
		}
	}
	return string(text), err
}

// kinds are files of each kind that there is to a Loader.
var kinds = map[string]string{
	"empty": "", "plain": "a\nb\n", "crlf": "a\r\nb\r\n\r\r\n", "cr": "a\rb", "mixed": "a\r\nb\nc\r\n",
	"mark": "\xEF\xBB\xBFa\r\n", "markonly": "\xEF\xBB\xBF", "nul": "a\x00b", "utf16": "\xFF\xFEa\x00\n\x00",
	"badmark": "\xEF\xBB\xBFa\xFF\r\n", "latin1": "caf\xE9\r\nd\xE9j\xE0 vu\n", "cut": "日本\xE6\x97",
	"chinese": "日本語\r\n", "noise": "\x01\x02\x03\x04\xFE\xFF\x80", "long": strings.Repeat("0123456789\r\n", 20_000),
}

func TestLoadIsRead(t *testing.T) {
	w := tree(t, kinds)
	l := w.Loader()
	for range 2 { // so that each follows each
		for path := range kinds {
			text, readErr := w.Read(path)
			got, err := load(t, w, l, path)
			if got != text.Content || (err == nil) != (readErr == nil) || readErr != nil && err.Error() != readErr.Error() {
				t.Errorf("%s: Load gives %.40q, %v; Read %.40q, %v", path, got, err, text.Content, readErr)
			}
		}
	}
}

// FuzzShown compares the short way to a text with the long one.
func FuzzShown(f *testing.F) {
	for _, s := range kinds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		code := detect(raw)
		want := ""
		if code != nil {
			want = decode(raw, code).Content
		}
		got, err := Shown(raw)
		if string(got) != want || errors.Is(err, ErrBinary) != (code == nil) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	})
}

func TestLoadRefusesWhatReadRefuses(t *testing.T) {
	w := tree(t, map[string]string{"d/": "", "f": "x"})
	l := w.Loader()
	if err := os.Truncate(filepath.Join(w.Root(), "f"), MaxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, w, l, "f"); !errors.Is(err, ErrTooLarge) || !strings.HasPrefix(err.Error(), "read f: ") {
		t.Errorf("a large file: %v", err)
	}
	if _, err := load(t, w, l, "d"); !errors.Is(err, ErrIsDirectory) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := w.Entry("../f"); !errors.Is(err, ErrOutside) {
		t.Errorf("an entry outside: %v", err)
	}
	if _, err := w.Entry("g"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an entry that is not there: %v", err)
	}
}

// A link that takes the place of a directory or a file after it was found leads
// nowhere.
func TestLoadFollowsNoLinkPutInAfterwards(t *testing.T) {
	w := tree(t, map[string]string{"d/f": "mine\n", "g": "mine\n"})
	outside := t.TempDir()
	put(t, filepath.Join(outside, "f"), false, "not mine\n")
	l := w.Loader()
	for path, link := range map[string]string{"d/f": "d", "g": "g"} {
		f, err := w.Entry(path)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(w.Root(), link)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		target := outside
		if link == path {
			target = filepath.Join(outside, "f")
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
		if text, _, err := l.Load(f); err == nil {
			t.Errorf("%s is read through a link: %q", path, text)
		}
	}
}

// A large file leaves no large buffer behind.
func TestLoadKeepsNoLargeBuffer(t *testing.T) {
	w := tree(t, map[string]string{"large": strings.Repeat("0123456789abcde\n", 2*maxKept/16), "small": "x\n"})
	l := w.Loader()
	for _, path := range []string{"large", "small"} {
		if _, err := load(t, w, l, path); err != nil {
			t.Fatal(err)
		}
	}
	if cap(l.buf) > maxKept {
		t.Errorf("a buffer of %d bytes is kept, want at most %d", cap(l.buf), maxKept)
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a/b/c/f"), []byte(strings.Repeat("0123456789abcde\n", 800)), 0o644); err != nil {
		b.Fatal(err)
	}
	w, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	l := w.Loader()
	f, err := w.Entry("a/b/c/f")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := l.Load(f); err != nil {
			b.Fatal(err)
		}
	}
}
