package edit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	a1 = Digest([]byte("a"))
	b1 = Digest([]byte("b"))
)

func TestDigest(t *testing.T) {
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2
	if got := Digest([]byte("abc")); got != want {
		t.Errorf("Digest(abc) = %s, want %s", got, want)
	}
}

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		intent Intent
		want   error
	}{
		"creation":            {Intent{Path: "a", Regions: []Region{{Len: 1, New: []byte("a")}}, Mode: "0755"}, nil},
		"creation, empty":     {Intent{Path: "a"}, nil},
		"without its bytes":   {Intent{Path: "a", Base: a1, Result: b1, Regions: []Region{{Start: 3, End: 9, Len: 4}}}, nil},
		"regions that touch":  {Intent{Path: "a", Base: a1, Regions: []Region{{End: 1}, {Start: 1, End: 1, Len: 1}, {Start: 1, End: 2}}}, nil},
		"removal":             {Intent{Path: "a", Base: a1, Remove: true}, nil},
		"no path":             {Intent{Base: a1}, ErrInvalid},
		"base no digest":      {Intent{Path: "a", Base: "abc"}, ErrInvalid},
		"base in capitals":    {Intent{Path: "a", Base: strings.ToUpper(a1)}, ErrInvalid},
		"result no digest":    {Intent{Path: "a", Base: a1, Result: a1[1:]}, ErrInvalid},
		"parents of a change": {Intent{Path: "a", Base: a1, Parents: 1}, ErrInvalid},
		"mode no octal":       {Intent{Path: "a", Base: a1, Mode: "rwx"}, ErrInvalid},
		"mode with set-id":    {Intent{Path: "a", Base: a1, Mode: "4755"}, ErrInvalid},
		"removal of nothing":  {Intent{Path: "a", Remove: true}, ErrInvalid},
		"removal and result":  {Intent{Path: "a", Base: a1, Remove: true, Result: b1}, ErrInvalid},
		"removal of a part":   {Intent{Path: "a", Base: a1, Remove: true, Regions: []Region{{End: 1}}}, ErrInvalid},
		"negative start":      {Intent{Path: "a", Base: a1, Regions: []Region{{Start: -1}}}, ErrRange},
		"end before start":    {Intent{Path: "a", Base: a1, Regions: []Region{{Start: 2, End: 1}}}, ErrRange},
		"range in nothing":    {Intent{Path: "a", Regions: []Region{{End: 1}}}, ErrRange},
		"negative length":     {Intent{Path: "a", Base: a1, Regions: []Region{{Len: -1}}}, ErrInvalid},
		"overlap":             {Intent{Path: "a", Base: a1, Regions: []Region{{End: 2}, {Start: 1, End: 3}}}, ErrOverlap},
		"descending":          {Intent{Path: "a", Base: a1, Regions: []Region{{Start: 4, End: 5}, {End: 1}}}, ErrOverlap},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.intent.Validate(); !errors.Is(err, test.want) {
				t.Errorf("Validate() = %v, want %v", err, test.want)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	base := []byte("hello")
	for name, test := range map[string]struct {
		intent Intent
		want   error
	}{
		"beyond the end":      {Intent{Path: "a", Base: a1, Regions: []Region{{Start: 5, End: 6, Old: []byte("x")}}}, ErrRange},
		"other bytes":         {Intent{Path: "a", Base: a1, Regions: []Region{{End: 1, Old: []byte("H")}}}, ErrMismatch},
		"old left out":        {Intent{Path: "a", Base: a1, Regions: []Region{{End: 1}}}, ErrMismatch},
		"new left out":        {Intent{Path: "a", Base: a1, Regions: []Region{{Len: 1}}}, ErrMismatch},
		"creation over bytes": {Intent{Path: "a", Regions: []Region{{Len: 1, New: []byte("x")}}}, ErrMismatch},
		"invalid":             {Intent{}, ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := test.intent.Apply(base); !errors.Is(err, test.want) || got != nil {
				t.Errorf("Apply = %q, %v; want nil, %v", got, err, test.want)
			}
			if _, err := test.intent.Invert(base); !errors.Is(err, test.want) {
				t.Errorf("Invert: %v, want %v", err, test.want)
			}
			if _, _, err := test.intent.Merge(base, nil); !errors.Is(err, test.want) {
				t.Errorf("Merge: %v, want %v", err, test.want)
			}
		})
	}
}

func TestInvertOfCreationAndRemoval(t *testing.T) {
	create := Intent{Path: "a", Regions: []Region{{Len: 2, New: []byte("hi")}}}
	remove := Intent{Path: "a", Base: Digest([]byte("hi")), Remove: true}
	back, err := create.Invert(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(remove, back); diff != "" {
		t.Errorf("inverse of the creation (-want +got):\n%s", diff)
	}
	again, err := remove.Invert([]byte("hi"))
	if err != nil {
		t.Fatal(err)
	}
	create.Result = remove.Base
	if diff := cmp.Diff(create, again); diff != "" {
		t.Errorf("inverse of the removal (-want +got):\n%s", diff)
	}
	if got, err := remove.Apply([]byte("hi")); got != nil || err != nil {
		t.Errorf("removal gives %q, %v", got, err)
	}
}

// apply is Apply by one splice at a time, from the end.
func apply(i Intent, base []byte) []byte {
	out := string(base)
	for n := len(i.Regions) - 1; n >= 0; n-- {
		r := i.Regions[n]
		out = out[:r.Start] + string(r.New) + out[r.End:]
	}
	return []byte(out)
}

// someIntent makes an intent with up to n regions on base.
func someIntent(r *rand.Rand, base []byte, n int) Intent {
	i := Intent{Path: "f", Base: Digest(base)}
	at := 0
	for range r.IntN(n + 1) {
		start := at + r.IntN(len(base)-at+1)
		end := start + r.IntN(min(len(base)-start, 5)+1)
		i.Regions = append(i.Regions, region(base, start, end, someBytes(r, 6)))
		at = end
	}
	return i
}

func region(base []byte, start, end int, replacement []byte) Region {
	return Region{start, end, len(replacement), bytes.Clone(base[start:end]), replacement}
}

// someBytes makes up to n bytes with many newlines and bytes of no text.
func someBytes(r *rand.Rand, n int) []byte {
	const alphabet = "ab\n\r\x00\xff\xc3\n"
	b := make([]byte, r.IntN(n+1))
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return b
}

// TestApplyAndInvertAgainstSplices tries 4000 edits of chance, and the soak 20,000.
func TestApplyAndInvertAgainstSplices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 4000
	if soak {
		rounds = 20_000
	}
	for range rounds {
		base := someBytes(r, 40)
		untouched := bytes.Clone(base)
		i := someIntent(r, base, 5)
		got, err := i.Apply(base)
		if err != nil {
			t.Fatalf("apply %+v to %q: %v", i, base, err)
		}
		if want := apply(i, base); !bytes.Equal(got, want) {
			t.Fatalf("%+v on %q gives %q, want %q", i, base, got, want)
		}
		back, err := i.Invert(base)
		if err != nil {
			t.Fatal(err)
		}
		if back.Base != Digest(got) || back.Result != i.Base {
			t.Fatalf("inverse is from %s to %s", back.Base, back.Result)
		}
		again, err := back.Apply(got)
		if err != nil || !bytes.Equal(again, base) {
			t.Fatalf("%+v taken back gives %q, %v; want %q", i, again, err, base)
		}
		read := i // as an event has it
		read.Regions = nil
		for _, r := range i.Regions {
			read.Regions = append(read.Regions, Region{Start: r.Start, End: r.End, Len: r.Len})
		}
		full, err := read.Fill(base, got)
		if diff := cmp.Diff(i, full, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%+v filled from %q and %q: %v %s", read, base, got, err, diff)
		}
		if other := append([]byte("!"), got...); len(i.Regions) > 0 {
			if _, err := read.Fill(base, other); err == nil {
				t.Fatalf("%+v filled from %q and %q", read, base, other)
			}
		}
		if !bytes.Equal(base, untouched) {
			t.Fatal("base was written to")
		}
	}
}

func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		base, result := someBytes(r, 60), someBytes(r, 60)
		if r.IntN(2) == 0 {
			result = apply(someIntent(r, base, 4), base)
		}
		i := Intent{Path: "f", Base: Digest(base), Regions: Between(base, result)}
		got, err := i.Apply(base)
		if err != nil || !bytes.Equal(got, result) {
			t.Fatalf("between %q and %q: %+v gives %q, %v", base, result, i.Regions, got, err)
		}
		for n, c := range i.Regions {
			if bytes.Equal(c.Old, c.New) {
				t.Fatalf("between %q and %q: region %d changes nothing", base, result, n)
			}
			if n > 0 && i.Regions[n-1].End == c.Start {
				t.Fatalf("between %q and %q: regions %d and %d touch", base, result, n-1, n)
			}
		}
	}
}

// What is alike at both ends is whole lines, as many as there are, and does not
// overlap.
func TestAlike(t *testing.T) {
	for _, test := range []struct {
		a, b       string
		start, end int
	}{
		{"", "", 0, 0},
		{"a\nb\nc\n", "a\nX\nc\n", 2, 2},
		{"a\nb", "a\nb\nc", 2, 0},
		{"a\nb\n", "a\nb\n", 4, 0},
		{"same", "same", 0, 4},
		{"ax\nc", "bx\nc", 0, 1},
		{"x\nx\n", "x\nx\nx\n", 4, 0},
		{"b\nc\n", "a\nb\nc\n", 0, 4},
		{"1c\n", "2c\n", 0, 0},
	} {
		start, end := alike(test.a, test.b)
		if start != test.start || end != test.end {
			t.Errorf("%q and %q are alike in %d and %d bytes, want %d and %d", test.a, test.b, start, end, test.start, test.end)
		}
	}
}

// BenchmarkBetween compares two files of a megabyte that differ in one line.
func BenchmarkBetween(b *testing.B) {
	base := bytes.Repeat([]byte("a line that is not alone, of 44 characters.\n"), 1<<20/44)
	result := bytes.Clone(base)
	copy(result[len(base)/2:], "changed")
	for b.Loop() {
		if got := Between(base, result); len(got) != 1 {
			b.Fatal(got)
		}
	}
}

func TestInvertBringsPermissionsBack(t *testing.T) {
	base, other := []byte("a\n"), Digest([]byte("b\n"))
	region := []Region{{End: 2, Len: 2, Old: base, New: []byte("b\n")}}
	tests := map[string]struct{ i, want Intent }{
		"changed": {
			Intent{Path: "a", Base: Digest(base), Regions: region, Mode: "0755", Was: "0600"},
			Intent{Path: "a", Base: other, Result: Digest(base), Mode: "0600", Was: "0755", Regions: []Region{
				{End: 2, Len: 2, Old: []byte("b\n"), New: base},
			}},
		},
		"removed": {
			Intent{Path: "a", Base: Digest(base), Remove: true, Was: "0700"},
			Intent{Path: "a", Result: Digest(base), Mode: "0700", Regions: []Region{{Len: 2, New: base}}},
		},
	}
	for name, tt := range tests {
		got, err := tt.i.Invert(base)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if err := (Intent{Path: "a", Base: other, Remove: true, Was: "rwx"}).Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("permissions that are none: %v", err)
	}
}
