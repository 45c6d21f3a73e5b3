package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A saver is an editor: it is told where the file is, and returns what saves
// text in it, once.
type saver func(full string) (func(text string) error, error)

// The ways of editors to save.
var savers = map[string]saver{
	"rename": func(full string) (func(string) error, error) {
		return func(text string) error {
			return errors.Join(os.WriteFile(full+"~", []byte(text), 0o644), os.Rename(full+"~", full))
		}, nil
	},
	"in place": func(full string) (func(string) error, error) {
		return func(text string) error { return os.WriteFile(full, []byte(text), 0o644) }, nil
	},
	"already open": func(full string) (func(string) error, error) {
		f, err := os.OpenFile(full, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		return func(text string) error {
			_, err := f.WriteAt([]byte(text), 0)
			return errors.Join(err, f.Truncate(int64(len(text))), f.Close())
		}, nil
	},
}

// TestPromise_P09 lets a person save while the agent changes the same file, in
// each way and at another moment each time. What was saved must be in the file,
// with the agent's change or without, or be reported afterwards.
func TestPromise_P09_R117_NoSaveIsLostSilently(t *testing.T) {
	for name, open := range savers {
		t.Run(name, func(t *testing.T) {
			w := tree(t, map[string]string{"f": "start\n"})
			r := rand.New(rand.NewPCG(9, uint64(len(name))))
			stale, late := 0, 0
			for n := range trials {
				s, l := saveMeanwhile(t, w, open, fmt.Sprintf("saved %d\n%s", n, strings.Repeat("user\n", r.IntN(2000))), r.IntN(40_000))
				stale, late = stale+s, late+l
			}
			t.Logf("%d trials: %d changes were stale, %d saves came after the change and were reported, 0 lost", trials, stale, late)
			noLeftovers(t, w)
		})
	}
}

func saveMeanwhile(t *testing.T, w *Workspace, open saver, saved string, moment int) (stale, late int) {
	t.Helper()
	full := filepath.Join(w.Root(), "f")
	save, err := open(full)
	if err != nil {
		t.Fatal(err)
	}
	i := replace(t, read(t, w, "f"), "\n", "\nagent\n")
	var editor sync.WaitGroup
	editor.Go(func() {
		for range moment {
			runtime.Gosched()
		}
		if err := save(saved); err != nil {
			t.Errorf("save: %v", err)
		}
	})
	_, err = w.Write([]edit.Intent{i})
	editor.Wait()
	if errors.Is(err, ErrStale) {
		stale++
	} else if err != nil {
		t.Fatal(err)
	}
	for _, l := range w.Recheck() {
		if late++; string(l.Bytes) == saved {
			return stale, late
		}
	}
	first, rest, _ := strings.Cut(saved, "\n")
	if got := onDisk(t, w, "f"); got != saved && got != first+"\nagent\n"+rest {
		t.Fatalf("write: %v; the save of %d bytes is neither in the file, %.60q, nor reported", err, len(saved), got)
	}
	return stale, late
}

// What is written to a file that has lost its name is found as often as it
// happens, and of the last of many.
func TestP09_RecheckFindsLateWriters(t *testing.T) {
	w := tree(t, map[string]string{"f": "one\n", "gone": "one\n"})
	if lost := w.Recheck(); len(lost) > 0 {
		t.Errorf("nothing was replaced: %v", lost)
	}
	open := func(path string) *os.File {
		f, err := os.OpenFile(filepath.Join(w.Root(), path), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	f, gone := open("f"), open("gone")
	base := edit.Digest([]byte("one\n"))
	if _, err := w.Write([]edit.Intent{replace(t, read(t, w, "f"), "one", "two"), {Path: "gone", Base: base, Remove: true}}); err != nil {
		t.Fatal(err)
	}
	if lost := w.Recheck(); len(lost) > 0 {
		t.Errorf("nobody wrote: %v", lost)
	}
	for _, text := range []string{"1st\n", "2nd\n"} {
		for _, late := range []*os.File{f, gone} {
			if _, err := late.WriteAt([]byte(text), 0); err != nil {
				t.Fatal(err)
			}
		}
		digest := edit.Digest([]byte(text))
		want := []Lost{{"f", base, digest, []byte(text)}, {"gone", base, digest, []byte(text)}}
		if diff := cmp.Diff(want, w.Recheck()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if _, err := f.WriteAt([]byte("3rd\n"), 0); err != nil {
		t.Fatal(err)
	}
	for n := range maxWatched { // others take its place
		text := read(t, w, "f")
		if _, err := w.Write([]edit.Intent{replace(t, text, text.Content, fmt.Sprintf("%d\n", n))}); err != nil {
			t.Fatal(err)
		}
	}
	if lost := w.Recheck(); len(lost) != 1 || string(lost[0].Bytes) != "3rd\n" {
		t.Errorf("of the one that had to make room: %v", lost)
	}
}

// With a directory for them, each change leaves the bytes from before and after
// it, named by their digests, which nobody may change and a crash leaves whole.
func TestR116_ImagesAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "session", "undo")
	put(t, filepath.Join(dir, halfImage+"left"), false, "hal")
	root := tree(t, map[string]string{"f": "one\n", "gone": "g\n", "same": "s\n", "link": "-> f"}).Root()
	w, err := OpenWith(root, Options{Undo: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, target, err := w.Link("link")
	if err != nil {
		t.Fatal(err)
	}
	same := edit.Digest([]byte("s\n"))
	if _, err := w.Write([]edit.Intent{
		replace(t, read(t, w, "f"), "one", "two"), create("new", "n\n"), {Path: "gone", Base: edit.Digest([]byte("g\n")), Remove: true},
		{Path: "link", Base: edit.Digest(target), Remove: true}, {Path: "same", Base: same},
	}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("%d images: %v, %v", len(entries), entries, err)
	}
	for _, content := range []string{"one\n", "two\n", "n\n", "g\n", "f"} {
		digest := edit.Digest([]byte(content))
		if b, err := w.Image(digest); err != nil || string(b) != content {
			t.Errorf("image of %q: %q, %v", content, b, err)
		}
		if info, err := os.Stat(filepath.Join(dir, digest)); err != nil || info.Mode() != 0o400 {
			t.Errorf("image of %q: %v, %v", content, info, err)
		}
	}
	for _, digest := range []string{same, "", "../f", halfImage} {
		if b, err := w.Image(digest); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("image %q: %q, %v", digest, b, err)
		}
	}
	damaged := filepath.Join(dir, edit.Digest([]byte("n\n")))
	if err := errors.Join(os.Chmod(damaged, 0o600), os.WriteFile(damaged, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if b, err := w.Image(filepath.Base(damaged)); !errors.Is(err, edit.ErrMismatch) {
		t.Errorf("damaged: %q, %v", b, err)
	}
}

// What cannot be kept is not changed.
func TestR116_P04_NoChangeWithoutItsImage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "undo")
	root := tree(t, map[string]string{"f": "one\n"}).Root()
	w, err := OpenWith(root, Options{Undo: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	i := replace(t, read(t, w, "f"), "one", "two")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]edit.Intent{i}); err == nil || !strings.Contains(err.Error(), "keep an image of f") || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("write: %v", err)
	}
	if got := onDisk(t, w, "f"); got != "one\n" {
		t.Errorf("f holds %q", got)
	}
	noLeftovers(t, w)
	if _, err := OpenWith(root, Options{Undo: filepath.Join(root, "f")}); err == nil {
		t.Error("a file was opened as directory of images")
	}
}

// TestWrittenWhileSynced writes to a file that was open when it was replaced, while
// the change is on its way to the disk: the file is put back.
func TestWrittenWhileSynced(t *testing.T) {
	w := tree(t, map[string]string{"f": "f\n", "gone": "g\n"})
	changes, err := w.prepare([]edit.Intent{replace(t, read(t, w, "f"), "f", "F"), {Path: "gone", Base: edit.Digest([]byte("g\n")), Remove: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f", "gone"} {
		b := batch{w: w, temp: Temp(), folders: make(map[string]*folder)}
		defer b.close()
		user, err := os.OpenFile(filepath.Join(w.Root(), name), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.stageAll(changes), b.commitAll(changes), b.verifyAll(changes)); err != nil {
			t.Fatal(err)
		}
		if _, err := user.WriteString("theirs\n"); err != nil {
			t.Fatal(err)
		}
		stale, ok := errors.AsType[*StaleError](b.verifyAll(changes))
		if !ok || stale.Path != name {
			t.Errorf("%s: %v", name, stale)
		}
		if err := errors.Join(b.restore(changes), user.Close()); err != nil {
			t.Fatal(err)
		}
		if got := onDisk(t, w, name); !strings.HasSuffix(got, "\ntheirs\n") {
			t.Errorf("%s holds %q", name, got)
		}
		noLeftovers(t, w)
		if err := os.Truncate(filepath.Join(w.Root(), name), 2); err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			c.moved, c.temp = false, ""
		}
	}
}
