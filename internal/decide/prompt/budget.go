package prompt

import (
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/decide/session"
)

// A Budget is what items may take of the next request.
type Budget struct {
	Tokens int                     // together
	Quota  map[recall.Slot]int     // tokens that a slot has before others get what it leaves
	Weight map[recall.Slot]float64 // of a score, by how much the slot helps now
	Least  float64                 // weighted score below which nothing enters, even where everything fits
	Order  []recall.Slot           // all slots: who gets first what others leave
	Seen   map[string]string       // files that the model knows, by path and digest
}

// A share is what a slot has in a phase.
type share struct {
	slot   recall.Slot
	tokens int
	weight float64
}

// A plan is how a phase spends.
type plan struct {
	least  float64
	shares []share // in the order in which they get what others leave
}

// plans are the budgets of each phase in a window that has room for them. While
// something is changed they are 1,500 tokens for the goal, 1,000 for rules and
// interfaces, 5,000 for definitions, 4,000 for callers, 4,000 for tests and 3,000
// for changes and decisions; the other phases move tokens to what decides in them.
// Documents have what is left, and after a failure not even that.
var plans = map[recall.Phase]plan{
	recall.Exploring: {0.3, []share{
		{recall.Goal, 1500, 1}, {recall.Definition, 7000, 1}, {recall.Caller, 4000, 1}, {recall.Rules, 1000, 1},
		{recall.Test, 2000, 0.9}, {recall.Document, 2000, 0.9}, {recall.Diff, 1000, 0.3}}},
	recall.Changing: {0.4, []share{
		{recall.Goal, 1500, 1}, {recall.Definition, 5000, 1}, {recall.Caller, 4000, 1}, {recall.Test, 4000, 1},
		{recall.Rules, 1000, 1}, {recall.Diff, 3000, 0.3}, {recall.Document, 0, 0.6}}},
	recall.Failing: {0.5, []share{
		{recall.Goal, 1500, 1}, {recall.Test, 8000, 1}, {recall.Definition, 5000, 1}, {recall.Diff, 2500, 0.3},
		{recall.Caller, 1000, 0.9}, {recall.Rules, 500, 0.9}, {recall.Document, 0, 0.3}}},
	recall.Verifying: {0.5, []share{
		{recall.Goal, 2500, 1}, {recall.Diff, 7000, 0.3}, {recall.Test, 6000, 1}, {recall.Rules, 1000, 0.9},
		{recall.Definition, 1000, 0.6}, {recall.Caller, 1000, 0.6}, {recall.Document, 0, 0.3}}},
}

// most is what items have together where the window has room.
const most = 18_500

// itemShare is the part of what is free in the window, one in so many, that items
// may take: the rest is for what comes next.
const itemShare = 4

// headTokens is what system prompt and tools have at most, while no request has
// told: tests hold them to it.
const headTokens = 2_700

// BudgetFor returns what items may take of the next request to m, by the phase
// that the work is in. In a window that is nearly full all quotas shrink alike.
func BudgetFor(s *session.State, m model.Info) Budget {
	n := look(s)
	b := Budget{
		Tokens: min(most, free(s, m)/itemShare),
		Quota:  make(map[recall.Slot]int), Weight: make(map[recall.Slot]float64), Seen: s.Seen(),
	}
	p := plans[n.phase]
	b.Least = p.least
	for _, share := range p.shares {
		b.Quota[share.slot] = share.tokens * b.Tokens / most
		b.Weight[share.slot] = share.weight
		b.Order = append(b.Order, share.slot)
	}
	if n.far { // what was changed is not before the model any more
		b.Weight[recall.Diff] = 1
	}
	return b
}

// free returns how many tokens there are between what the next request will have
// without items and the limit of m.
func free(s *session.State, m model.Info) int {
	used, news := s.Load(), 0
	talk := s.Talk()
	for i := len(talk) - 1; i >= 0; i-- { // what came after the newest reply is in no request yet
		x := talk[i]
		for _, r := range x.Results {
			if r != nil {
				news += model.EstimateParts([]model.Part{model.CallResult{Text: r.Text, Media: r.Media}})
			}
		}
		if x.Message.Role == model.Assistant && used > 0 {
			break
		}
		news += x.Message.Estimate()
	}
	if used == 0 {
		used = headTokens
	}
	limit := Limit(m)
	if c := s.Ceiling(m.Name) * 9 / 10; c > 0 { // what the model once found too long
		limit = min(limit, c)
	}
	return max(0, limit-used-s.Calibrated(m.Name, news))
}
