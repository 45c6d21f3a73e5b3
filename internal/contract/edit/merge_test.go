package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// numbered returns n lines that all differ, so that a line is found again
// wherever it goes.
func numbered(n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = fmt.Appendf(nil, "line %d\n", i)
	}
	return out
}

// TestMergeAgainstLines changes some lines of a file on one side, edits bytes
// of it on the other, and merges. On lines, which is known to be what changed,
// the rule can be checked by hand: an edit conflicts exactly if it has a byte
// or an edge in common with a line that changed.
func TestMergeAgainstLines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	conflicted, merged := 0, 0
	for range 5_000 {
		base := numbered(1 + r.IntN(20))
		whole := bytes.Join(base, nil)
		theirs := slices.Clone(base)
		changed := make([]bool, len(base))
		for range r.IntN(3) {
			n := r.IntN(len(base))
			changed[n] = true
			theirs[n] = nil
			if r.IntN(2) == 0 {
				theirs[n] = fmt.Appendf(nil, "other %d\n", r.IntN(1000))
			}
		}
		mine := someIntent(r, whole, 4)
		touches := func(g Region) bool {
			at := 0
			for n, l := range base {
				if changed[n] && at <= g.End && g.Start <= at+len(l) {
					return true
				}
				at += len(l)
			}
			return false
		}
		got, conflicts, err := mine.Merge(whole, bytes.Join(theirs, nil))
		if err != nil {
			t.Fatal(err)
		}
		var want, kept []Region
		for _, g := range mine.Regions {
			if touches(g) {
				want = append(want, g)
			} else {
				kept = append(kept, g)
			}
		}
		if diff := cmp.Diff(want, conflicts); diff != "" {
			t.Fatalf("conflicts of %+v (-want +got):\n%s", mine.Regions, diff)
		}
		conflicted, merged = conflicted+len(want), merged+len(kept)

		// Both changes at once, as splices into the base.
		both := Intent{Regions: slices.Clone(kept)}
		at := 0
		for n, l := range base {
			if changed[n] {
				both.Regions = append(both.Regions, region(whole, at, at+len(l), theirs[n]))
			}
			at += len(l)
		}
		slices.SortStableFunc(both.Regions, func(a, b Region) int { return a.Start - b.Start })
		result, err := got.Apply(bytes.Join(theirs, nil))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(apply(both, whole)), string(result)); diff != "" {
			t.Fatalf("merged (-want +got):\n%s", diff)
		}
	}
	if conflicted < 1000 || merged < 1000 {
		t.Fatalf("%d conflicts and %d merges tried: too few of one", conflicted, merged)
	}
}

func TestMerge(t *testing.T) {
	base := []byte("one\ntwo\nthree\n")
	two := Intent{Path: "f", Base: Digest(base), Result: a1, Inexact: "spaces",
		Regions: []Region{{Start: 4, End: 7, Len: 1, Old: []byte("two"), New: []byte("2")}}}
	remove := Intent{Path: "f", Base: Digest(base), Remove: true}
	create := Intent{Path: "f", Regions: []Region{{Len: 1, New: []byte("x")}}}

	moved := func(start int, theirs string) Intent {
		i := two
		i.Base, i.Result = Digest([]byte(theirs)), ""
		i.Regions = []Region{{Start: start, End: start + 3, Len: 1, Old: []byte("two"), New: []byte("2")}}
		return i
	}
	none := func(i Intent, theirs string) Intent {
		return Intent{Path: i.Path, Base: Digest([]byte(theirs)), Inexact: i.Inexact}
	}
	for name, test := range map[string]struct {
		intent    Intent
		base      string
		theirs    string
		want      Intent
		conflicts []Region
	}{
		"nothing changed":         {two, string(base), string(base), two, nil},
		"a line above":            {two, string(base), "zero\none\ntwo\nthree\n", moved(9, "zero\none\ntwo\nthree\n"), nil},
		"the line below":          {two, string(base), "one\ntwo\n3\n", moved(4, "one\ntwo\n3\n"), nil},
		"the line above":          {two, string(base), "1\ntwo\nthree\n", none(two, "1\ntwo\nthree\n"), two.Regions},
		"the same line":           {two, string(base), "one\nTWO\nthree\n", none(two, "one\nTWO\nthree\n"), two.Regions},
		"all gone":                {two, string(base), "", none(two, ""), two.Regions},
		"removal, as it was":      {remove, string(base), string(base), remove, nil},
		"removal, changed":        {remove, string(base), "x", none(remove, "x"), []Region{{End: len(base), Old: base}}},
		"creation, still no file": {create, "", "", create, nil},
		"creation, a file now":    {create, "", "y\n", none(create, "y\n"), create.Regions},
	} {
		t.Run(name, func(t *testing.T) {
			got, conflicts, err := test.intent.Merge([]byte(test.base), []byte(test.theirs))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.conflicts, conflicts); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMergeOfLargeFiles holds Merge to far less than quadratic time, where every
// second line changed and where all lines are the same.
func TestMergeOfLargeFiles(t *testing.T) {
	const lines = 20_000
	distinct, every := numbered(lines), numbered(lines)
	for i := 0; i < lines; i += 2 {
		every[i] = fmt.Appendf(nil, "changed %d\n", i)
	}
	same := strings.Repeat("same\n", lines)
	for name, test := range map[string]struct{ base, theirs []byte }{
		"every second line": {bytes.Join(distinct, nil), bytes.Join(every, nil)},
		"nothing in common": {bytes.Join(distinct, nil), []byte(same)},
		"alike":             {[]byte(same), []byte(strings.Repeat("same\nx\n", lines))},
	} {
		t.Run(name, func(t *testing.T) {
			i := Intent{Path: "f", Base: Digest(test.base), Regions: []Region{region(test.base, 0, 4, []byte("new"))}}
			start := time.Now()
			if _, _, err := i.Merge(test.base, test.theirs); err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			t.Logf("%d lines took %v", lines, took)
			if took > 3*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestBetweenFindsFarLines holds the anchors to their purpose: hundreds of
// changes leave the lines between them alone.
func TestBetweenFindsFarLines(t *testing.T) {
	base, result := numbered(3000), numbered(3000)
	for i := 0; i < len(result); i += 3 {
		result[i] = []byte("changed\n")
	}
	got := Between(bytes.Join(base, nil), bytes.Join(result, nil))
	if len(got) != 1000 {
		t.Fatalf("%d regions, want 1000", len(got))
	}
	for _, r := range got {
		if string(r.New) != "changed\n" || bytes.Count(r.Old, []byte("\n")) != 1 {
			t.Fatalf("region %+v", r)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	base, theirs := numbered(20_000), numbered(20_000)
	for i := 0; i < len(theirs); i += 20 {
		theirs[i] = []byte("changed\n")
	}
	whole, other := bytes.Join(base, nil), bytes.Join(theirs, nil)
	i := Intent{Path: "f", Base: Digest(whole), Regions: []Region{region(whole, 400, 404, []byte("new"))}}
	for b.Loop() {
		if _, _, err := i.Merge(whole, other); err != nil {
			b.Fatal(err)
		}
	}
}
