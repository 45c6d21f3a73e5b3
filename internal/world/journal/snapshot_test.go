package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
)

func TestSnapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	j := must(Open(dir, nil))
	check := func(want int64) {
		t.Helper()
		seq, state := j.Snapshot()
		if seq != want || want > 0 && string(state) != fmt.Sprint("state\n", want) || want == 0 && state != nil {
			t.Errorf("snapshot %d: %q, want %d", seq, state, want)
		}
	}
	keep := func(seq int64) {
		t.Helper()
		if err := j.Keep(seq, fmt.Append(nil, "state\n", seq)); err != nil {
			t.Error(err)
		}
	}
	check(0)
	for range 200 {
		must(j.Append(event.Packed{}))
	}
	keep(j.last.seq)
	check(j.last.seq)
	for _, seq := range []int64{0, -1, j.last.seq + 1} {
		if err := j.Keep(seq, nil); err == nil {
			t.Error("kept the state after event", seq)
		}
	}
	for _, seq := range []int64{64, 65, 127, 1} { // what is newer would be of another past
		keep(seq)
		check(seq)
	}
	for _, seq := range []int64{50, 60, 100, 150} {
		keep(seq)
	}
	check(150)
	if d := cmp.Diff([]int64{150, 100}, must(snapshots(system{}, dir))); d != "" {
		t.Errorf("kept (-want +got):\n%s", d)
	}
	j.Close()
	if err := j.Keep(1, nil); err == nil {
		t.Error("kept after Close")
	}
	j = must(Open(dir, nil))
	check(150)

	// What is damaged, of the future or of another history does not count.
	name := filepath.Join(dir, snapshotName(150))
	good := must(os.ReadFile(name))
	for what, text := range map[string][]byte{
		"cut": good[:len(good)-1], "longer": append(slices.Clone(good), 'x'), "flipped": append([]byte("s"), good[1:]...), "empty": nil,
		"of other events": bytes.Replace(good, good[20:28], []byte("00000000"), 1),
		"of another kind": bytes.Replace(good, []byte("S1"), []byte("S2"), 1),
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if seq, _ := j.Snapshot(); seq != 100 {
			t.Errorf("%s: snapshot %d", what, seq)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, snapshotName(9000)), good, 0o600); err != nil {
		t.Fatal(err)
	}
	check(100)
	keep(160)
	if d := cmp.Diff([]int64{160, 150}, must(snapshots(system{}, dir))); d != "" {
		t.Errorf("kept (-want +got):\n%s", d)
	}
	os.Remove(filepath.Join(dir, snapshotName(160)))
	check(0)
	j.Close()

	m := Memory(nil)
	must(m.Append(event.Packed{}))
	if err := m.Keep(1, []byte("state")); err != nil {
		t.Error(err)
	}
	if seq, _ := m.Snapshot(); seq != 0 {
		t.Error("a snapshot in memory:", seq)
	}
}

// From any event on, whatever file it is in, Since yields what is behind it.
func TestSinceAnywhere(t *testing.T) {
	both(t, func(t *testing.T, open func(Options) *Journal) {
		o := Options{Now: clock(), segment: 20_000}
		j := open(o)
		for i := range 700 {
			must(j.Append(event.Asked{Text: fmt.Sprint(i)}))
		}
		want := all(t, j.Since(0))
		check := func() {
			t.Helper()
			for seq := int64(0); seq <= int64(len(want)); seq += 13 {
				if got := all(t, j.Since(seq)); len(got) != len(want)-int(seq) || len(got) > 0 && !cmp.Equal(want[seq], got[0]) {
					t.Fatalf("since %d: %d events", seq, len(got))
				}
			}
		}
		check()
		l, ok := j.log.(*diskLog)
		if !ok {
			return
		}
		if n := len(l.marks); n < 700/markEvery || n > 30 || l.number < 3 {
			t.Errorf("%d marks in %d files", n, l.number)
		}
		j.Close()
		j = open(o)
		defer j.Close()
		want = all(t, j.Since(0))
		check()

		// What is before is not even looked at.
		name := filepath.Join(l.dir, segmentName(1))
		if err := os.WriteFile(name, bytes.Repeat([]byte("x"), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := all(t, j.Since(600)); len(got) != len(want)-600 {
			t.Errorf("%d events", len(got))
		}
	})
}
