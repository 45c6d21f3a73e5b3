package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
)

// What is not as it was written, but for the very end of a log that was cut, is
// damage: it is named exactly, changes nothing, and hides nothing intact.
func TestPromise_P07_DamageInTheMiddle(t *testing.T) {
	dir, ends, events := crashed(t, append(few(), few()...)...)
	name := filepath.Join(dir, segmentName(1))
	whole := must(os.ReadFile(name))[:ends[len(ends)-1]]
	record := func(i int) []byte { return whole[ends[i-1]:ends[i]] }
	n := len(ends)
	for what, c := range map[string]struct {
		text []byte
		at   int   // the first record that is not where it should be
		gone []int // records that nothing shows
	}{
		"two swapped":          {slices.Concat(whole[:ends[3]], record(5), record(4), whole[ends[5]:]), 4, nil},
		"the last two swapped": {slices.Concat(whole[:ends[n-3]], record(n-1), record(n-2)), n - 2, nil},
		"one doubled":          {slices.Concat(whole[:ends[4]], record(4), whole[ends[4]:]), 5, nil},
		"the last one doubled": {slices.Concat(whole, record(n-1)), n, nil},
		"one missing":          {slices.Concat(whole[:ends[3]], whole[ends[4]:]), 4, []int{4}},
		"one all zeros":        {slices.Concat(whole[:ends[3]], make([]byte, len(record(4))), whole[ends[4]:]), 4, []int{4}},
		"zeros over a border": {slices.Concat(whole[:ends[3]-9], make([]byte, 20), whole[ends[3]+11:]), 3,
			[]int{3, 4}},
		"zeros between two": {slices.Concat(whole[:ends[3]], make([]byte, 100), whole[ends[3]:]), 4, nil},
		"noise between two": {slices.Concat(whole[:ends[3]], []byte("J1 00000002 noise\nJ1 "), whole[ends[3]:]), 4, nil},
	} {
		t.Run(what, func(t *testing.T) {
			if err := os.WriteFile(name, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			start := ends[c.at-1]
			if _, err := Open(dir, nil); !isAt(err, start, int64(c.at)) {
				t.Errorf("open: %v; want damage at byte %d after event %d", err, start, c.at)
			}
			if _, err := Repair(dir); !isAt(err, start, int64(c.at)) {
				t.Errorf("repair: %v", err)
			}
			if !bytes.Equal(must(os.ReadFile(name)), c.text) {
				t.Error("it was changed")
			}
			got, damages := readAll(dir)
			if len(damages) == 0 || !isAt(damages[0], start, int64(c.at)) {
				t.Errorf("read: %v", damages)
			}
			for i, e := range events {
				if shown := slices.ContainsFunc(got, func(o event.Event) bool { return cmp.Equal(e, o) }); shown == slices.Contains(c.gone, i) {
					t.Errorf("event %d is shown: %v", e.Seq, shown)
				}
			}
			if report, err := Verify(dir); err != nil || report.Sound() || !isAt(report.Damage[0], start, int64(c.at)) {
				t.Errorf("verify: %+v, %v", report, err)
			}
			goesOnFrom(t, dir, events[:c.at])
		})
	}
}

func isAt(err error, offset, seq int64) bool {
	corrupt, ok := errors.AsType[*Corrupt](err)
	return ok && corrupt.Segment == segmentName(1) && corrupt.Offset == offset && corrupt.LastSeq == seq
}

// goesOnFrom forks behind the events and checks that the fork has exactly those.
func goesOnFrom(t *testing.T, dir string, events []event.Event) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "fork")
	if err := Fork(dir, int64(len(events)), to); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(events, all(t, Read(to))); d != "" {
		t.Errorf("the fork (-want +got):\n%s", d)
	}
	goesOn(t, to)
	if err := Fork(dir, int64(len(events))+1, filepath.Join(t.TempDir(), "fork")); err == nil {
		t.Error("forked behind the damage")
	}
}

// A power cut can lose an event that waited and keep one that came later. As
// nobody had been told that either was safe, that is the torn end of the log.
func TestPromise_P03_AGapInWhatWasNeverSafe(t *testing.T) {
	dir, ends, events := crashed(t, event.Asked{Text: "safe"}, event.Packed{}, event.Packed{}, event.Asked{Text: "in doubt"})
	name := filepath.Join(dir, segmentName(1))
	whole := must(os.ReadFile(name))[:ends[3]]
	for i := 1; i < 4; i++ {
		text := slices.Concat(whole[:ends[i-1]], make([]byte, ends[i]-ends[i-1]), whole[ends[i]:])
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		opensTo(t, dir, events[:i], bytes.TrimRight(text[ends[i-1]:], "\x00"))
	}

	// Whatever follows a sync says so.
	dir, ends, _ = crashed(t, event.Asked{Text: "safe"}, event.Packed{}, event.Asked{Text: "safe"}, event.Packed{})
	name = filepath.Join(dir, segmentName(1))
	whole = must(os.ReadFile(name))[:ends[3]]
	for i := 1; i < 3; i++ {
		text := slices.Concat(whole[:ends[i-1]], make([]byte, ends[i]-ends[i-1]), whole[ends[i]:])
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, nil); !isAt(err, ends[i-1], int64(i)) {
			t.Errorf("without event %d: %v", i+1, err)
		}
	}

	// So does what follows an Open, which syncs what it finds.
	dir, ends, _ = crashed(t, event.Asked{Text: "safe"}, event.Packed{}, event.Packed{})
	j := must(Open(dir, nil))
	must(j.Append(event.Packed{}))
	name = filepath.Join(dir, segmentName(1))
	whole = must(os.ReadFile(name))
	j.log.close()
	clear(whole[ends[1]:ends[2]])
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil); !isAt(err, ends[1], 2) {
		t.Errorf("after an Open: %v", err)
	}
}
