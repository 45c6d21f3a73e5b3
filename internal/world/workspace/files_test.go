package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walked returns the paths that a walk yields, links with their target, and its errors.
func walked(k *Walk) (paths []string, errs []error) {
	for f, err := range k.Files(context.Background()) {
		switch {
		case err != nil:
			errs = append(errs, err)
		case f.Target != "":
			paths = append(paths, f.Path+" -> "+f.Target)
		default:
			paths = append(paths, f.Path)
		}
	}
	return paths, errs
}

func TestFiles(t *testing.T) {
	w := tree(t, map[string]string{
		"b.txt": "", "a/z.txt": "", "a/b/c.txt": "", "a.txt": "", ".hidden": "", ".dir/x": "", "a/.hidden": "",
		".gitignore": "*.log\n/build/\n!keep.log\n", "x.log": "", "keep.log": "", "build/out": "", "a/build/in": "",
		"a/.gitignore": "b/*\n!b/c.txt\n", "a/b/d.txt": "", ".git/info/exclude": "secret*\n", "secret.txt": "",
		"link": "-> a/z.txt", "dirlink": "-> a", "outlink": "-> /etc/passwd", "broken": "-> none", "bad\xff": "",
	})
	fifo(t, filepath.Join(w.Root(), "fifo"))
	k := w.Walk(".")
	got, errs := walked(k)
	want := []string{"a/b/c.txt", "a/build/in", "a/z.txt", "a.txt", "b.txt", `bad\xFF`, "keep.log", "link -> a/z.txt"}
	if diff := cmp.Diff(want, got); diff != "" || errs != nil {
		t.Errorf("(-want +got):\n%s%v", diff, errs)
	}
	if k.Hidden != 6 || k.Ignored != 4 {
		t.Errorf("left out %d hidden and %d ignored entries, want 6 and 4", k.Hidden, k.Ignored)
	}
	for dir, want := range map[string][]string{
		"a/b": {"a/b/c.txt"}, "./a/../a/build/": {"a/build/in"}, "build": {"build/out"}, ".dir": {".dir/x"}, "dirlink/build": {"a/build/in"},
	} {
		if got, errs := walked(w.Walk(dir)); !cmp.Equal(want, got) || errs != nil {
			t.Errorf("below %s: %v, %v; want %v", dir, got, errs, want)
		}
	}
	for dir, want := range map[string]error{
		"..": ErrOutside, "none": fs.ErrNotExist, "a.txt": ErrNotDirectory, "fifo": ErrNotDirectory,
	} {
		got, errs := walked(w.Walk(dir))
		if len(got) != 0 || len(errs) != 1 || !errors.Is(errs[0], want) {
			t.Errorf("below %s: %v, %v; want %v", dir, got, errs, want)
		}
	}
}

func TestFilesStops(t *testing.T) {
	w := tree(t, map[string]string{"a/1": "", "a/2": "", "b/1": "", "c": ""})
	for f := range w.Files(context.Background(), ".") {
		if f.Path != "a/1" {
			t.Fatalf("went on to %s", f.Path)
		}
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var paths []string
	var last error
	for f, err := range w.Files(ctx, ".") {
		if err == nil {
			paths = append(paths, f.Path)
		}
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) || len(paths) > 2 {
		t.Errorf("%v, then %v", paths, last)
	}
}

func TestFilesBelowARepository(t *testing.T) {
	outer := tree(t, map[string]string{
		".git/info/exclude": "excluded\n", ".gitignore": "*.o\n/sub/ws/anchored\n/anchored2\n", "sub/.gitignore": "ws/x\n",
		"sub/ws/a.o": "", "sub/ws/anchored": "", "sub/ws/anchored2": "", "sub/ws/x": "", "sub/ws/excluded": "", "sub/ws/b": "", "sub/ws/d/x": "",
	})
	w, err := Open(filepath.Join(outer.Root(), "sub", "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	got, errs := walked(w.Walk("."))
	if diff := cmp.Diff([]string{"anchored2", "b", "d/x"}, got); diff != "" || errs != nil {
		t.Errorf("(-want +got):\n%s%v", diff, errs)
	}
}

func TestList(t *testing.T) {
	w := tree(t, map[string]string{
		".gitignore": "*.log\n", "x.log": "abc", "d/": "", "f": "1", "link": "-> d", "out": "-> ..", "broken": "-> none",
	})
	files, err := w.List("./")
	if err != nil {
		t.Fatal(err)
	}
	type shown struct {
		Path, Target    string
		Dir, Link       bool
		Hidden, Ignored bool
	}
	var got []shown
	for _, f := range files {
		got = append(got, shown{f.Path, f.Target, f.Type.IsDir(), f.Type&fs.ModeSymlink != 0, f.Hidden, f.Ignored})
	}
	want := []shown{
		{Path: ".gitignore", Hidden: true}, {Path: "broken", Link: true}, {Path: "d", Dir: true}, {Path: "f"},
		{Path: "link", Target: "d", Link: true}, {Path: "out", Link: true}, {Path: "x.log", Ignored: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, err := files[len(files)-1].Info(); err != nil || info.Size() != 3 {
		t.Errorf("info: %v, %v", info, err)
	}
	if err := os.Remove(filepath.Join(w.Root(), "x.log")); err != nil {
		t.Fatal(err)
	}
	if _, err := files[len(files)-1].Info(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("info of what is gone: %v", err)
	}
}
