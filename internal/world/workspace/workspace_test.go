package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// tree makes a workspace of files: path to content. A path that ends in a slash
// is a directory; content "-> x" makes a link to x.
func tree(t *testing.T, files map[string]string) *Workspace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, content := range files {
		put(t, filepath.Join(dir, path), strings.HasSuffix(path, "/"), content)
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func put(t *testing.T, full string, dir bool, content string) {
	t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.Chmod(filepath.Dir(full), 0o755)) // whatever the umask
	target, link := strings.CutPrefix(content, "-> ")
	switch {
	case err != nil:
	case dir:
		err = os.MkdirAll(full, 0o755)
	case link:
		err = os.Symlink(target, full)
	default:
		err = errors.Join(os.WriteFile(full, []byte(content), 0o644), os.Chmod(full, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// onDisk returns what a file of the workspace holds, links followed.
func onDisk(t *testing.T, w *Workspace, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.Root(), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func read(t *testing.T, w *Workspace, path string) Text {
	t.Helper()
	text, err := w.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// replace returns the intent to replace the one place where old stands in the text.
func replace(t *testing.T, text Text, old, replacement string) edit.Intent {
	t.Helper()
	at := strings.Index(text.Content, old)
	if at < 0 {
		t.Fatalf("%q is not in %q", old, text.Content)
	}
	r, err := text.Region(at, at+len(old), replacement)
	if err != nil {
		t.Fatal(err)
	}
	return edit.Intent{Path: text.Path, Base: text.Digest, Regions: []edit.Region{r}}
}

// blocked is a time that only a call takes that waits for someone.
const blocked = 2 * time.Second

// noLeftovers reports temporary files anywhere in the workspace.
func noLeftovers(t *testing.T, w *Workspace) {
	t.Helper()
	err := filepath.WalkDir(w.Root(), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".belay-") {
			t.Errorf("left over: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), false, "x")
	put(t, filepath.Join(dir, "link"), false, "-> .")
	if _, err := Open(filepath.Join(dir, "file")); !errors.Is(err, ErrNotDirectory) || !strings.Contains(err.Error(), "file") {
		t.Errorf("open a file: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open what is not there: %v", err)
	}
	t.Chdir(dir)
	w, err := Open("link")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if want, err := filepath.EvalSymlinks(dir); err != nil || w.Root() != want {
		t.Errorf("root is %s, want %s (%v)", w.Root(), want, err)
	}
}

// A renamed and replaced root redirects nothing: what was opened is what is used.
func TestRootIsHeld(t *testing.T) {
	w := tree(t, map[string]string{"a": "mine\n"})
	moved := w.Root() + "-moved"
	if err := os.Rename(w.Root(), moved); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.Root(), "a"), false, "not mine\n")
	text := read(t, w, "a")
	if text.Content != "mine\n" {
		t.Errorf("read %q", text.Content)
	}
	if _, err := w.Write([]edit.Intent{replace(t, text, "mine", "still mine")}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(moved, "a")); err != nil || string(b) != "still mine\n" {
		t.Errorf("written: %q, %v", b, err)
	}
}

func TestStat(t *testing.T) {
	w := tree(t, map[string]string{"d/": "", "f": "abc", "link": "-> f"})
	info, err := w.Stat("link")
	if err != nil || info.Size() != 3 || !info.Mode().IsRegular() {
		t.Errorf("stat link: %v, %v", info, err)
	}
	if info, err := w.Stat("./d/"); err != nil || !info.IsDir() {
		t.Errorf("stat d: %v, %v", info, err)
	}
	if _, err := w.Stat("none"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "stat none: no such file or directory" {
		t.Errorf("stat none: %v", err)
	}
	if _, err := w.Stat(".."); !errors.Is(err, ErrOutside) {
		t.Errorf("stat ..: %v", err)
	}
}

func TestReadLargestFile(t *testing.T) {
	w := tree(t, map[string]string{"f": strings.Repeat("0123456789abcde\n", MaxFile/16)})
	text := read(t, w, "f")
	if text.Size != MaxFile || len(text.Content) != MaxFile {
		t.Errorf("size %d, content %d", text.Size, len(text.Content))
	}
}
