package effect

import "slices"

// Covers reports whether s permits everything in t: whether each effect of t is
// covered by one of s. It is reflexive and transitive, and what conflicts with
// t conflicts with every set that covers t.
//
// Anything covers every kind but Permanent. Otherwise an effect covers only its
// own kind: writing a path does not permit reading it. Of a path it covers the
// path alone or, with Tree, all below it too; of everything else the same name.
// Where On is "" it covers whatever the other is on.
func (s Set) Covers(t Set) bool {
	for _, f := range t {
		if !slices.ContainsFunc(s, func(e Effect) bool { return e.covers(f) }) {
			return false
		}
	}
	return true
}

func (e Effect) covers(f Effect) bool {
	switch {
	case e.Kind == Anything:
		return f.Kind != Permanent
	case e.Kind != f.Kind:
		return false
	case e.onPath():
		dir, all := e.place()
		p, tree := f.place()
		return all && holds(dir, p) || dir == p && !tree
	}
	return e.On == "" || e.On == f.On
}
