package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// Of reports on a turn, or with turn 0 on the whole session. Without images, which
// may be nil, less is known of lines and of tests.
func (l *Log) Of(turn int, images Images) Report {
	r := Report{Session: l.session, Turn: turn, Changes: []Change{}, Checks: []Check{}}
	if turn < 0 || turn >= len(l.turns) {
		return r
	}
	steps := slices.DeleteFunc(slices.Clone(l.steps), func(s *step) bool { return turn > 0 && s.turn != turn })
	end := l.turns[len(l.turns)-1]
	if turn > 0 {
		end = l.turns[turn]
		r.Task = end.task
	}
	r.Stop, r.Answer = end.stop, strings.TrimSpace(end.answer)
	for _, t := range end.todo {
		if t.State != "done" {
			r.Todo = append(r.Todo, t)
		}
	}
	for _, b := range l.bans {
		stops := session.Enforced(b.Bans)
		r.Constraints = append(r.Constraints, Constraint{b.ID, b.Words, len(stops) > 0, stops})
	}
	for _, s := range steps {
		if !s.looks && s.turn > 0 && s.call.Tool != "Todo" {
			r.ran, r.last = true, s.what
		}
		if s.bare != "" {
			r.Uncovered = append(r.Uncovered, s.call.ID+": "+s.bare)
		}
	}
	all := slices.DeleteFunc(nets(steps), func(n *net) bool { return n.kind() == "" })
	r.Checks = checks(steps)
	for _, n := range all {
		r.Changes = append(r.Changes, r.change(n, images))
	}
	r.scoped(l, steps)
	for _, s := range steps {
		for _, b := range s.broke {
			if r.changed(b.Path) && !slices.ContainsFunc(r.Broken, func(o Breach) bool { return o.Path == b.Path }) {
				r.Broken = append(r.Broken, b)
			}
		}
	}
	for _, n := range all {
		for _, what := range n.weakened(images) {
			r.Tests = append(r.Tests, Weakening{Path: n.path, What: what, Calls: n.calls, Asked: l.asksForTests(n)})
		}
	}
	r.Changes = renames(r.Changes, all)
	r.Open = open(steps)
	r.find()
	return r
}

func (r *Report) change(n *net, images Images) Change {
	c := Change{Path: n.path, Kind: n.kind(), Calls: n.calls}
	c.Added, c.Removed, c.Counted = n.lines(images)
	for _, check := range r.Checks {
		good := check.Outcome == passed || check.Outcome == untold
		if !good || check.after < n.last {
			continue
		}
		if check.Kind == "test" {
			c.Tested = check.Call
		} else {
			c.Built = check.Call
		}
	}
	return c
}

// checks returns the tests and builds among steps. What a line changed before its
// check, which ends it, the check has seen.
func checks(steps []*step) []Check {
	all := []Check{}
	number, code := 0, 0 // of changes so far, and of the newest that is not of prose
	for _, s := range steps {
		before := number
		for _, e := range s.edits {
			if number++; !isProse(e.Path) {
				code = number
			}
		}
		if s.check == nil {
			continue
		}
		c := *s.check
		if c.after = before; last(c.Command) {
			c.after = number
		}
		all = append(all, c)
	}
	for i := range all {
		c := &all[i]
		c.Current = c.after >= code && !slices.ContainsFunc(all[i+1:], func(later Check) bool { return later.Command == c.Command })
	}
	return all
}

// scoped finds the changes that are outside what the words of their turn name.
func (r *Report) scoped(l *Log, steps []*step) {
	paths := make(map[string]bool)
	for _, s := range l.steps {
		for _, e := range s.edits {
			paths[e.Path] = true
		}
		if strings.ContainsAny(s.target, "./") {
			paths[s.target] = true
		}
	}
	known := slices.Sorted(maps.Keys(paths))
	for number := 1; number < len(l.turns); number++ {
		if r.Turn > 0 && r.Turn != number {
			continue
		}
		names := named(l.turns[number], known)
		if names == nil {
			continue
		}
		for _, n := range names {
			if !slices.Contains(r.Named, n) {
				r.Named = append(r.Named, n)
			}
		}
		for _, s := range steps {
			for _, e := range s.edits {
				if s.turn == number && !within(e.Path, names) && r.changed(e.Path) && !slices.Contains(r.Outside, e.Path) {
					r.Outside = append(r.Outside, e.Path)
				}
			}
		}
	}
}

func (r *Report) changed(path string) bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Path == path })
}

// asksForTests reports whether the words of a turn that changed n speak of fewer
// or other tests.
func (l *Log) asksForTests(n *net) bool {
	return slices.ContainsFunc(n.steps, func(s *step) bool {
		return askedRE().MatchString(strings.Join(l.turns[s.turn].words, "\n"))
	})
}

// open returns the calls that did not come to a good end, where no like call did
// later. Looks that failed left nothing undone, and a check says for itself how it
// went.
func open(steps []*step) (all []Open) {
	for i, s := range steps {
		kind, why := string(s.status), ""
		if f := s.failure; f != nil {
			kind, why = string(f.Kind), f.Message
		}
		switch {
		case s.status == tool.Success, s.status == tool.Partial, s.settled:
			continue
		case s.check != nil && s.status == tool.Error:
			continue
		case s.looks && s.status == tool.Error && kind != string(tool.Denied) && kind != string(tool.NeedsApproval):
			continue
		case slices.ContainsFunc(steps[i+1:], func(later *step) bool {
			return later.what == s.what && (later.status == tool.Success || later.status == tool.Partial)
		}):
			continue
		case slices.ContainsFunc(all, func(o Open) bool { return o.What == s.what && o.Kind == kind }):
			continue
		}
		all = append(all, Open{Call: s.call.ID, What: s.what, Kind: kind, Why: why})
	}
	return all
}
