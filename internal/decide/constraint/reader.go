package constraint

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

// A Reader weighs each part of a text: does it bind, and is it a wish to be asked or
// a ban. Its weights are learned from labelled texts (go run ./eval constraints), and
// are tables that can be read.
type Reader struct{ English, Chinese Weights }

// Weights are those of features. What is not there weighs nothing; that of "" counts
// for every part.
type Weights map[string]Weight

// A Weight is in hundredths: those of the features of a part add up to the logarithm
// of the odds that it binds and, if it does, that it asks or forbids.
type Weight struct{ Binds, Asks, Forbids int32 }

func (w *Weight) add(v Weight) {
	w.Binds, w.Asks, w.Forbids = w.Binds+v.Binds, w.Asks+v.Asks, w.Forbids+v.Forbids
}

// kind returns what a part does if it binds.
func (w Weight) kind() Kind {
	switch {
	case w.Asks > 0:
		return Ask
	case w.Forbids > 0:
		return Forbid
	}
	return Require
}

// ParseWeights reads a table of lines of three weights and a feature, with tabs
// between them. A weight that is left out is none. Lines of another form are skipped.
func ParseWeights(table string) Weights {
	w := make(Weights, strings.Count(table, "\n"))
	for line := range strings.Lines(table) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if len(fields) < 4 {
			continue
		}
		binds, ok1 := hundredths(fields[0])
		asks, ok2 := hundredths(fields[1])
		forbids, ok3 := hundredths(fields[2])
		if ok1 && ok2 && ok3 {
			w[fields[3]] = Weight{binds, asks, forbids}
		}
	}
	return w
}

func hundredths(s string) (n int32, ok bool) {
	if s == "" {
		return 0, true
	}
	long, err := strconv.ParseInt(s, 10, 32)
	return int32(long), err == nil
}

var (
	//go:embed weights.en.tsv
	englishTable string

	//go:embed weights.zh.tsv
	chineseTable string

	english = sync.OnceValue(func() Weights { return ParseWeights(englishTable) })
	chinese = sync.OnceValue(func() Weights { return ParseWeights(chineseTable) })
)

// reader returns the one that is built in, with the tables that m needs: each takes
// some milliseconds to read.
func reader(m message) (r Reader) {
	for _, c := range m.chunks {
		if c.chinese {
			r.Chinese = chinese()
		} else {
			r.English = english()
		}
	}
	return r
}

// weights returns those of the language of c.
func (r Reader) weights(c chunk) Weights {
	if c.chinese {
		return r.Chinese
	}
	return r.English
}

// weigh returns what the features of the i-th part of m add up to.
func (r Reader) weigh(m message, i int) (sum Weight) {
	weights := r.weights(m.chunks[i])
	sum = weights[""]
	m.features(i, func(feature []byte) { sum.add(weights[string(feature)]) })
	return sum
}

// enough is how likely a part has to be to bind, to count. With it both precision and
// recall are good in texts whose authors the reader has not learned from
// (docs/constraints.md).
const enough = 0.55

// likely returns how likely a part is to bind.
func (w Weight) likely() float64 { return 1 / (1 + math.Exp(-float64(w.Binds)/100)) }

// binds reports whether a part is a constraint.
func (w Weight) binds() bool { return w.likely() >= enough }

// hear returns what binds in a text, of which m is made.
func (r Reader) hear(text string, m message) []span {
	weights := make([]Weight, len(m.chunks))
	for i := range m.chunks {
		weights[i] = r.weigh(m, i)
	}
	return join(text, m, weights)
}

// kindOf returns what words do that are known to bind.
func kindOf(words string) Kind {
	m := weighed(words)
	r := reader(m)
	var sum Weight
	for i := range m.chunks {
		sum.add(r.weigh(m, i))
	}
	return sum.kind()
}

// A Part is what the reader weighs as a whole, with the features that it weighs.
type Part struct {
	Start, End int // bytes of the text
	Chinese    bool
	Features   []string // each as often as it is there
}

// Parts returns those of a text, for a reader to learn from.
func Parts(text string) (all []Part) {
	m := weighed(text)
	for i, c := range m.chunks {
		p := Part{Start: c.start, End: c.end, Chinese: c.chinese}
		m.features(i, func(feature []byte) { p.Features = append(p.Features, string(feature)) })
		all = append(all, p)
	}
	return all
}
