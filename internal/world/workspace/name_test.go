package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// TestBug_G07 takes names that are hard to write through everything that gives or
// takes a path: each must come back as it was given, and lead to its own file.
func TestBug_G07_EveryNameThatExistsCanBeNamed(t *testing.T) {
	odd := []string{
		"文档.txt", "a b.txt", "tab\t.txt", "new\nline.txt", `q"uote.txt`, " lead", "trail ", "bad\xff.txt", "\xc3\x28", "e\u0301.txt", "\u00e9.txt",
		"u\u2028.txt", `back\slash`, `\xFF`, `\\`, "-rf", "$HOME", "a'b;c", "[x]*?", "~", "\u202Egnp.exe", "\x1b[31m", "\uFFFD", strings.Repeat("長", 80),
	}
	files := make(map[string]string)
	for _, name := range odd {
		files["d/"+name] = fmt.Sprintf("%x\n", name)
		files["in "+name+"/f"] = fmt.Sprintf("below %x\n", name)
	}
	w := tree(t, files)
	listed, err := w.List("d")
	if err != nil {
		t.Fatal(err)
	}
	var walked []string
	for f, err := range w.Files(context.Background(), ".") {
		if err != nil {
			t.Fatal(err)
		}
		walked = append(walked, f.Path)
	}
	if len(listed) != len(odd) || len(walked) != 2*len(odd) {
		t.Fatalf("%d of %d are listed, %d of %d walked", len(listed), len(odd), len(walked), 2*len(odd))
	}
	for _, f := range listed {
		if !slices.Contains(walked, f.Path) {
			t.Errorf("%q is listed and not walked", f.Path)
		}
	}
	for _, path := range walked {
		if at, err := w.Resolve(path); err != nil || at != path {
			t.Errorf("%q is resolved as %q, %v", path, at, err)
		}
		text, err := w.Read(path)
		if err != nil || files[filepath.ToSlash(name(path))] != text.Content || text.Path != path {
			t.Fatalf("%q holds %q, %v", path, text.Content, err)
		}
		d, err := w.Write([]edit.Intent{replace(t, text, "\n", "!\n")})
		if err != nil {
			t.Fatalf("write %q: %v", path, err)
		}
		after := edit.Digest([]byte(text.Content[:len(text.Content)-1] + "!\n"))
		if diff := cmp.Diff(map[string]string{path: after}, d.Digests); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
	for at, was := range files {
		if b, err := os.ReadFile(filepath.Join(w.Root(), at)); err != nil || string(b) != was[:len(was)-1]+"!\n" {
			t.Errorf("%q holds %q, %v", at, b, err)
		}
	}
	noLeftovers(t, w)
}

// A new file gets the name that was asked for, and one file made for each of two
// names that look alike.
func TestBug_G07_NamesThatLookAlikeAreTwo(t *testing.T) {
	w := tree(t, nil)
	for _, path := range []string{"e\u0301", "\u00e9", `a\\b`, `x\xFF`, "ſ", "s"} {
		if _, err := w.Write([]edit.Intent{create(path, path)}); err != nil {
			t.Errorf("create %q: %v", path, err)
		}
	}
	var got []string
	entries, err := os.ReadDir(w.Root())
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{`a\b`, "e\u0301", "s", "x\xff", "\u00e9", "ſ"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestBug_A04: a folder beside the workspace whose name begins with the
// workspace's is not in it.
func TestBug_A04_ASiblingIsOutside(t *testing.T) {
	w := tree(t, map[string]string{"a/x": "in\n"})
	sibling := w.Root() + "-other"
	put(t, filepath.Join(sibling, "x"), false, "SECRET\n")
	put(t, filepath.Join(w.Root(), "link"), false, "-> "+sibling)
	base := filepath.Base(sibling)
	for _, path := range []string{
		"../" + base + "/x", sibling, sibling + "/x", w.Root() + "/../" + base + "/x", w.Root() + "/./a/../../" + base + "/x", "link/x", "a/../link/x",
	} {
		if at, err := w.Resolve(path); !errors.Is(err, ErrOutside) {
			t.Errorf("resolve %s: %s, %v", path, at, err)
		}
		if text, err := w.Read(path); !errors.Is(err, ErrOutside) {
			t.Errorf("read %s: %q, %v", path, text.Content, err)
		}
		if _, err := w.List(path); !errors.Is(err, ErrOutside) {
			t.Errorf("list %s: %v", path, err)
		}
		if _, err := w.Write([]edit.Intent{create(path, "evil")}); !errors.Is(err, ErrOutside) {
			t.Errorf("create %s: %v", path, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(sibling, "x")); err != nil || string(b) != "SECRET\n" {
		t.Errorf("the sibling holds %q, %v", b, err)
	}
}
