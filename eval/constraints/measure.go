package constraints

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/decide/constraint"
)

// A Score counts what a reader found in texts, and what there was.
type Score struct {
	Right, Found, Labelled int
	Kinds                  int // of those that are right, with the kind of their label
}

// Precision is the share of what was found that is a constraint, 1 if nothing was.
func (s Score) Precision() float64 { return share(s.Right, s.Found) }

// Recall is the share of the constraints that were found, 1 if there are none.
func (s Score) Recall() float64 { return share(s.Right, s.Labelled) }

func share(part, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(part) / float64(of)
}

func (s Score) String() string {
	return fmt.Sprintf("precision %.3f (%d of %d), recall %.3f (%d of %d), right kind %d", s.Precision(), s.Right, s.Found, s.Recall(), s.Right, s.Labelled, s.Kinds)
}

// Plus returns both together.
func (s Score) Plus(t Score) Score {
	return Score{s.Right + t.Right, s.Found + t.Found, s.Labelled + t.Labelled, s.Kinds + t.Kinds}
}

// Measure compares what find finds with the labels. A constraint is found where at
// least half of the shorter of the two pieces of text is in the other. A second piece
// of one that was found counts as nothing: "no curl, no wget" is labelled as one.
// Each fault is told.
func Measure(texts []Text, find func(string) []constraint.Constraint, told func(fault string)) (s Score) {
	for _, t := range texts {
		s.Labelled += len(t.Constraints)
		hit := make([]bool, len(t.Constraints))
		at := 0
		for _, f := range find(t.Text) {
			start := at + strings.Index(t.Text[at:], f.Words)
			at = start + len(f.Words)
			met := t.met(start, at)
			if len(met) == 0 {
				s.Found++
				told(fmt.Sprintf("wrongly found %q in %q", f.Words, t.Text))
			}
			for _, i := range met {
				if !hit[i] {
					hit[i] = true
					s.Found, s.Right = s.Found+1, s.Right+1
					if f.Kind == t.Constraints[i].Kind {
						s.Kinds++
					} else {
						told(fmt.Sprintf("kind is %s, not %s: %q", f.Kind, t.Constraints[i].Kind, f.Words))
					}
					break
				}
			}
		}
		for i, c := range t.Constraints {
			if !hit[i] {
				told(fmt.Sprintf("missed %q in %q", c.Words, t.Text))
			}
		}
	}
	return s
}
