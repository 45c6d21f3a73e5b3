package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// ErrInvalid reports an event that cannot follow the ones before it, such as
// a second result for a call.
var ErrInvalid = errors.New("event does not fit the session")

// Apply adds e, or returns ErrInvalid and leaves the state as it was.
func (s *State) Apply(e event.Event) error {
	if e.Seq != s.seq+1 {
		return fmt.Errorf("%w: event %d follows event %d", ErrInvalid, e.Seq, s.seq)
	}
	if err := s.check(e); err != nil {
		return fmt.Errorf("%w: event %d (%s): %w", ErrInvalid, e.Seq, e.Kind(), err)
	}
	s.seq = e.Seq
	s.apply(e)
	return nil
}

// check decides whether e may follow, changing nothing.
func (s *State) check(e event.Event) error {
	if err := e.Understood(); err != nil {
		return err
	}
	if s.opened.Session == "" {
		switch e.Body.(type) {
		case event.Opened, event.Opaque:
		default:
			return errors.New("the session is not open")
		}
	}
	switch b := e.Body.(type) {
	case event.Opened:
		if b.Session == "" {
			return errors.New("it names no session")
		}
	case event.Asked:
		return s.noneOpen()
	case event.Replied:
		return s.checkReplied(b)
	case event.Planned:
		return s.checkPlanned(b)
	case event.Decided:
		return s.checkDecided(b)
	case event.Started:
		c, err := s.unfinished(b.Call)
		if err == nil && !c.allowed {
			err = fmt.Errorf("call %s was not allowed", b.Call)
		}
		return err
	case event.Finished:
		_, err := s.unfinished(b.Call)
		return err
	case event.Settled:
		c := s.calls[b.Call]
		if c == nil || c.result == nil || c.result.Status != tool.Unknown {
			return fmt.Errorf("the outcome of call %q is not unknown", b.Call)
		}
	case event.Stopped:
		return s.noneOpen()
	}
	return nil
}

func (s *State) noneOpen() error {
	if len(s.open) > 0 {
		return fmt.Errorf("calls %s have no result", strings.Join(s.open, ", "))
	}
	return nil
}

func (s *State) unfinished(id string) (*call, error) {
	c := s.calls[id]
	switch {
	case c == nil:
		return nil, fmt.Errorf("there is no call %q", id)
	case c.result != nil:
		return nil, fmt.Errorf("call %s has its result", id)
	}
	return c, nil
}

func (s *State) checkReplied(b event.Replied) error {
	if !s.turn.Open {
		return errors.New("no turn is open")
	}
	if err := s.noneOpen(); err != nil {
		return err
	}
	for i, c := range b.Message.Calls() {
		if want := s.NextCall(i); c.ID != want {
			return fmt.Errorf("call %q should be %s", c.ID, want)
		}
	}
	return nil
}

func (s *State) checkPlanned(b event.Planned) error {
	id := b.Plan.Call.ID
	if s.calls[id] != nil {
		_, err := s.unfinished(id)
		return err
	}
	if want := s.NextCall(0); id != want { // a call that a person asks for
		return fmt.Errorf("call %q should be %s", id, want)
	}
	return nil
}

func (s *State) checkDecided(b event.Decided) error {
	c, err := s.unfinished(b.Call)
	if err != nil {
		return err
	}
	if !c.planned || c.plan.Digest() != b.Plan {
		return fmt.Errorf("it is not about the plan of call %s", b.Call)
	}
	if b.Remember != "" {
		_, err = policy.ParseRule(b.Remember, policy.Allow, policy.FromApproval)
	}
	return err
}

// apply changes the state by an event that passed check.
func (s *State) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		s.opened = b
	case event.Ruled:
		s.applyRuled(e.Seq, b)
	case event.Asked:
		s.applyAsked(e, b)
	case event.Replied:
		s.applyReplied(e, b)
	case event.Planned:
		s.applyPlanned(b)
	case event.Decided:
		s.calls[b.Call].allowed = b.Verdict == policy.Allow.String()
		if b.Remember != "" {
			rule, _ := policy.ParseRule(b.Remember, policy.Allow, policy.FromApproval) // parsed in check
			s.grants = append(s.grants, rule)
		}
	case event.Started:
		c := s.calls[b.Call]
		c.started, c.fingerprint = true, b.Fingerprint
	case event.Finished:
		s.applyFinished(e, b)
	case event.Quarantined:
		put(&s.out, part{b.Seq, b.Part}, true)
	case event.Stopped:
		s.turn.Open = false
	}
}

func (s *State) applyRuled(seq int64, b event.Ruled) {
	digest := b.Digest
	if b.Text == "" {
		digest = ""
	}
	put(&s.later, b.Path, digest)
	if len(s.talk) > 0 { // the layer stays as it was sent; the change is a reminder
		s.talk = append(s.talk, Exchange{Message: ruleReminder(seq, b)})
		return
	}
	s.rules = slices.DeleteFunc(s.rules, func(r event.Ruled) bool { return r.Path == b.Path })
	if b.Text != "" {
		s.rules = append(s.rules, b)
	}
}

func ruleReminder(seq int64, b event.Ruled) model.Message {
	text := "[project rules changed: " + b.Path + ", which from now on reads]\n" + b.Text
	if b.Text == "" {
		text = "[project rules changed: " + b.Path + " is gone; it no longer applies]"
	}
	return model.Message{Role: model.User, Seq: seq, Parts: []model.Part{model.Text{Text: text}}}
}

func (s *State) applyAsked(e event.Event, b event.Asked) {
	if !s.turn.Open {
		s.turn = Turn{Open: true, Began: e.Time}
	}
	s.guard.lift()
	parts := []model.Part{model.Text{Text: b.Text}}
	for _, handle := range b.Media {
		parts = append(parts, model.Image{Artifact: tool.Artifact{Handle: handle}})
	}
	s.talk = append(s.talk, Exchange{Message: model.Message{Role: model.User, Seq: e.Seq, Parts: parts}})
}

func (s *State) applyReplied(e event.Event, b event.Replied) {
	m := b.Message
	m.Seq = e.Seq
	calls := m.Calls()
	for i, c := range calls {
		put(&s.calls, c.ID, &call{Call: c, exchange: len(s.talk), index: i})
		s.open = append(s.open, c.ID)
		s.count(c.ID)
	}
	s.talk = append(s.talk, Exchange{Message: m, Results: make([]*tool.Result, len(calls))})

	s.turn.Steps++
	s.turn.Stop = b.Stop
	s.turn.Lengths++
	if b.Stop != model.Length {
		s.turn.Lengths = 0
	}
	s.turn.Usage = s.turn.Usage.Plus(b.Usage)
	s.turn.Cost += b.Cost
	s.spent = s.spent.Plus(b.Usage)
	s.cost += b.Cost
}

func (s *State) applyPlanned(b event.Planned) {
	id := b.Plan.Call.ID
	if s.calls[id] == nil {
		put(&s.calls, id, &call{Call: b.Plan.Call, exchange: -1})
		s.open = append(s.open, id)
		s.count(id)
	}
	c := s.calls[id]
	c.plan, c.planned, c.allowed = b.Plan, true, false
}

func (s *State) applyFinished(e event.Event, b event.Finished) {
	c := s.calls[b.Call]
	result := b.Result
	c.result = &result
	s.open = slices.DeleteFunc(s.open, func(id string) bool { return id == b.Call })
	if c.exchange >= 0 {
		s.talk[c.exchange].Results[c.index] = &result
	}
	learned := false
	for path, digest := range result.Seen {
		if digest == "" {
			delete(s.seen, path)
			continue
		}
		learned = learned || s.seen[path] != digest
		put(&s.seen, path, digest)
	}
	if result.Todo != nil {
		s.todo = result.Todo
	}
	s.guard.ended(c, result, e.Time, learned)
	c.plan = tool.Plan{Call: c.plan.Call} // its parts and preview have done their work
	c.fingerprint = nil
}

// count raises the number of the newest call to that of id.
func (s *State) count(id string) {
	if n, err := strconv.Atoi(strings.TrimPrefix(id, "c")); err == nil && n > s.number {
		s.number = n
	}
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}
