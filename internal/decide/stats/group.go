package stats

import (
	"cmp"
	"maps"
	"slices"
)

// A Group is the failures of one signature, and what came of them.
type Group struct {
	Signature string  `json:"signature"`
	Count     int     `json:"count"`
	Sessions  int     `json:"sessions"`
	Mended    int     `json:"mended"`
	Ways      []Way   `json:"ways"` // the most frequent first
	Newest    Failure `json:"newest"`
}

// A Way is what was done after failures of a group, and how often it helped.
type Way struct {
	Calls  string `json:"calls"`
	Count  int    `json:"count"`
	Mended int    `json:"mended"`

	then []Next // of each of them
}

// Grouped groups failures by their signatures, the most frequent first.
func Grouped(all []Failure) []Group {
	groups := make(map[string]*Group)
	ways := make(map[string]map[string]*Way)
	sessions := make(map[string]map[string]bool)
	for _, f := range all {
		sig := f.Signature()
		g := groups[sig]
		if g == nil {
			g = &Group{Signature: sig}
			groups[sig], ways[sig], sessions[sig] = g, make(map[string]*Way), make(map[string]bool)
		}
		g.Count++
		sessions[sig][f.Session] = true
		if !f.Time.Before(g.Newest.Time) {
			g.Newest = f
		}
		w := ways[sig][f.Way()]
		if w == nil {
			w = &Way{Calls: f.Way(), then: f.Then}
			ways[sig][f.Way()] = w
		}
		w.Count++
		if f.Mended {
			g.Mended++
			w.Mended++
		}
	}
	var sorted []Group
	for _, sig := range slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[b].Count, groups[a].Count), cmp.Compare(a, b))
	}) {
		g, of := groups[sig], ways[sig]
		g.Sessions = len(sessions[sig])
		for _, calls := range slices.SortedFunc(maps.Keys(of), func(a, b string) int {
			return cmp.Or(cmp.Compare(of[b].Count, of[a].Count), cmp.Compare(a, b))
		}) {
			g.Ways = append(g.Ways, *of[calls])
		}
		sorted = append(sorted, *g)
	}
	return sorted
}

// minLesson is how often a way must have been taken before it is a lesson.
const minLesson = 3

// Lesson returns the way that mends failures of g, if one does in most cases: what
// could be told to a model in a rule file, or be done by the runtime.
func (g Group) Lesson() (Way, bool) {
	for _, w := range g.Ways {
		if w.Count >= minLesson && w.Mended*4 >= w.Count*3 && w.Mended*2 > g.Count {
			return w, true
		}
	}
	return Way{}, false
}

// Names returns the keys of m, the most frequent first.
func Names[K cmp.Ordered](m map[K]int) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
}
