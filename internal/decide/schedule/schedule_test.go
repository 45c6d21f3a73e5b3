package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// R086: any run that keeps to Order ends as the serial run: with the same
// world, and with every call having seen the same.
func TestAnyRunThatKeepsToOrderEndsAsTheSerialRun(t *testing.T) {
	r := random(t)
	overlapping := 0
	for range 20_000 {
		calls := randomCalls(r)
		want := run(calls, serially(calls), r)
		got := run(calls, Order(sets(calls)), r)
		if got.most > 1 {
			overlapping++
		}
		if d := cmp.Diff(want.saw, got.saw); d != "" {
			t.Fatalf("%v\nwaits %v\nsaw other things: %s", calls, Order(sets(calls)), d)
		}
		if d := cmp.Diff(want.world, got.world); d != "" {
			t.Fatalf("%v\nwaits %v\nleft another world: %s", calls, Order(sets(calls)), d)
		}
	}
	if overlapping < 5_000 {
		t.Errorf("calls overlapped in %d runs only", overlapping)
	}
}

// The model world is worth something only if it can tell.
func TestTheModelWorldTellsWhenNobodyWaits(t *testing.T) {
	r := random(t)
	differ := 0
	for range 2_000 {
		calls := randomCalls(r)
		want, got := run(calls, serially(calls), r), run(calls, make(Waits, len(calls)), r)
		if !cmp.Equal(want.saw, got.saw) || !cmp.Equal(want.world, got.world) {
			differ++
		}
	}
	if differ < 200 {
		t.Errorf("of 2000 runs without waits only %d ended otherwise", differ)
	}
}

// R081, R083, R084, R077, R078: who waits, by example.
func TestOrder(t *testing.T) {
	read := func(p string) effect.Set { return effect.Set{{Kind: effect.Read, On: p}} }
	grep := effect.Set{{Kind: effect.Read, On: ".", Tree: true}}
	edit := func(p string) effect.Set {
		return effect.Set{{Kind: effect.Read, On: p}, {Kind: effect.Write, On: p}}
	}
	git, anything := effect.Set{{Kind: effect.Git}}, effect.Set{{Kind: effect.Anything}}
	port := effect.Set{{Kind: effect.Resource, On: "port:80"}}
	tests := []struct {
		name  string
		calls []effect.Set
		want  Waits
	}{
		{"nothing", nil, Waits{}},
		{"reads and searches overlap", []effect.Set{read("a"), grep, read("a"), grep}, Waits{nil, nil, nil, nil}},
		{"edits of one file follow each other", []effect.Set{edit("a"), edit("a"), edit("a")}, Waits{nil, {0}, {0, 1}}},
		{"edits of two files overlap", []effect.Set{edit("a"), edit("b")}, Waits{nil, nil}},
		{"a read waits for the edit before it, not after", []effect.Set{read("a"), edit("a"), read("a")}, Waits{nil, {0}, {1}}},
		{"the index is one at a time", []effect.Set{git, read("a"), git}, Waits{nil, nil, {0}}},
		{"so is a port", []effect.Set{port, read("a"), port}, Waits{nil, nil, {0}}},
		{"what is not understood runs alone", []effect.Set{read("a"), anything, read("b"), anything}, Waits{nil, {0}, {1}, {0, 1, 2}}},
		{"what does nothing waits for nothing", []effect.Set{anything, nil, anything}, Waits{nil, nil, {0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Order(tt.calls)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWaitsAreForEarlierCallsAndInOrder(t *testing.T) {
	r := random(t)
	for range 5_000 {
		for i, earlier := range Order(sets(randomCalls(r))) {
			if !slices.IsSorted(earlier) || slices.ContainsFunc(earlier, func(j int) bool { return j >= i }) {
				t.Fatalf("call %d waits for %v", i, earlier)
			}
		}
	}
}

// random returns a source whose seed a failing test shows.
func random(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
