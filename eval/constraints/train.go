package constraints

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/belay-agent/belay/internal/decide/constraint"
)

// How the weights are learned: logistic regression by stochastic gradients, with
// steps that shrink as AdaGrad has it (Duchi, Hazan and Singer 2011). Of each part
// some of the features are left out at each step, so that none is relied on alone
// (Srivastava and others 2014).
const (
	rounds  = 20
	rate    = 0.15
	shrinks = 1e-3 // by which weights are drawn to 0
	dropped = 0.4  // of the features
	rare    = 2    // a feature that is there less often is not learned
	least   = 9    // a weight of fewer hundredths is none
	leastOf = 14   // one for a kind, which is easily told
)

// An example is a part of a text: its features by number, and what is to be learned
// of it.
type example struct {
	features []int
	yes      bool
}

// Train returns a reader that has learned from texts. The same texts give the same.
func Train(texts []Text) constraint.Reader {
	var english, chinese []part
	for _, t := range texts {
		for _, p := range constraint.Parts(t.Text) {
			labelled := part{features: p.Features}
			if met := t.met(p.Start, p.End); len(met) > 0 {
				labelled.kind = t.Constraints[met[0]].Kind
			}
			if p.Chinese {
				chinese = append(chinese, labelled)
			} else {
				english = append(english, labelled)
			}
		}
	}
	return constraint.Reader{English: learn(english), Chinese: learn(chinese)}
}

// A part is one of a text with its label, "" if it does not bind.
type part struct {
	features []string
	kind     constraint.Kind
}

// learn returns what is learned from parts in one language.
func learn(parts []part) constraint.Weights {
	number := numbers(parts)
	rows := make([][]int, len(parts))
	for i, p := range parts {
		for _, f := range p.features {
			if n, ok := number[f]; ok {
				rows[i] = append(rows[i], n)
			}
		}
	}
	about := func(of, yes func(constraint.Kind) bool, least int32) []int32 {
		var examples []example
		for i, p := range parts {
			if of(p.kind) {
				examples = append(examples, example{rows[i], yes(p.kind)})
			}
		}
		return fit(examples, len(number), least)
	}
	any := func(constraint.Kind) bool { return true }
	bound := func(k constraint.Kind) bool { return k != "" }
	binds := about(any, bound, least)
	asks := about(bound, func(k constraint.Kind) bool { return k == constraint.Ask }, leastOf)
	forbids := about(bound, func(k constraint.Kind) bool { return k == constraint.Forbid }, leastOf)

	table := constraint.Weights{}
	for f, n := range number {
		if w := (constraint.Weight{Binds: binds[n], Asks: asks[n], Forbids: forbids[n]}); w != (constraint.Weight{}) {
			table[f] = w
		}
	}
	return table
}

// numbers gives each feature that is not rare a number. The one of "" counts for
// every part.
func numbers(parts []part) map[string]int {
	count := map[string]int{"": len(parts)}
	for _, p := range parts {
		for _, f := range p.features {
			count[f]++
		}
	}
	number := make(map[string]int)
	for _, f := range slices.Sorted(maps.Keys(count)) {
		if count[f] >= rare {
			number[f] = len(number)
		}
	}
	return number
}

// fit returns the weights of n features, the first of which counts always, but for
// those below least.
func fit(examples []example, n int, least int32) []int32 {
	weights, squares := make([]float64, n), make([]float64, n)
	random := rand.New(rand.NewPCG(1, 2))
	step := func(i int, slope float64) {
		slope += shrinks * weights[i]
		squares[i] += slope * slope
		weights[i] -= rate * slope / (math.Sqrt(squares[i]) + 1)
	}
	var taken []int
	for range rounds {
		random.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
		for _, e := range examples {
			taken = append(taken[:0], 0)
			sum := weights[0]
			for _, f := range e.features {
				if random.Float64() >= dropped {
					taken = append(taken, f)
					sum += weights[f]
				}
			}
			off := 1 / (1 + math.Exp(-sum))
			if e.yes {
				off--
			}
			for _, f := range taken {
				step(f, off)
			}
		}
	}
	out := make([]int32, n)
	for i, w := range weights {
		if i > 0 {
			w *= 1 - dropped // as many as were taken
		}
		if h := int32(math.Round(100 * w)); h >= least || -h >= least {
			out[i] = h
		}
	}
	return out
}
