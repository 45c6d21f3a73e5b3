package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// files is what a log says of the files at one moment: the digests of those that
// were changed by then, "" for one that is gone.
type files map[string]string

func (f files) change(edits []edit.Intent) {
	for _, e := range edits {
		if e.Remove || e.Result != "" { // it was done
			f[e.Path] = e.Result
		}
	}
}

// differ names the first file that is not the same in both, and how.
func (f files) differ(is files) (how string, ok bool) {
	for _, path := range slices.Sorted(maps.Keys(f)) {
		switch have, changed := is[path]; {
		case !changed:
			return path + " was not changed as it had been", true
		case have != f[path]:
			return path + " was changed in another way", true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if _, changed := f[path]; !changed {
			return path + " was changed already", true
		}
	}
	return "", false
}

// only returns of f what is said of the files that edits change.
func (f files) only(edits []edit.Intent) files {
	its := make(files)
	for _, e := range edits {
		if digest, changed := f[e.Path]; changed {
			its[e.Path] = digest
		}
	}
	return its
}

// A made is a call that a model made. Their order is that in which they were asked
// for: calls that run together do not depend on each other.
type made struct {
	turn   int
	call   tool.Call
	result *tool.Result // nil if it has none
}

// A state follows the files through a session, what a person changed between the
// turns included.
type state struct {
	files
	turns []turn
	next  int // turn whose beginning is still to come
}

func (s *state) reach(turn int) {
	for ; s.next < min(turn, len(s.turns)); s.next++ {
		s.change(s.turns[s.next].edits)
	}
}

// shelve puts the calls of the model where they can be played from, each with the
// files as they were when it was made.
func (r *Recording) shelve(plans map[string]tool.Plan) {
	s := state{files: make(files), turns: r.turns}
	for _, m := range r.made {
		if m.result == nil {
			continue
		}
		s.reach(m.turn)
		sign := m.call.Signature()
		r.calls[sign] = append(r.calls[sign], &played{plan: plans[m.call.ID], result: *m.result, files: maps.Clone(s.files)})
		s.change(m.result.Edits)
	}
}

// A Doubt is why a session that was played proves nothing from a turn on: a call has
// no result, or one that it would not have had.
type Doubt struct {
	Turn int
	What string
}

// doubtsOf finds what in is, which was played from r with t, does not follow from the
// record: calls that may change something and were not made then, and calls that
// met other files.
func (r *Recording) doubtsOf(is *Recording, t *tape) (all []Doubt) {
	s := state{files: make(files), turns: r.turns}
	for _, m := range is.made {
		s.reach(m.turn)
		doubt := func(why string) {
			all = append(all, Doubt{m.turn, fmt.Sprintf("%s (%s) %s", m.call.Tool, m.call.ID, why)})
		}
		p := t.served[m.call.ID]
		switch {
		case p == nil && !t.looks[m.call.Tool]:
			doubt("was not made in the recorded session: what it would have done is not known")
		case p == nil || m.result == nil || kindOf(*m.result) != kindOf(p.result): // it was not played
		case len(p.result.Edits) > 0:
			if how, differ := p.files.only(p.result.Edits).differ(s.only(p.result.Edits)); differ {
				doubt("met another file than in the recorded session: " + how)
			}
			s.change(m.result.Edits)
		case !p.plan.Effects().OnlyReads():
			if how, differ := p.files.differ(s.files); differ {
				doubt("ran with other files than in the recorded session: " + how)
			}
		}
	}
	return all
}

func kindOf(r tool.Result) tool.Kind {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Kind
}
