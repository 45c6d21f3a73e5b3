package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// furnished returns an open session of several files, with artifacts short and
// long, snapshots, before-images and what only this session needs.
func furnished(t *testing.T) (j *Journal, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	j = must(Options{Now: clock(), segment: 3000}.Open(dir))
	for i := range 30 {
		handle := keep(t, j, fmt.Sprint(i), strings.Repeat("x", i%3*20_000))
		must(j.Append(event.Sent{Request: handle}))
		must(j.Append(event.Finished{Call: fmt.Sprint("c", i), Result: tool.Result{Text: "see " + handle}}))
		if err := j.Keep(j.last.seq, []byte(fmt.Sprint("state ", j.last.seq))); err != nil {
			t.Fatal(err)
		}
	}
	must(j.Append(event.Asked{Text: strings.Repeat("long", stringLimit)}))
	for name, text := range map[string]string{"undo/aa": "before", "undo/b/bb": "before", "spool/c1/started": "{}"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o400)); err != nil {
			t.Fatal(err)
		}
	}
	return j, dir
}

// tree returns what is below dir: sizes, modes and contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info := must(d.Info())
		text := ""
		if !d.IsDir() {
			text = string(must(os.ReadFile(filepath.Join(dir, name))))
		}
		all[name] = fmt.Sprint(info.Mode(), " ", info.ModTime(), " ", text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestForkAtEveryEvent(t *testing.T) {
	j, dir := furnished(t) // it stays open: a fork needs no lock
	defer j.Close()
	events := all(t, j.Since(0))
	before := tree(t, dir)
	for at := 1; at <= len(events); at += 7 {
		to := filepath.Join(t.TempDir(), "sessions", "fork")
		if err := Fork(dir, int64(at), to); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(events[:at], all(t, Read(to))); d != "" {
			t.Fatalf("fork at %d (-want +got):\n%s", at, d)
		}
		if _, err := os.Stat(filepath.Join(to, "spool")); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the fork has the processes of the session:", err)
		}
		if text := must(os.ReadFile(filepath.Join(to, "undo", "b", "bb"))); string(text) != "before" {
			t.Errorf("before-image: %q", text)
		}
		f, err := Options{Now: clock()}.Open(to)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all(t, f.Since(0)) {
			if sent, ok := e.Body.(event.Sent); ok && len(contents(t, f, sent.Request)) == 0 {
				t.Errorf("fork at %d: event %d names an empty artifact", at, e.Seq)
			}
		}
		if seq, state := f.Snapshot(); seq > int64(at) || seq > 0 && string(state) != fmt.Sprint("state ", seq) {
			t.Errorf("fork at %d: snapshot %d: %q", at, seq, state)
		} else if at == len(events) && seq == 0 {
			t.Error("no snapshot")
		}
		must(f.Append(event.Opened{Parent: "s", At: int64(at)}, event.Asked{Text: "another way"}))
		keep(t, f, "an artifact of the fork's own")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if report, err := Verify(to); err != nil || !report.Sound() || len(report.Lost)+len(report.Left) > 0 {
			t.Errorf("fork at %d: %+v, %v", at, report, err)
		}
	}
	if d := cmp.Diff(before, tree(t, dir)); d != "" {
		t.Errorf("the session changed (-before +after):\n%s", d)
	}
}

func TestForkRefuses(t *testing.T) {
	j, dir := furnished(t)
	defer j.Close()
	parent := t.TempDir()
	to := filepath.Join(parent, "fork")
	for _, at := range []int64{-1, 0, j.last.seq + 1} {
		if err := Fork(dir, at, to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if err := Fork(dir, 3, dir); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := Fork(filepath.Join(parent, "none"), 1, to); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if left := must(os.ReadDir(parent)); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Damage before the event at which to fork is an error, damage behind is not.
func TestForkOfADamagedSession(t *testing.T) {
	j, dir := furnished(t)
	last := j.last.seq
	j.Close()
	numbers := must(segments(system{}, dir))
	if err := os.Remove(filepath.Join(dir, segmentName(numbers[2]))); err != nil {
		t.Fatal(err)
	}
	var corrupt *Corrupt
	if err := Fork(dir, last, filepath.Join(t.TempDir(), "fork")); !errors.As(err, &corrupt) {
		t.Fatal(err)
	}
	if corrupt.LastSeq < 3 {
		t.Fatal(corrupt)
	}
	to := filepath.Join(t.TempDir(), "fork")
	if err := Fork(dir, corrupt.LastSeq, to); err != nil {
		t.Fatal(err)
	}
	goesOn(t, to)
}
