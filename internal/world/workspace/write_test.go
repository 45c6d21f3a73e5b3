package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// create returns the intent to create a file.
func create(path, content string) edit.Intent {
	return edit.Intent{Path: path, Regions: []edit.Region{{Len: len(content), New: []byte(content)}}}
}

func TestWriteSeveral(t *testing.T) {
	w := tree(t, map[string]string{"a": "one\ntwo\n", "gone": "x\n", "mode": "x\n"})
	d, err := w.Write([]edit.Intent{
		replace(t, read(t, w, "a"), "two", "2"),
		create("new/deep/b", "b\n"),
		{Path: "gone", Base: edit.Digest([]byte("x\n")), Remove: true},
		{Path: "mode", Base: edit.Digest([]byte("x\n")), Mode: "0750"},
		create("empty", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Diff{
		Unified: `--- a/a
+++ b/a
@@ -1,2 +1,2 @@
 one
-two
+2
--- /dev/null
+++ b/new/deep/b
@@ -0,0 +1 @@
+b
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
mode 0644 to 0750: mode
--- /dev/null
+++ b/empty
`,
		Digests: map[string]string{
			"a": edit.Digest([]byte("one\n2\n")), "new/deep/b": edit.Digest([]byte("b\n")), "gone": "",
			"mode": edit.Digest([]byte("x\n")), "empty": edit.Digest(nil),
		},
		Was:     map[string]string{"gone": "0644", "mode": "0644"},
		Parents: map[string]int{"new/deep/b": 2},
		Added:   2, Removed: 2,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{"a": "one\n2\n", "new/deep/b": "b\n", "mode": "x\n", "empty": ""} {
		if got := onDisk(t, w, path); got != want {
			t.Errorf("%s holds %q, want %q", path, got, want)
		}
	}
	if _, err := w.Stat("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
	noLeftovers(t, w)
}

// TestBug_E11_Links: a chain of links, a relative link in a folder and an
// absolute one stay links, and the file at the end changes.
func TestBug_E11_Links(t *testing.T) {
	w := tree(t, map[string]string{"real.txt": "v1\n", "link": "-> real.txt", "chain": "-> link", "sub/rel": "-> ../real.txt"})
	if err := os.Symlink(filepath.Join(w.Root(), "real.txt"), filepath.Join(w.Root(), "abs")); err != nil {
		t.Fatal(err)
	}
	for n, path := range []string{"link", "chain", "sub/rel", "abs"} {
		text := read(t, w, path)
		i := replace(t, text, fmt.Sprint("v", n+1), fmt.Sprint("v", n+2))
		i.Path = path
		d, err := w.Write([]edit.Intent{i})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if info, err := os.Lstat(filepath.Join(w.Root(), path)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", path, err)
		}
		if got, want := onDisk(t, w, "real.txt"), fmt.Sprintf("v%d\n", n+2); got != want || d.Digests["real.txt"] == "" {
			t.Errorf("through %s: %q, digests %v", path, got, d.Digests)
		}
	}
}

// A file with several names is not replaced unasked: the others would keep the
// old bytes. Allowed, the others do, and the result says so.
func TestP10_Bug_E12_HardLinksAreAskedAbout(t *testing.T) {
	w := tree(t, map[string]string{"a": "x\n"})
	for _, name := range []string{"b", "c"} {
		if err := os.Link(filepath.Join(w.Root(), "a"), filepath.Join(w.Root(), name)); err != nil {
			t.Fatal(err)
		}
	}
	edits := []edit.Intent{replace(t, read(t, w, "a"), "x", "y")}
	_, err := w.Write(edits)
	linked, ok := errors.AsType[*LinkedError](err)
	if !ok || !errors.Is(err, ErrLinked) {
		t.Fatalf("write: %v", err)
	}
	if diff := cmp.Diff(LinkedError{Path: "a", Names: 3}, *linked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a := onDisk(t, w, "a"); a != "x\n" {
		t.Errorf("a is %q", a)
	}
	if d, err := w.Diff(edits); err != nil || d.Names["a"] != 3 {
		t.Errorf("diff: %v, %v", d.Names, err)
	}
	d, err := w.WriteWith(WriteOptions{BreakLinks: func(path string) bool { return path == "a" }}, edits)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]uint64{"a": 3}, d.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if a, b := onDisk(t, w, "a"), onDisk(t, w, "b"); a != "y\n" || b != "x\n" {
		t.Errorf("a is %q, b is %q", a, b)
	}
	gone := edit.Intent{Path: "b", Base: edit.Digest([]byte("x\n")), Remove: true}
	if _, err := w.Write([]edit.Intent{gone}); err != nil || onDisk(t, w, "c") != "x\n" {
		t.Errorf("remove one of two names: %v", err)
	}
	noLeftovers(t, w)
}

// A link can be removed, whatever it leads to, as long as it leads there.
func TestR091_LinksAreRemovedThemselves(t *testing.T) {
	w := tree(t, map[string]string{"f": "x\n", "in": "-> f", "out": "-> ../elsewhere", "moved": "-> f"})
	for path, leads := range map[string]string{"in": "f", "out": "../elsewhere"} {
		at, target, err := w.Link("./" + path)
		if err != nil || string(target) != leads || at != path {
			t.Fatalf("%s is %s and leads to %q, %v", path, at, target, err)
		}
		d, err := w.Write([]edit.Intent{{Path: path, Base: edit.Digest(target), Remove: true}})
		if err != nil || d.Unified != "link to "+leads+" removed: "+path+"\n" {
			t.Errorf("remove %s: %q, %v", path, d.Unified, err)
		}
		if _, err := os.Lstat(filepath.Join(w.Root(), path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	changes, err := w.prepare([]edit.Intent{{Path: "moved", Base: edit.Digest([]byte("f")), Remove: true}})
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(w.Root(), "moved")
	if err := errors.Join(os.Remove(full), os.Symlink("other", full)); err != nil {
		t.Fatal(err)
	}
	b := batch{w: w, temp: Temp(), folders: make(map[string]*folder)}
	defer b.close()
	if err := b.run(changes); !errors.Is(err, ErrStale) {
		t.Errorf("a link that leads elsewhere now: %v", err)
	}
	if target, err := os.Readlink(full); err != nil || target != "other" {
		t.Errorf("it leads to %q, %v", target, err)
	}
	if _, _, err := w.Link("f"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a file: %v", err)
	}
	noLeftovers(t, w)
}

// TestStale covers row E13: content decides, not time or inode. R058 rests on it.
func TestBug_E13_Stale(t *testing.T) {
	w := tree(t, map[string]string{"f": "one\n", "other": "x\n"})
	text := read(t, w, "f")
	full := filepath.Join(w.Root(), "f")
	set := func(content string) {
		t.Helper()
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full, text.ModTime, text.ModTime); err != nil {
			t.Fatal(err)
		}
	}
	i := replace(t, text, "one", "two")

	set("0ne\n") // as long, and as old
	_, err := w.Write([]edit.Intent{i})
	stale, ok := errors.AsType[*StaleError](err)
	if !ok || !errors.Is(err, ErrStale) || errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("changed: %v", err)
	}
	if diff := cmp.Diff(StaleError{Path: "f", Want: text.Digest, Have: edit.Digest([]byte("0ne\n"))}, *stale); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := w.Diff([]edit.Intent{i}); !errors.Is(err, ErrStale) {
		t.Errorf("diff: %v", err)
	}

	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]edit.Intent{i}); !errors.Is(err, ErrStale) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}

	set("one\n") // made again with the same bytes
	if _, err := w.Write([]edit.Intent{i}); err != nil {
		t.Errorf("made again: %v", err)
	}
	if _, err := w.Write([]edit.Intent{create("other", "new\n")}); !errors.Is(err, ErrStale) || !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a file: %v", err)
	}
	if got := onDisk(t, w, "other"); got != "x\n" {
		t.Errorf("other holds %q", got)
	}
	noLeftovers(t, w)
}

func TestWriteRefuses(t *testing.T) {
	w := tree(t, map[string]string{"d/": "", "f": "x\n", "link": "-> f"})
	fifo(t, filepath.Join(w.Root(), "fifo"))
	text := read(t, w, "f")
	good := replace(t, text, "x", "y")
	same := good
	same.Path = "./d/../link"
	wrong := good
	wrong.Result = text.Digest
	moved := good
	moved.Regions = []edit.Region{{Start: 0, End: 1, Old: []byte("z")}}
	for name, test := range map[string]struct {
		edits []edit.Intent
		want  error
	}{
		"outside":            {[]edit.Intent{create("../f", "x")}, ErrOutside},
		"a directory":        {[]edit.Intent{create("d", "x")}, ErrIsDirectory},
		"the root":           {[]edit.Intent{create(".", "x")}, ErrIsDirectory},
		"below a file":       {[]edit.Intent{create("f/g", "x")}, ErrNotDirectory},
		"a fifo":             {[]edit.Intent{create("fifo", "x")}, ErrNotRegular},
		"one file twice":     {[]edit.Intent{good, same}, edit.ErrInvalid},
		"result":             {[]edit.Intent{wrong}, edit.ErrMismatch},
		"old bytes":          {[]edit.Intent{moved}, edit.ErrMismatch},
		"no path":            {[]edit.Intent{{}}, edit.ErrInvalid},
		"removal of a link":  {[]edit.Intent{{Path: "link", Base: text.Digest, Remove: true}}, ErrNotRegular},
		"removal of nothing": {[]edit.Intent{{Path: "none", Base: text.Digest, Remove: true}}, fs.ErrNotExist},
		"too large":          {[]edit.Intent{create("large", strings.Repeat("x", MaxFile+1))}, ErrTooLarge},
		"a long name":        {[]edit.Intent{create(strings.Repeat("n", 256), "x")}, syscall.ENAMETOOLONG},
	} {
		// A good edit before the bad one must not be made either.
		edits := append([]edit.Intent{create("first", "1")}, test.edits...)
		if _, err := w.Write(edits); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if _, err := w.Stat("first"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the first edit was made (%v)", name, err)
		}
	}
	if got := onDisk(t, w, "f"); got != "x\n" {
		t.Errorf("f holds %q", got)
	}
	noLeftovers(t, w)
}

func TestDiffChangesNothing(t *testing.T) {
	w := tree(t, map[string]string{"f": "a\r\nb\r\n", "bin": "\x00a", "enc": "a\r\n"})
	d, err := w.Diff([]edit.Intent{
		replace(t, read(t, w, "f"), "b", "c"),
		{Path: "bin", Base: edit.Digest([]byte("\x00a")), Regions: []edit.Region{{Start: 1, End: 2, Old: []byte("a")}}},
		{Path: "enc", Base: edit.Digest([]byte("a\r\n")), Regions: []edit.Region{{Start: 1, End: 2, Old: []byte("\r")}}},
		create("new\nline", "x"),
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `--- a/f
+++ b/f
@@ -1,2 +1,2 @@
 a
-b
+c
binary files a/bin and b/bin differ
files a/enc and b/enc differ in line endings or encoding only
--- /dev/null
+++ "b/new\nline"
@@ -0,0 +1 @@
+x
\ No newline at end of file
`
	if diff := cmp.Diff(want, d.Unified); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := onDisk(t, w, "f"); got != "a\r\nb\r\n" {
		t.Errorf("f holds %q", got)
	}
	if _, err := w.Stat("new\nline"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made: %v", err)
	}
}

// TestAllOrNone lets the last of several changes fail, at each of the two points
// where one can: while the new files are made, and in the file's place.
func TestAllOrNone(t *testing.T) {
	for name, path := range map[string]string{"while staged": "dir", "in its place": "last"} {
		t.Run(name, func(t *testing.T) {
			w := tree(t, map[string]string{"a": "a\n", "gone": "g\n", "last": "l\n"})
			changes, err := w.prepare([]edit.Intent{
				replace(t, read(t, w, "a"), "a", "A"), create("sub/new", "n\n"),
				{Path: "gone", Base: edit.Digest([]byte("g\n")), Remove: true},
				replace(t, read(t, w, "last"), "l", "L"), create("dir/x", "x"),
			})
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(w.Root(), path), false, "meanwhile\n")
			b := batch{w: w, temp: Temp(), folders: make(map[string]*folder)}
			defer b.close()
			if err := b.run(changes); err == nil || strings.Contains(err.Error(), "restore") {
				t.Fatalf("run: %v", err)
			}
			want := map[string]string{"a": "a\n", "gone": "g\n", "last": "l\n"}
			want[path] = "meanwhile\n"
			for path, content := range want {
				if got := onDisk(t, w, path); got != content {
					t.Errorf("%s holds %q, want %q", path, got, content)
				}
			}
			if _, err := w.Stat("sub"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("sub is still there: %v", err)
			}
			noLeftovers(t, w)
		})
	}
}

// TestChangedBetween changes a file after it was checked and before it is replaced.
func TestChangedBetween(t *testing.T) {
	digest := edit.Digest([]byte("f\n"))
	change := edit.Intent{Path: "f", Base: digest, Regions: []edit.Region{{Start: 0, End: 1, Old: []byte("f")}}}
	remove := edit.Intent{Path: "f", Base: digest, Remove: true}
	for name, test := range map[string]struct {
		intent  edit.Intent
		content string // instead of what was there; "" for nothing
		want    StaleError
	}{
		"edit of what changed":     {change, "other\n", StaleError{"f", digest, edit.Digest([]byte("other\n"))}},
		"edit of what is gone":     {change, "", StaleError{"f", digest, ""}},
		"edit of what is a link":   {change, "-> other", StaleError{"f", digest, ""}},
		"removal of what changed":  {remove, "other\n", StaleError{"f", digest, edit.Digest([]byte("other\n"))}},
		"removal of what is gone":  {remove, "", StaleError{"f", digest, ""}},
		"removal of a link":        {remove, "-> other", StaleError{"f", digest, ""}},
		"creation of what is":      {create("new", "x"), "other\n", StaleError{"new", "", edit.Digest([]byte("other\n"))}},
		"creation of what is link": {create("new", "x"), "-> none", StaleError{"new", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := tree(t, map[string]string{"f": "f\n"})
			changes, err := w.prepare([]edit.Intent{test.intent})
			if err != nil {
				t.Fatal(err)
			}
			full := filepath.Join(w.Root(), test.intent.Path)
			if err := os.RemoveAll(full); err != nil {
				t.Fatal(err)
			}
			if test.content != "" {
				put(t, full, false, test.content)
			}
			b := batch{w: w, temp: Temp(), folders: make(map[string]*folder)}
			defer b.close()
			stale, ok := errors.AsType[*StaleError](b.run(changes))
			if !ok {
				t.Fatalf("run: %v", err)
			}
			if diff := cmp.Diff(test.want, *stale); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			target, _ := os.Readlink(full)
			content, _ := os.ReadFile(full)
			if target != "" {
				content = []byte("-> " + target)
			}
			if string(content) != test.content {
				t.Errorf("there is %q, want %q", content, test.content)
			}
			noLeftovers(t, w)
		})
	}
}

// TestRestoreKeepsWhatOthersWrote: what another writer puts in the place of our
// file before it is taken back stays, and the bytes from before are named.
func TestRestoreKeepsWhatOthersWrote(t *testing.T) {
	w := tree(t, map[string]string{"a": "a\n"})
	changes, err := w.prepare([]edit.Intent{replace(t, read(t, w, "a"), "a", "A"), create("new", "n\n")})
	if err != nil {
		t.Fatal(err)
	}
	b := batch{w: w, temp: Temp(), folders: make(map[string]*folder)}
	defer b.close()
	if err := errors.Join(b.stageAll(changes), b.commitAll(changes)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.Root(), "a"), false, "theirs\n")
	put(t, filepath.Join(w.Root(), "new"), false, "theirs too\n")
	err = b.restore(changes)
	if !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), changes[0].temp) {
		t.Errorf("restore: %v", err)
	}
	if a, n := onDisk(t, w, "a"), onDisk(t, w, "new"); a != "theirs\n" || n != "theirs too\n" {
		t.Errorf("a holds %q, new holds %q", a, n)
	}
	if kept := onDisk(t, w, changes[0].temp); kept != "a\n" {
		t.Errorf("kept: %q", kept)
	}
}

// TestBug_E14_LostUpdate lets several writers add a line each, again and again,
// by different spellings of the path. Every one that succeeds must be in the file.
func TestBug_E14_LostUpdate(t *testing.T) {
	w := tree(t, map[string]string{"a.txt": "begin\n", "sub/": "", "link": "-> a.txt"})
	var done atomic.Int64
	var writers sync.WaitGroup
	for n, path := range []string{"a.txt", "./a.txt", "sub/../a.txt", "link"} {
		writers.Go(func() {
			for round := range 20 {
				line := fmt.Sprintf("%d-%d\n", n, round)
				for !add(t, w, path, line) {
				}
				done.Add(1)
			}
		})
	}
	writers.Wait()
	if got := strings.Count(onDisk(t, w, "a.txt"), "\n") - 1; got != 80 || done.Load() != 80 {
		t.Errorf("%d lines for %d writes", got, done.Load())
	}
	noLeftovers(t, w)
}

// add adds a line at the end of a file, unless it is changed meanwhile.
func add(t *testing.T, w *Workspace, path, line string) bool {
	text, err := w.Read(path)
	if err != nil {
		t.Errorf("read: %v", err)
		return true
	}
	r, err := text.Region(len(text.Content), len(text.Content), line)
	if err != nil {
		t.Errorf("region: %v", err)
		return true
	}
	_, err = w.Write([]edit.Intent{{Path: path, Base: text.Digest, Regions: []edit.Region{r}}})
	if err != nil && !errors.Is(err, ErrStale) {
		t.Errorf("write: %v", err)
		return true
	}
	return err == nil
}

// TestStepsInsteadOfExchange holds the way of other systems to the same rules.
func TestStepsInsteadOfExchange(t *testing.T) {
	w := tree(t, map[string]string{"a": "a\n", "b": "b\n"})
	f, err := openFolder(w.root, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer f.root.Close()
	defer f.dir.Close()
	if err := f.exchangeSteps("a", "b"); err != nil {
		t.Fatal(err)
	}
	if a, b := onDisk(t, w, "a"), onDisk(t, w, "b"); a != "b\n" || b != "a\n" {
		t.Errorf("a holds %q, b holds %q", a, b)
	}
	if err := f.exchangeSteps("none", "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("exchange nothing: %v", err)
	}
	if err := f.exchangeSteps("a", "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("exchange with nothing: %v", err)
	}
	if err := f.placeSteps("a", "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("place over a file: %v", err)
	}
	if err := f.placeSteps("a", "c"); err != nil {
		t.Fatal(err)
	}
	if c := onDisk(t, w, "c"); c != "b\n" {
		t.Errorf("c holds %q", c)
	}
	noLeftovers(t, w)
}

// A link can be made, led elsewhere, put in the place of a file and give its place
// to one, and each of that can be taken back, by edits that say that they are about
// the link. None touches what the link leads to.
func TestPromise_P08_LinksAreMadeAndChanged(t *testing.T) {
	w := tree(t, map[string]string{"f": "x\n", "g": "y\n", "away": "-> .."})
	outside := filepath.Join(filepath.Dir(w.Root()), "outside")
	put(t, outside, false, "secret\n")
	start := func(path, content, was, mode string) edit.Intent {
		now, base := []byte(nil), ""
		if _, target, err := w.Link(path); err == nil {
			now, base = target, edit.Digest(target)
		} else if text, err := w.Read(path); err == nil {
			now, base = text.Bytes(), text.Digest
		}
		r := edit.Region{End: len(now), Len: len(content), Old: now, New: []byte(content)}
		return edit.Intent{Path: path, Base: base, Regions: []edit.Region{r}, Mode: mode, Was: was}
	}
	for _, step := range []struct {
		intent     edit.Intent
		says, want string // "-> x" for a link
	}{
		{start("d/l", "../f", "", edit.Link), "link to ../f made: d/l\n", "-> ../f"},
		{start("out", "../outside", "", edit.Link), "link to ../outside made: out\n", "-> ../outside"},
		{start("g", "f", "0644", edit.Link), "link to f in place of the file: g\n", "-> f"},
	} {
		before, _ := os.ReadFile(filepath.Join(w.Root(), step.intent.Path))
		d, err := w.Write([]edit.Intent{step.intent})
		if err != nil || d.Unified != step.says || d.Was[step.intent.Path] != step.intent.Was {
			t.Fatalf("%s: %q, was %v, %v", step.intent.Path, d.Unified, d.Was, err)
		}
		full := filepath.Join(w.Root(), step.intent.Path)
		if target, err := os.Readlink(full); err != nil || "-> "+target != step.want {
			t.Errorf("%s leads to %q, %v", step.intent.Path, target, err)
		}
		moved := start(step.intent.Path, "nowhere", edit.Link, edit.Link)
		if _, err := w.Write([]edit.Intent{moved}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]edit.Intent{moved}); !errors.Is(err, ErrStale) {
			t.Errorf("once more: %v", err)
		}
		back, err := moved.Invert([]byte(step.want[len("-> "):]))
		if err == nil {
			_, err = w.Write([]edit.Intent{back})
		}
		if err == nil {
			back, err = step.intent.Invert(before)
		}
		if err == nil && back.Remove {
			back.Was = edit.Link
		}
		if err == nil {
			_, err = w.Write([]edit.Intent{back})
		}
		if err != nil {
			t.Fatalf("take back %s: %v", step.intent.Path, err)
		}
		if info, err := os.Lstat(full); back.Remove != errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", step.intent.Path, info, err)
		}
	}
	for path, want := range map[string]string{"f": "x\n", "g": "y\n", "../outside": "secret\n"} {
		if b, err := os.ReadFile(filepath.Join(w.Root(), path)); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
	for what, i := range map[string]edit.Intent{
		"a link that leads nowhere":   start("n", "", "", edit.Link),
		"a link with a NUL":           start("n", "a\x00b", "", edit.Link),
		"a file that should be one":   start("f", "z", edit.Link, edit.Link),
		"a link outside":              start("../l", "f", "", edit.Link),
		"a link through one outside":  start("away/l", "f", "", edit.Link),
		"a link in place of a folder": start("d", "f", "", edit.Link),
	} {
		if d, err := w.Write([]edit.Intent{i}); err == nil {
			t.Errorf("%s: %q", what, d.Unified)
		}
	}
	noLeftovers(t, w)
}
