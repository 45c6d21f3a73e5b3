package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestR124_R125_Resolve(t *testing.T) {
	const base = "one\ntwo\nthree\nfour\n"
	for name, test := range map[string]struct {
		mine, theirs string
		want         string // with [Base|Mine|Theirs] for each conflict
	}{
		"nothing of theirs":        {"one\n2\nthree\nfour\n", base, "one\n2\nthree\nfour\n"},
		"far apart":                {"1\ntwo\nthree\nfour\n", "one\ntwo\nthree\n4\n", "1\ntwo\nthree\n4\n"},
		"the same change":          {"one\n2\nthree\nfour\n", "one\n2\nthree\n4\n", "one\n2\nthree\n4\n"},
		"the same line":            {"one\n2\nthree\nfour\n", "one\nTWO\nthree\nfour\n", "one\n[two\n|2\n|TWO\n]three\nfour\n"},
		"neighbours":               {"one\n2\nthree\nfour\n", "one\ntwo\n3\nfour\n", "one\n[two\nthree\n|2\nthree\n|two\n3\n]four\n"},
		"two inserts at one place": {"one\nA\ntwo\nthree\nfour\n", "one\nB\ntwo\nthree\nfour\n", "one\n[|A\n|B\n]two\nthree\nfour\n"},
		"one of two places":        {"1\ntwo\nthree\n4\n", "one\ntwo\nthree\nFOUR\n", "1\ntwo\nthree\n[four\n|4\n|FOUR\n]"},
		"all gone":                 {"one\n2\nthree\nfour\n", "", "[one\ntwo\nthree\nfour\n|one\n2\nthree\nfour\n|]"},
	} {
		t.Run(name, func(t *testing.T) {
			i := Intent{Path: "f", Base: Digest([]byte(base)), Regions: Between([]byte(base), []byte(test.mine))}
			got, err := i.Resolve([]byte(base), []byte(test.theirs), func(c Conflict) []byte {
				if string(c.Theirs) != test.theirs[c.Start:c.End] {
					t.Errorf("theirs %q is not at %d to %d", c.Theirs, c.Start, c.End)
				}
				return fmt.Appendf(nil, "[%s|%s|%s]", c.Base, c.Mine, c.Theirs)
			})
			if err != nil {
				t.Fatal(err)
			}
			result, err := got.Apply([]byte(test.theirs))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, string(result)); d != "" {
				t.Errorf("result (-want +got):\n%s", d)
			}
		})
	}
}

// In one line that both changed, all that was changed of it is in the conflict.
func TestResolveTakesWholeLines(t *testing.T) {
	base := []byte("a b c\nd\n")
	i := Intent{Path: "f", Base: Digest(base), Regions: []Region{
		region(base, 0, 1, []byte("A")), region(base, 4, 6, []byte("C\n")),
	}}
	var got []Conflict
	if _, err := i.Resolve(base, []byte("a b c\nnew\nd\n"), func(c Conflict) []byte { got = append(got, c); return c.Theirs }); err != nil {
		t.Fatal(err)
	}
	want := []Conflict{{Start: 0, End: 10, Base: []byte("a b c\n"), Mine: []byte("A b C\n"), Theirs: []byte("a b c\nnew\n")}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("conflicts (-want +got):\n%s", d)
	}
}

// changedLines changes, removes and adds lines, each of which says who did it.
func changedLines(r *rand.Rand, base [][]byte, who string) []byte {
	out := slices.Clone(base)
	for n := range r.IntN(4) {
		at := r.IntN(len(out))
		switch fresh := fmt.Appendf(nil, "%s %d\n", who, n); r.IntN(3) {
		case 0:
			out[at] = fresh
		case 1:
			out[at] = nil
		default:
			out = slices.Insert(out, at, fresh)
		}
	}
	return bytes.Join(out, nil)
}

// TestR124_ResolveIsTheSameFromBothSides merges changes of lines both ways
// round: what is clean comes out the same, and conflicts are the same places.
// Every line that someone wrote is in the result or in a conflict, and none that
// nobody wrote.
func TestR124_ResolveIsTheSameFromBothSides(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	conflicted, clean := 0, 0
	for range 10_000 {
		lines := numbered(1 + r.IntN(12))
		base := bytes.Join(lines, nil)
		a, b := changedLines(r, lines, "a"), changedLines(r, lines, "b")
		merge := func(mine, theirs []byte, swapped bool) string {
			i := Intent{Path: "f", Base: Digest(base), Regions: Between(base, mine)}
			got, err := i.Resolve(base, theirs, func(c Conflict) []byte {
				conflicted++
				if swapped {
					c.Mine, c.Theirs = c.Theirs, c.Mine
				}
				return fmt.Appendf(nil, "[\n%s|\n%s]\n", c.Mine, c.Theirs)
			})
			if err != nil {
				t.Fatal(err)
			}
			result, err := got.Apply(theirs)
			if err != nil {
				t.Fatal(err)
			}
			return string(result)
		}
		one, other := merge(a, b, false), merge(b, a, true)
		if one != other {
			t.Fatalf("base %q, a %q, b %q: merged to %q and to %q", base, a, b, one, other)
		}
		if !strings.Contains(one, "[\n") {
			clean++
		}
		for _, side := range [][]byte{a, b} {
			for line := range strings.Lines(string(side)) {
				if !bytes.Contains(base, []byte(line)) && !strings.Contains(one, line) {
					t.Fatalf("base %q, a %q, b %q: %q has lost %q", base, a, b, one, line)
				}
			}
		}
		for line := range strings.Lines(one) {
			if line != "[\n" && line != "|\n" && line != "]\n" && !bytes.Contains(a, []byte(line)) && !bytes.Contains(b, []byte(line)) {
				t.Fatalf("base %q, a %q, b %q: %q has %q, which neither has", base, a, b, one, line)
			}
		}
	}
	if conflicted < 1000 || clean < 1000 {
		t.Fatalf("%d conflicts, %d clean merges: too few of one", conflicted, clean)
	}
}

// FuzzResolve checks on any bytes that what is returned applies to theirs, that
// conflicts settled as theirs change nothing of it beside the clean regions, and
// that what Merge finds clean is so here.
func FuzzResolve(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nB\nc\n"), 4, 5, []byte("C"))
	f.Add([]byte("a b\nc"), []byte("a b\nx\nc"), 0, 1, []byte("A"))
	f.Add([]byte("\r\n\r\n"), []byte("\n\n"), 1, 1, []byte("\xff"))
	f.Fuzz(func(t *testing.T, base, theirs []byte, start, end int, text []byte) {
		if start < 0 || end < start || end > len(base) {
			return
		}
		i := Intent{Path: "f", Base: Digest(base), Regions: []Region{region(base, start, end, text)}}
		var found []Conflict
		got, err := i.Resolve(base, theirs, func(c Conflict) []byte { found = append(found, c); return c.Theirs })
		if err != nil {
			t.Fatal(err)
		}
		result, err := got.Apply(theirs)
		if err != nil {
			t.Fatal(err)
		}
		merged, conflicts, err := i.Merge(base, theirs)
		if err != nil {
			t.Fatal(err)
		}
		clean, err := merged.Apply(theirs)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > len(conflicts) || len(conflicts) == 0 && !bytes.Equal(result, clean) {
			t.Fatalf("%d conflicts and %q; Merge has %d and %q", len(found), result, len(conflicts), clean)
		}
		if len(conflicts) == 1 && !bytes.Equal(result, theirs) {
			t.Fatalf("conflicts settled as theirs make %q of %q", result, theirs)
		}
	})
}
