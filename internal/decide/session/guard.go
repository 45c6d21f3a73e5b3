package session

import (
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A guard knows which calls are not worth making again yet, and which tools
// are in trouble.
type guard struct {
	failed   map[string]tool.Kind // by Call.Signature
	troubles map[string]trouble   // by tool
	misses   map[string]int       // by tool: failures by its arguments, in a row
}

type trouble struct {
	Failures int       `json:"failures"` // in a row
	Last     time.Time `json:"last"`
}

// Repeats returns how an equal call failed by its arguments, if one did since
// the last thing that could have made a difference: words of the user, a call
// that wrote or ran something and succeeded or, for a file that had not been
// read or had changed, a read that showed something new.
func (s *State) Repeats(c tool.Call) (tool.Kind, bool) {
	kind, failed := s.guard.failed[c.Signature()]
	return kind, failed
}

// Troubled returns how often in a row a tool failed by itself (see
// tool.Kind.ByTool), and when it last did.
func (s *State) Troubled(name string) (failures int, last time.Time) {
	t := s.guard.troubles[name]
	return t.Failures, t.Last
}

// Misses returns how often in a row calls of a tool failed by their arguments,
// each in other words: how long the model has been guessing.
func (s *State) Misses(name string) int { return s.guard.misses[name] }

func (g *guard) lift() { g.failed, g.misses = nil, nil }

func (g *guard) ended(c *call, r tool.Result, at time.Time, learned bool) {
	if learned {
		for sig, kind := range g.failed {
			if kind == tool.NotRead || kind == tool.Stale {
				delete(g.failed, sig)
			}
		}
	}
	if r.Failure == nil {
		delete(g.troubles, c.Plan.Call.Tool)
		delete(g.misses, c.Plan.Call.Tool)
		if !c.Plan.Effects().OnlyReads() {
			g.lift()
		}
		return
	}
	switch kind := r.Failure.Kind; {
	case kind.ByArguments():
		put(&g.failed, c.Plan.Call.Signature(), kind)
		put(&g.misses, c.Plan.Call.Tool, g.misses[c.Plan.Call.Tool]+1)
	case kind.ByTool():
		name := c.Plan.Call.Tool
		put(&g.troubles, name, trouble{g.troubles[name].Failures + 1, at})
	case kind == tool.NonzeroExit || kind == tool.Signalled: // the tool did its work
		delete(g.troubles, c.Plan.Call.Tool)
	}
}
