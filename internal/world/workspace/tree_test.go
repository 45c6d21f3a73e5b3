package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTreeYieldsAllThatIsNotIgnored(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		".git/HEAD": "x", ".gitignore": "*.o\n/out/\n!keep.o\n", "a.go": "a", "a.o": "o", "keep.o": "k", "out/x": "x",
		".hidden/y": "y", "sub/.git": "gitdir: x", "sub/in": "in", "sub/.gitignore": "z\n", "sub/z": "z", "z": "z",
		Temp(): "half a write", "\xff": "odd",
	} {
		at := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	w, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var got []string
	for e, err := range w.Tree(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		what := ""
		if e.Info.IsDir() {
			what = "/"
		} else if e.Info.Mode()&fs.ModeSymlink != 0 {
			what, err = e.Target()
			what = " -> " + what
		} else if c, e := e.Content(); len(c.Bytes) == 0 {
			err = errors.Join(e, errors.New("no bytes"))
		}
		if err != nil {
			t.Errorf("%s: %v", e.Path, err)
		}
		got = append(got, e.Path+what)
	}
	slices.Sort(got)
	want := []string{".gitignore", ".hidden/", ".hidden/y", `\xFF`, "a.go", "keep.o", "link -> /etc", "sub/", "sub/.gitignore", "sub/in", "z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range w.Tree(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of ctx: %v", err)
		}
	}
}

func TestPruneRemovesWhatIsEmptyAndNoMore(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"a/b/c/d", "x/y/z"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "x/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, p := range []struct {
		path string
		n    int
	}{{"a/b/c/d/gone", 2}, {"x/y/z/gone", 9}, {"x/y/z/gone", 9}, {"top", 3}} {
		if err := w.Prune(p.path, p.n); err != nil {
			t.Errorf("%s: %v", p.path, err)
		}
	}
	for dir, want := range map[string]bool{"a/b": true, "a/b/c": false, "x": true, "x/y": false} {
		if _, err := os.Stat(filepath.Join(root, dir)); (err == nil) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// Only what Write makes is left out of the tree: a name that begins like one of
// those is the user's.
func TestOursIsWhatWriteMakes(t *testing.T) {
	temp := Temp()
	for name, ours := range map[string]bool{
		temp: true, tempOf(temp, 12): true, asideOf(temp): true, asideOf(tempOf(temp, 3)): true,
		".belay": false, ".belay-": false, ".belay-notes": false, temp[:len(temp)-1]: false, temp + "x": false, "a" + temp: false,
	} {
		if isOurs(name) != ours {
			t.Errorf("%s is ours: %t", name, !ours)
		}
	}
}
