package constraint

import (
	"cmp"
	"math"
	"slices"
)

// A Heard is a part of a text as the reader weighs it: what it says of the whole is
// the sum of what its features weigh.
type Heard struct {
	Words   string
	Likely  float64 // that it binds, from 0 to 1
	Binds   bool    // it is likely enough
	Kind    Kind    // if it binds
	Reasons []Reason
}

// A Reason is a feature of a part, and by how much it speaks for a constraint, or
// against it: hundredths of the logarithm of the odds.
type Reason struct {
	Feature string
	Weight  int32
}

// Why returns how the parts of text are weighed, with the reasons of each, the
// weightiest first. The parts that bind become constraints of Find, some of them
// joined.
func Why(text string) (all []Heard) {
	m := weighed(text)
	r := reader(m)
	for i, c := range m.chunks {
		w := r.weigh(m, i)
		h := Heard{Words: text[c.start:c.end], Likely: w.likely(), Binds: w.binds(), Reasons: r.reasons(m, i)}
		if h.Binds {
			h.Kind = w.kind()
		}
		all = append(all, h)
	}
	return all
}

// reasons returns the features of the i-th part of m that weigh something.
func (r Reader) reasons(m message, i int) (all []Reason) {
	weights := r.weights(m.chunks[i])
	seen := make(map[string]int) // where in all
	m.features(i, func(feature []byte) {
		w := weights[string(feature)].Binds
		if w == 0 {
			return
		}
		at, known := seen[string(feature)]
		if !known {
			at = len(all)
			seen[string(feature)] = at
			all = append(all, Reason{Feature: string(feature)})
		}
		all[at].Weight += w
	})
	slices.SortStableFunc(all, func(a, b Reason) int {
		return cmp.Compare(math.Abs(float64(b.Weight)), math.Abs(float64(a.Weight)))
	})
	return all
}
