package edit

import (
	"bytes"
	"testing"
)

// FuzzApply reads arbitrary intents, most of them wrong, and checks that what
// Apply accepts it does as splices would, and takes back.
func FuzzApply(f *testing.F) {
	f.Add([]byte("hello\r\nworld"), []byte{0, 1, 1, 2, 2, 3}, []byte("xy\xff"))
	f.Add([]byte(""), []byte{0, 0, 3}, []byte("new"))
	f.Add([]byte("abc"), []byte{2, 1, 0, 0, 9, 1}, []byte("z"))
	f.Fuzz(func(t *testing.T, base, places, text []byte) {
		i := Intent{Path: "f", Base: Digest(base)}
		for ; len(places) >= 3; places = places[3:] {
			start, end, n := int(places[0]), int(places[1]), min(int(places[2]), len(text))
			old := []byte("none")
			if start <= end && end <= len(base) {
				old = base[start:end]
			}
			i.Regions = append(i.Regions, Region{start, end, n, old, text[:n]})
		}
		got, err := i.Apply(base)
		if err != nil {
			return
		}
		if want := apply(i, base); !bytes.Equal(got, want) {
			t.Fatalf("%+v on %q gives %q, want %q", i, base, got, want)
		}
		back, err := i.Invert(base)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := back.Apply(got); err != nil || !bytes.Equal(again, base) {
			t.Fatalf("taken back: %q, %v; want %q", again, err, base)
		}
	})
}

// FuzzMerge checks that what is carried over applies, that nothing is lost, and
// that without a change of theirs a merge is none.
func FuzzMerge(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nB\nc\n"), 4, 5, []byte("C"))
	f.Add([]byte("a\n"), []byte(""), 0, 0, []byte("\n"))
	f.Add([]byte("x\nx\nx\n"), []byte("x\nx\nx\nx\n"), 2, 4, []byte(""))
	f.Fuzz(func(t *testing.T, base, theirs []byte, start, end int, text []byte) {
		if start < 0 || end < start || end > len(base) {
			return
		}
		i := Intent{Path: "f", Base: Digest(base), Regions: []Region{region(base, start, end, text)}}
		got, conflicts, err := i.Merge(base, theirs)
		if err != nil {
			t.Fatal(err)
		}
		if got.Base != Digest(theirs) || len(got.Regions)+len(conflicts) != 1 {
			t.Fatalf("merged to %+v with conflicts %+v", got, conflicts)
		}
		if len(conflicts) == 1 && bytes.Equal(base, theirs) {
			t.Fatal("conflict with no change")
		}
		result, err := got.Apply(theirs)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(theirs) + len(text) - (end - start); len(conflicts) == 0 && len(result) != want {
			t.Fatalf("%q merged into %q has %d bytes, want %d", text, theirs, len(result), want)
		}
	})
}
