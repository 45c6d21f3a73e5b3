package prompt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/recall"
)

var slots = []recall.Slot{recall.Goal, recall.Rules, recall.Definition, recall.Caller, recall.Test, recall.Diff, recall.Document}

// anyItems are items of all kinds: too large, alike, pinned, seen, useless.
func anyItems(rng *rand.Rand) (items []recall.Item) {
	for range rng.IntN(14) {
		first := 1 + rng.IntN(30)
		i := recall.Item{
			Slot: slots[rng.IntN(len(slots))], Path: fmt.Sprint("f", rng.IntN(4)), First: first, Last: first + rng.IntN(10),
			Digest: fmt.Sprint(rng.IntN(2)), Text: strings.Repeat("word ", rng.IntN(120)),
			Score: float64(rng.IntN(11)) / 10, Why: "w", Pinned: rng.IntN(12) == 0,
		}
		i.Source = fmt.Sprintf("%s:%d-%d", i.Path, i.First, i.Last)
		if rng.IntN(5) == 0 {
			i.Path, i.First, i.Last = "", 0, 0
		}
		items = append(items, i)
	}
	return items
}

func anyBudget(rng *rand.Rand) Budget {
	b := Budget{
		Tokens: rng.IntN(500), Quota: map[recall.Slot]int{}, Weight: map[recall.Slot]float64{},
		Least: float64(rng.IntN(5)) / 10, Order: slices.Clone(slots), Seen: map[string]string{"f0": "0", "f1": "1"},
	}
	rng.Shuffle(len(slots), func(i, j int) { b.Order[i], b.Order[j] = b.Order[j], b.Order[i] })
	for _, s := range slots {
		b.Quota[s], b.Weight[s] = rng.IntN(150), float64(rng.IntN(11))/10
	}
	return b
}

// packedByHand is Pack as one would do it with a pencil: again and again the best
// item that is left is looked at, first within the quotas, then beyond.
func packedByHand(items []recall.Item, b Budget) map[string]int {
	const waiting, in, out = 0, 1, 2
	state := make([]int, len(items))
	cost := func(i recall.Item) int {
		_, dropped := Pack([]recall.Item{{Slot: i.Slot, Source: i.Source, Why: i.Why, Text: i.Text}}, Budget{Least: 9})
		return dropped[0].Tokens
	}
	spent := func(slot recall.Slot) (n int) {
		for k, i := range items {
			if state[k] == in && (slot == "" || slot == i.Slot) {
				n += cost(i)
			}
		}
		return n
	}
	overlaps := func(i recall.Item) bool {
		for k, j := range items {
			if state[k] == in && i.Path != "" && i.Path == j.Path && (i.Slot == recall.Diff) == (j.Slot == recall.Diff) && max(i.First, j.First) <= min(i.Last, j.Last) {
				return true
			}
		}
		return false
	}
	best := func(wanted func(int) bool) int {
		found := -1
		for k := range items {
			if state[k] == waiting && wanted(k) && (found < 0 || (&packing{Budget: b}).compare(items[k], items[found]) < 0) {
				found = k
			}
		}
		return found
	}
	over := map[int]bool{}
	for {
		k := best(func(k int) bool { return !over[k] })
		if k < 0 {
			break
		}
		i := items[k]
		switch {
		case i.Pinned:
			state[k] = in
		case i.Text == "" || i.Slot != recall.Diff && i.Digest == b.Seen[i.Path] && i.Digest != "" || i.Score*b.Weight[i.Slot] < b.Least || overlaps(i):
			state[k] = out
		case spent(i.Slot)+cost(i) <= b.Quota[i.Slot] && spent("")+cost(i) <= b.Tokens:
			state[k] = in
		default:
			over[k] = true
		}
	}
	for _, slot := range b.Order {
		for {
			k := best(func(k int) bool { return items[k].Slot == slot })
			if k < 0 {
				break
			}
			state[k] = out
			if !overlaps(items[k]) && spent("")+cost(items[k]) <= b.Tokens {
				state[k] = in
			}
		}
	}
	kept := map[string]int{}
	for k, i := range items {
		if state[k] == in {
			kept[fmt.Sprint(i)]++
		}
	}
	return kept
}

// TestR224_PackKeepsToItsBudget: it is what a pencil comes to, whatever the items
// and the budget; it never takes more, never drops what is pinned, loses nothing,
// and does not depend on the order of the items.
func TestR224_PackKeepsToItsBudget(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		items, b := anyItems(rng), anyBudget(rng)
		kept, dropped := Pack(items, b)
		if len(kept)+len(dropped) != len(items) {
			t.Fatalf("seed %d: %d kept and %d dropped of %d", seed, len(kept), len(dropped), len(items))
		}
		got, sum, pinned := map[string]int{}, 0, 0
		for _, i := range kept {
			if sum += i.Tokens; i.Pinned {
				pinned += i.Tokens
			}
			if i.Out != "" {
				t.Errorf("seed %d: %s is kept and out: %s", seed, i.Source, i.Out)
			}
			i.Tokens = 0
			got[fmt.Sprint(i)]++
		}
		for _, i := range dropped {
			if i.Pinned || i.Out == "" {
				t.Errorf("seed %d: %s was dropped: %q", seed, i.Source, i.Out)
			}
		}
		if sum > max(b.Tokens, pinned) {
			t.Errorf("seed %d: %d tokens of %d, pinned %d", seed, sum, b.Tokens, pinned)
		}
		if d := cmp.Diff(packedByHand(items, b), got); d != "" {
			t.Fatalf("seed %d (-by hand +packed): %s", seed, d)
		}
		rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		again, out := Pack(items, b)
		if d := cmp.Diff(kept, again) + cmp.Diff(dropped, out); d != "" {
			t.Fatalf("seed %d: in another order: %s", seed, d)
		}
	}
}

// one is an item of a slot with so many words.
func one(slot recall.Slot, name string, score float64, words int) recall.Item {
	return recall.Item{Slot: slot, Source: name, Path: name, First: 1, Last: 9, Digest: "d", Text: strings.Repeat("word ", words), Score: score, Why: "w"}
}

func names(items []recall.Item) (names []string) {
	for _, i := range items {
		names = append(names, i.Source)
	}
	return names
}

// TestR224_QuotasNotTopK: one role that has the ten best items does not crowd out
// another that has one.
func TestR224_QuotasNotTopK(t *testing.T) {
	items := []recall.Item{one(recall.Caller, "caller.go", 0.5, 100)}
	for n := range 10 {
		items = append(items, one(recall.Definition, fmt.Sprintf("d%d.go", n), 0.9, 100))
	}
	b := Budget{Tokens: 600, Quota: map[recall.Slot]int{recall.Definition: 450, recall.Caller: 150}, Order: slots,
		Weight: map[recall.Slot]float64{recall.Definition: 1, recall.Caller: 1}}
	kept, _ := Pack(items, b)
	if got := names(kept); !slices.Contains(got, "caller.go") || len(got) != 5 {
		t.Errorf("kept %q", got)
	}
	alone, _ := Pack(items[1:], b) // what callers leave goes to definitions
	if len(alone) != 5 {
		t.Errorf("kept %q", names(alone))
	}
}

// TestR228_OnlyWhatHelpsEnters even where everything fits, and nothing that the
// model has before it.
func TestR228_OnlyWhatHelpsEnters(t *testing.T) {
	r := opening(t)
	r.add(goal("mend it"))
	b := BudgetFor(&r.State, wide)
	b.Seen = map[string]string{"read.go": "d", "changed.go": "other"}
	kept, dropped := Pack([]recall.Item{
		one(recall.Definition, "a.go", 0.8, 10), one(recall.Definition, "far.go", 0.1, 10),
		one(recall.Definition, "read.go", 0.9, 10), one(recall.Definition, "changed.go", 0.9, 10),
	}, b)
	if d := cmp.Diff([]string{"changed.go", "a.go"}, names(kept)); d != "" {
		t.Error(d)
	}
	why := map[string]string{}
	for _, i := range dropped {
		why[i.Source] = i.Out
	}
	if d := cmp.Diff(map[string]string{"read.go": outSeen, "far.go": outScore}, why); d != "" {
		t.Error(d)
	}
}
