package journal

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
)

// next returns what v has that is new, and how many errors.
func next(t *testing.T, v *View) (said []string, damage int) {
	t.Helper()
	for e, err := range v.Next() {
		if err != nil {
			damage++
			continue
		}
		if b, ok := e.Body.(event.Asked); ok {
			said = append(said, b.Text[:min(len(b.Text), 9)])
		}
	}
	return said, damage
}

func TestViewReadsOnWhileTheSessionIsWritten(t *testing.T) {
	dir := t.TempDir()
	j, err := Options{segment: 2 << 10}.Open(dir) // so that the log goes on in further files
	if err != nil {
		t.Fatal(err)
	}
	v := Watch(dir)
	if said, damage := next(t, v); said != nil || damage != 0 {
		t.Fatalf("of an empty session: %q, %d", said, damage)
	}
	long := strings.Repeat("long text ", 40<<10) // so long that it is an artifact
	for _, words := range [][]string{{"one"}, {"two", "three"}, {long}, nil, {strings.Repeat("x", 4<<10), "after"}} {
		var want []string
		for _, w := range words {
			if _, err := j.Append(event.Asked{Text: w}); err != nil {
				t.Fatal(err)
			}
			want = append(want, w[:min(len(w), 9)])
		}
		said, damage := next(t, v)
		if d := cmp.Diff(want, said); d != "" || damage != 0 {
			t.Fatalf("%d errors, %s", damage, d)
		}
	}
	for range 2 { // the second is found although the packs were looked through before
		s, err := j.Spill("test")
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(s, "kept "+strings.Repeat("y", len(s.Handle())))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := v.Artifact(s.Handle())
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, err := v.Artifact("artifact:../../x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is no handle: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// A record that is only half there is not damage: its writer has not finished it.
func TestViewWaitsForAnUnfinishedEnd(t *testing.T) {
	whole := t.TempDir()
	j, err := Open(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"one", "two"} {
		if _, err := j.Append(event.Asked{Text: w}); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.ReadFile(filepath.Join(whole, "log.000001"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	log = bytes.TrimRight(log, "\x00") // space that was set aside
	name := filepath.Join(t.TempDir(), "log.000001")
	for cut := range log {
		if err := os.WriteFile(name, log[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		v := Watch(filepath.Dir(name))
		first, damage := next(t, v)
		if err := os.WriteFile(name, log, 0o600); err != nil {
			t.Fatal(err)
		}
		rest, more := next(t, v)
		if d := cmp.Diff([]string{"one", "two"}, append(first, rest...)); d != "" || damage+more != 0 {
			t.Fatalf("cut at %d: %d errors, %s", cut, damage+more, d)
		}
	}
}
