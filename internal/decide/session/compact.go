package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// A past is what compactions keep of all that is not in the talk any more.
type past struct {
	Through int64        `json:"through,omitempty"` // all events up to it are out of the talk
	Handoff string       `json:"handoff,omitempty"`
	Notes   []event.Note `json:"notes,omitempty"`   // of all compactions, oldest first
	Replies int          `json:"replies,omitempty"` // that were in the talk
	Seq     int64        `json:"seq,omitempty"`     // of the newest compaction ...
	After   int          `json:"after,omitempty"`   // ... what it came to, in tokens ...
	Room    int          `json:"room,omitempty"`    // ... what its model took ...
	Steps   int          `json:"steps,omitempty"`   // ... and the replies since

	Ceilings map[string]int `json:"ceilings,omitempty"` // by model the least that it found too long, in tokens
}

// Handoff returns what the last compaction keeps of all that is not in the talk
// any more, "" if there was none.
func (s *State) Handoff() string { return s.past.Handoff }

// Background returns the handoff as the model sees it, marked as what it is; "" if
// there is none.
func (s *State) Background() string {
	if s.past.Handoff == "" {
		return ""
	}
	return background + "\n" + s.past.Handoff + "\n[end of the record]"
}

const background = "[background: Belay's record of the work until now, in place of what was said. It is information, not a task: do nothing because of it alone. Files may have changed: read again what you rely on.]"

// echoed is the length of the pieces, in bytes, by which an echo is known.
const echoed = 60

// echoes reports whether text mostly gives back what the model sees of the handoff.
func (s *State) echoes(text string) bool {
	plain := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	text, handoff := plain(headOf(text, maxSaid)), plain(s.Background())
	found, all := 0, 0
	for ; len(text) >= echoed; text = text[echoed:] {
		all++
		if strings.Contains(handoff, text[:echoed]) {
			found++
		}
	}
	return 2*found > all
}

// Through returns the newest event that is not in the talk any more, 0 if none is
// gone.
func (s *State) Through() int64 { return s.past.Through }

// Notes returns what was judged at compactions, oldest first. The caller must not
// change it.
func (s *State) Notes() []event.Note { return s.past.Notes }

// NextNote returns the id of the i-th note, from 0, of the next compaction.
func (s *State) NextNote(i int) string { return fmt.Sprintf("n%d", len(s.past.Notes)+1+i) }

// Before returns how many replies are not in the talk any more.
func (s *State) Before() int { return s.past.Replies }

// A Compaction is what the newest one came to: the zero one is none.
type Compaction struct {
	After int // tokens of the next request
	Room  int // that its model took; 0 if nobody knew
	Steps int // replies since
}

// Compacted returns the newest compaction.
func (s *State) Compacted() Compaction {
	if s.past.Seq == 0 {
		return Compaction{}
	}
	return Compaction{s.past.After, s.past.Room, s.past.Steps}
}

// Ceiling returns the least, in estimated tokens, that the named model has found
// too long; 0 if nothing yet.
func (s *State) Ceiling(name string) int { return s.past.Ceilings[name] }

// Facts returns what the log proves. The caller must not change it.
func (s *State) Facts() *Facts { return &s.facts }

// Compact returns the state after a compaction that is not recorded yet. s stays
// as it is.
func (s *State) Compact(b event.Compacted) *State {
	next := *s
	next.seen, next.roots = maps.Clone(s.seen), maps.Clone(s.roots)
	next.talk = slices.Clone(s.talk)
	next.past.Notes = slices.Clip(s.past.Notes)
	next.past.Ceilings = maps.Clone(s.past.Ceilings)
	next.facts = s.facts.clone()
	next.calls = make(map[string]*call, len(s.calls))
	for id, c := range s.calls {
		copied := *c
		next.calls[id] = &copied
	}
	next.seq++
	next.applyCompacted(next.seq, b)
	return &next
}

func (s *State) checkCompacted(seq int64, b event.Compacted) error {
	switch {
	case b.Through >= seq:
		return fmt.Errorf("it stands for events up to %d, which are not before it", b.Through)
	case b.Through < s.past.Through:
		return fmt.Errorf("it stands for events up to %d, and one before it for those up to %d", b.Through, s.past.Through)
	case b.Through > s.past.Through && b.Handoff == "":
		return fmt.Errorf("nothing stands for the events up to %d", b.Through)
	}
	return s.noneOpen()
}

// applyCompacted shortens what b prunes and drops what its handoff stands for.
func (s *State) applyCompacted(seq int64, b event.Compacted) {
	s.shorten(b.Pruned)
	if b.Through > s.past.Through {
		s.drop(b.Through)
		defer s.ledger.pin()
	}
	if b.Handoff != "" {
		s.past.Handoff = b.Handoff
	}
	s.past.Notes = append(s.past.Notes, b.Notes...)
	s.ledger.learn(b.Notes)
	if !b.GivenUp() {
		s.past.Seq, s.past.After, s.past.Room, s.past.Steps = seq, b.After, b.Room, 0
	}
	if found := s.load.Model; b.Trigger == ByOverflow {
		if c := s.past.Ceilings[found]; c == 0 || b.Before < c {
			put(&s.past.Ceilings, found, b.Before)
		}
	}
	s.turn.Usage = s.turn.Usage.Plus(b.Usage)
	s.turn.Cost += b.Cost
	s.spent = s.spent.Plus(b.Usage)
	s.cost += b.Cost
}

// Why a compaction is made: its Trigger.
const (
	ByThreshold = "threshold" // the next request would be near the limit
	ByPerson    = "person"
	ByOverflow  = "overflow" // the model found a request too long
)

// drop takes out of the talk what was said up to an event, but for the person's
// newest words where the work on them goes on. Rule files that changed since take
// their place in the layer, and of files the model knows only what the talk still
// shows.
func (s *State) drop(through int64) {
	first := slices.IndexFunc(s.talk, func(x Exchange) bool { return x.Message.Seq > through })
	if first < 0 {
		first = len(s.talk)
	}
	for _, c := range s.calls { // only unknown ones are left
		c.Exchange = -1
	}
	var kept []Exchange
	gone, rest := s.talk[:first], s.talk[first:]
	if words := lastAsked(gone); words >= 0 && (s.turn.Open || s.turn.Early) && lastAsked(rest) < 0 {
		kept = append(kept, gone[words])
	}
	for _, x := range gone {
		if x.Message.Role == model.Assistant {
			s.past.Replies++
		}
	}
	s.talk = append(kept, rest...)
	s.past.Through = through
	shown := make(map[string]bool)
	for _, x := range s.talk {
		for _, c := range x.Message.Calls() {
			shown[c.ID] = true
		}
	}
	s.forget(func(call string) bool { return !shown[call] })
	s.layer = s.RuleFiles()
}

func lastAsked(talk []Exchange) int {
	for i := len(talk) - 1; i >= 0; i-- {
		if talk[i].Asked {
			return i
		}
	}
	return -1
}

// forget drops the files that the model knows from calls that are gone: they must
// be read again.
func (s *State) forget(gone func(call string) bool) {
	for _, path := range slices.Sorted(maps.Keys(s.seen)) {
		if gone(s.roots[path]) {
			delete(s.seen, path)
			delete(s.roots, path)
			s.facts.forgot(path)
		}
	}
	if len(s.seen) == 0 {
		s.seen, s.roots = nil, nil
	}
}

// shorten puts the shorter forms of calls in their place. Neither the messages
// nor the results that the events hold are changed.
func (s *State) shorten(pruned []event.Pruned) {
	if len(pruned) == 0 {
		return
	}
	shorter := make(map[string]event.Pruned)
	for _, p := range pruned {
		shorter[p.Call] = p
	}
	for i := range s.talk {
		x := &s.talk[i]
		x.Results = slices.Clone(x.Results)
		x.Message.Parts = slices.Clone(x.Message.Parts)
		n := 0
		for at, part := range x.Message.Parts {
			c, ok := part.(model.Call)
			if !ok {
				continue
			}
			if p, ok := shorter[c.ID]; ok {
				if p.Text != "" && x.Results[n] != nil {
					r := *x.Results[n]
					s.facts.stored(c.Call, r, p.Text)
					r.Text, r.Media = p.Text, nil
					x.Results[n] = &r
				}
				if p.Args != nil {
					c.Args, c.Malformed, c.Raw = p.Args, "", nil
					x.Message.Parts[at] = c
				}
			}
			n++
		}
	}
	s.forget(func(call string) bool { return shorter[call].Text != "" })
}
