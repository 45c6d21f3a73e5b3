package prompt

import (
	"cmp"
	"slices"

	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Why an item was left out.
const (
	outSeen  = "the model has read it, and it is as it was"
	outScore = "it would not help with what is to be decided now"
	outTwice = "another item has it"
	outRoom  = "no room"
	outEmpty = "it says nothing, or in no role that there is"
)

// Pack chooses the items that enter the next request, in the order in which they
// are shown, and says of the others why not. Each slot spends its own quota on its
// best items; what a slot leaves goes to the others in the order of the budget.
// Pinned items always enter, on account of their slot. Equal items in any order
// give equal results, and together they never take more than the budget, but for
// what is pinned.
func Pack(items []recall.Item, b Budget) (kept, dropped []recall.Item) {
	p := packing{Budget: b, room: b.Tokens, left: make(map[recall.Slot]int)}
	for slot, n := range b.Quota {
		p.left[slot] = n
	}
	sorted := slices.Clone(items)
	for i := range sorted {
		sorted[i].Tokens = itemTokens + tool.EstimateTokens(sorted[i].Source+sorted[i].Why+sorted[i].Text)
	}
	slices.SortFunc(sorted, p.compare)
	var beyond []recall.Item // the quota of their slot
	for _, i := range sorted {
		switch why := p.unwanted(i); {
		case why != "":
			p.drop(i, why)
		case i.Pinned || i.Tokens <= min(p.left[i.Slot], p.room):
			p.keep(i)
		default:
			beyond = append(beyond, i)
		}
	}
	for _, slot := range p.Order {
		for _, i := range beyond {
			switch {
			case i.Slot != slot:
			case p.covered(i):
				p.drop(i, outTwice)
			case i.Tokens > p.room:
				p.drop(i, outRoom)
			default:
				p.keep(i)
			}
		}
	}
	slices.SortFunc(p.kept, p.compare)
	slices.SortFunc(p.dropped, p.compare)
	return p.kept, p.dropped
}

// itemTokens is what stands around an item.
const itemTokens = 8

// A packing is a Pack at work.
type packing struct {
	Budget
	room          int
	left          map[recall.Slot]int
	kept, dropped []recall.Item
}

// worth is the score of i as it counts now.
func (p *packing) worth(i recall.Item) float64 { return i.Score * p.Weight[i.Slot] }

// compare orders items: pinned first, then by worth, then by what else tells them
// apart.
func (p *packing) compare(i, j recall.Item) int {
	switch {
	case i.Pinned && !j.Pinned:
		return -1
	case j.Pinned && !i.Pinned:
		return 1
	}
	return cmp.Or(cmp.Compare(p.worth(j), p.worth(i)), cmp.Compare(i.Slot, j.Slot),
		cmp.Compare(i.Source, j.Source), cmp.Compare(i.First, j.First), cmp.Compare(i.Last, j.Last),
		cmp.Compare(i.Text, j.Text), cmp.Compare(i.Why, j.Why))
}

// unwanted returns why i stays out whatever room there is, "" if it does not. A
// change is told again though its file is known: the file does not show it.
func (p *packing) unwanted(i recall.Item) string {
	switch {
	case i.Pinned:
		return ""
	case i.Text == "" || !slices.Contains(p.Order, i.Slot):
		return outEmpty
	case i.Slot != recall.Diff && i.Digest != "" && p.Seen[i.Path] == i.Digest:
		return outSeen
	case p.worth(i) < p.Least:
		return outScore
	case p.covered(i):
		return outTwice
	}
	return ""
}

// covered reports whether an item that is kept shows some lines of i.
func (p *packing) covered(i recall.Item) bool {
	return i.Path != "" && slices.ContainsFunc(p.kept, func(k recall.Item) bool {
		return k.Path == i.Path && (k.Slot == recall.Diff) == (i.Slot == recall.Diff) && k.First <= i.Last && i.First <= k.Last
	})
}

func (p *packing) keep(i recall.Item) {
	p.kept = append(p.kept, i)
	p.left[i.Slot] -= i.Tokens
	p.room -= i.Tokens
}

func (p *packing) drop(i recall.Item, why string) {
	i.Out = why
	p.dropped = append(p.dropped, i)
}
