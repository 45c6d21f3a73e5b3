package workspace

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Whatever a crash leaves of a change, Clear takes away, and loses nothing that
// someone else saved meanwhile.
func TestClear(t *testing.T) {
	const (
		old, new = "old\n", "new\n"
		temp     = ".belay-T"
	)
	change := edit.Intent{Path: "d/f", Base: edit.Digest([]byte(old)), Result: edit.Digest([]byte(new))}
	create := edit.Intent{Path: "d/f", Result: edit.Digest([]byte(new))}
	relink, unlink := change, edit.Intent{Path: "d/f", Base: change.Base, Remove: true, Was: edit.Link}
	relink.Mode, relink.Was = edit.Link, edit.Link
	makeLink := create
	makeLink.Mode = edit.Link
	type files map[string]string
	for _, tt := range []struct {
		name       string
		edit       edit.Intent
		left, want files
		stale      bool
	}{
		{"nothing was left", change, files{"d/f": old}, files{"d/f": old}, false},
		{"before it was written", change, files{"d/f": old, "d/.belay-T": ""}, files{"d/f": old}, false},
		{"half written", change, files{"d/f": old, "d/.belay-T": "ne"}, files{"d/f": old}, false},
		{"not exchanged", change, files{"d/f": old, "d/.belay-T": new}, files{"d/f": old}, false},
		{"exchanged", change, files{"d/f": new, "d/.belay-T": old}, files{"d/f": new}, false},
		{"exchanged for what someone saved", change, files{"d/f": new, "d/.belay-T": "theirs"}, files{"d/f": "theirs"}, false},
		{"saved before and after", change, files{"d/f": "later", "d/.belay-T": "theirs"}, files{"d/f": "later", "d/.belay-T": "theirs"}, true},
		{"saved after it was exchanged", change, files{"d/f": "theirs", "d/.belay-T": old}, files{"d/f": "theirs"}, false},
		{"saved before it was exchanged", change, files{"d/f": "theirs", "d/.belay-T": new}, files{"d/f": "theirs"}, false},
		{"set aside", change, files{"d/.belay-T~": old, "d/.belay-T": new}, files{"d/f": old}, false},
		{"set aside by a link", change, files{"d/f": old, "d/.belay-T~": old, "d/.belay-T": new}, files{"d/f": old}, false},
		{"replaced in steps", change, files{"d/f": new, "d/.belay-T~": old}, files{"d/f": new}, false},
		{"not created", create, files{"d/.belay-T": "ne"}, files{}, false},
		{"created", create, files{"d/f": new}, files{"d/f": new}, false},
		{"created by someone else", create, files{"d/f": "theirs", "d/.belay-T": new}, files{"d/f": "theirs"}, false},
		{"no directory", create, files{}, files{}, false},
		{"a link not exchanged", relink, files{"d/f": "-> " + old, "d/.belay-T": "-> " + new}, files{"d/f": "-> " + old}, false},
		{"a link exchanged", relink, files{"d/f": "-> " + new, "d/.belay-T": "-> " + old}, files{"d/f": "-> " + new}, false},
		{"a link exchanged for another", relink, files{"d/f": "-> " + new, "d/.belay-T": "-> theirs"}, files{"d/f": "-> theirs"}, false},
		{"a link exchanged for a file", relink, files{"d/f": "-> " + new, "d/.belay-T": "theirs"}, files{"d/f": "theirs"}, false},
		{"a link not made", makeLink, files{"d/.belay-T": "-> " + new}, files{}, false},
		{"a link removed", unlink, files{"d/.belay-T": "-> " + old}, files{}, false},
		{"of another change", change, files{"d/f": old, "d/.belay-U": "ne"}, files{"d/f": old, "d/.belay-U": "ne"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tt.left {
				put(t, filepath.Join(dir, name), false, content)
			}
			w, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			err = w.Clear(temp, []edit.Intent{tt.edit})
			if stale := errors.Is(err, ErrStale); stale != tt.stale || err != nil && !stale {
				t.Fatalf("clear: %v", err)
			}
			if tt.stale && !strings.Contains(err.Error(), "d/.belay-T") {
				t.Errorf("it does not say where the bytes are: %v", err)
			}
			if got := contents(t, dir); !maps.Equal(got, tt.want) {
				t.Errorf("files (-want +got):\n%s", cmp.Diff(map[string]string(tt.want), got))
			}
		})
	}
}

// The names that a Write uses are those that Clear looks for, of every edit.
func TestClearEachEdit(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), false, "a")
	put(t, filepath.Join(dir, "b"), false, "b")
	put(t, filepath.Join(dir, ".belay-T"), false, "x")
	put(t, filepath.Join(dir, ".belay-T-1"), false, "x")
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	edits := []edit.Intent{replace(t, read(t, w, "a"), "a", "A"), replace(t, read(t, w, "b"), "b", "B")}
	if _, err := w.WriteAs(".belay-T", edits[:1]); err == nil {
		t.Error("the name of the first was taken")
	}
	if _, err := w.WriteAs(".belay-T", edits[1:]); err == nil {
		t.Error("the name of the first was taken")
	}
	if err := w.Clear(".belay-T", edits); err != nil {
		t.Fatal(err)
	}
	noLeftovers(t, w)
	if _, err := w.WriteAs(".belay-T", edits); err != nil {
		t.Fatal(err)
	}
	noLeftovers(t, w)
	if a, b := read(t, w, "a").Content, read(t, w, "b").Content; a+b != "AB" {
		t.Errorf("a and b are %q and %q", a, b)
	}
}

// Of several changes that a crash came between, those that were made are taken
// back; where that cannot be done cleanly, nothing is.
func TestClearTakesBackHalf(t *testing.T) {
	const old, new = "old\n", "new\n"
	was, is := edit.Digest([]byte(old)), edit.Digest([]byte(new))
	change := func(path string) edit.Intent { return edit.Intent{Path: path, Base: was, Result: is} }
	create := func(path string) edit.Intent { return edit.Intent{Path: path, Result: is} }
	remove := func(path string) edit.Intent { return edit.Intent{Path: path, Base: was, Remove: true} }
	type files map[string]string
	for _, tt := range []struct {
		name       string
		edits      []edit.Intent
		left, want files
	}{
		{"before the first", []edit.Intent{change("a"), change("b")},
			files{"a": old, "b": old, ".belay-T": new, ".belay-T-1": new}, files{"a": old, "b": old}},
		{"between two changes", []edit.Intent{change("a"), change("b")},
			files{"a": new, "b": old, ".belay-T": old, ".belay-T-1": new}, files{"a": old, "b": old}},
		{"after the last", []edit.Intent{change("a"), change("b")},
			files{"a": new, "b": new, ".belay-T": old, ".belay-T-1": old}, files{"a": new, "b": new}},
		{"while it was cleaned", []edit.Intent{change("a"), change("b")},
			files{"a": new, "b": new, ".belay-T-1": old}, files{"a": new, "b": new}},
		{"after a creation", []edit.Intent{create("a"), change("b")},
			files{"a": new, "b": old, ".belay-T-1": new}, files{"b": old}},
		{"after a creation by a link", []edit.Intent{create("a"), change("b")},
			files{"a": new, "b": old, ".belay-T": new, ".belay-T-1": new}, files{"b": old}},
		{"after a removal", []edit.Intent{remove("a"), create("b")},
			files{".belay-T": old, ".belay-T-1": new}, files{"a": old}},
		{"before a creation", []edit.Intent{change("a"), create("b"), create("c")},
			files{"a": new, "b": new, ".belay-T": old, ".belay-T-2": "n"}, files{"a": old}},
		{"while it was taken back", []edit.Intent{create("a"), change("b"), change("c")},
			files{"a": new, "b": old, "c": old, ".belay-T-1": new, ".belay-T-2": new}, files{"b": old, "c": old}},
		{"and someone changed one", []edit.Intent{change("a"), change("b"), change("c")},
			files{"a": new, "b": old, "c": "theirs", ".belay-T": old, ".belay-T-1": new, ".belay-T-2": new}, files{"a": new, "b": old, "c": "theirs"}},
		{"and what was replaced is gone", []edit.Intent{change("a"), change("b")},
			files{"a": new, "b": old, ".belay-T-1": new}, files{"a": new, "b": old}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tt.left {
				put(t, filepath.Join(dir, name), false, content)
			}
			w, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for range 2 { // the second time there is nothing to do
				if err := w.Clear(".belay-T", tt.edits); err != nil {
					t.Fatal(err)
				}
				if got := contents(t, dir); !maps.Equal(got, tt.want) {
					t.Errorf("files (-want +got):\n%s", cmp.Diff(map[string]string(tt.want), got))
				}
			}
		})
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if d.Type()&os.ModeSymlink != 0 {
			var target string
			target, err = os.Readlink(path)
			b = []byte("-> " + target)
		}
		rel, _ := filepath.Rel(dir, path)
		got[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
