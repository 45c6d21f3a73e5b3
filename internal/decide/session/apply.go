package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/rulefile"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/task"
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

// Fits reports whether b may follow what there is, as ErrInvalid does.
func (s *State) Fits(b event.Body) error {
	if err := s.check(event.Event{Seq: s.seq + 1, Body: b}); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
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
		if err == nil && !c.Allowed {
			err = fmt.Errorf("call %s was not allowed", b.Call)
		}
		return err
	case event.Finished:
		_, err := s.unfinished(b.Call)
		return err
	case event.Settled:
		if c := s.calls[b.Call]; c == nil || !c.Unknown {
			return fmt.Errorf("the outcome of call %q is not unknown", b.Call)
		}
		return checkWord(b.As)
	case event.Constrained:
		return s.checkConstrained(e.Seq, b)
	case event.Compacted:
		return s.checkCompacted(e.Seq, b)
	case event.Stopped:
		return s.noneOpen()
	}
	return nil
}

// early reports whether a turn that was stopped for that reason had more to do.
func early(reason string) bool {
	switch model.Stop(reason) {
	case model.End, model.Calls, model.Length, model.Refused:
		return false
	}
	return true
}

func checkWord(as string) error {
	if _, ok := settlements[as]; !ok {
		return fmt.Errorf("a call is not settled as %q", as)
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
	switch number := callNumber(id); {
	case c != nil && !c.Unknown:
		return c, nil
	case number > 0 && number <= s.number:
		return nil, fmt.Errorf("call %s has its result", id)
	}
	return nil, fmt.Errorf("there is no call %q", id)
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
	if c.Digest == "" || c.Digest != b.Plan {
		return fmt.Errorf("it is not about the plan of call %s", b.Call)
	}
	return nil
}

// apply changes the state by an event that passed check.
func (s *State) apply(e event.Event) {
	s.facts.learn(s, e)
	switch b := e.Body.(type) {
	case event.Opened:
		s.opened, s.missing = b, ""
		if s.turn.Early {
			s.turn = Turn{Open: true, Began: e.Time}
		}
	case event.Ruled:
		s.applyRuled(e.Seq, b)
	case event.Asked:
		s.applyAsked(e, b)
	case event.Packed:
		s.packed, s.missing = b.Kept, b.Missing
	case event.Sent:
		s.applySent(b)
	case event.Replied:
		s.applyReplied(e, b)
	case event.Planned:
		s.applyPlanned(b)
	case event.Decided:
		c := s.calls[b.Call]
		c.Allowed, c.By, c.Reason = b.Verdict == policy.Allow.String(), b.By, b.Reason
		if b.Remember != "" {
			s.remember(b.Remember)
		}
		for _, rule := range b.Also {
			s.remember(rule)
		}
	case event.Started:
		c := s.calls[b.Call]
		c.Started, c.Fingerprint = true, b.Fingerprint
	case event.Finished:
		s.applyFinished(e, b)
	case event.Settled:
		delete(s.calls, b.Call)
		s.talk = append(s.talk, Exchange{Message: remark(e.Seq, settlement(b))})
	case event.Constrained:
		s.applyConstrained(e.Seq, b)
	case event.Compacted:
		s.applyCompacted(e.Seq, b)
		s.lighten(b)
	case event.Quarantined:
		put(&s.out, part{b.Seq, b.Part, b.Media}, true)
	case event.Stopped:
		s.turn.Open = false
		s.turn.Early = early(b.Reason)
		s.applyRefused(b)
	}
}

// remember adds a rule. One that cannot be read, such as one that lost a secret
// on its way to disk, settles nothing.
func (s *State) remember(rule string) {
	if r, err := policy.ParseRule(rule, policy.Allow, policy.FromApproval); err == nil {
		s.grants = append(s.grants, r)
	}
}

func (s *State) applyRuled(seq int64, b event.Ruled) {
	_, known := s.rules[b.Path]
	if b.Gone() {
		delete(s.rules, b.Path)
	} else {
		put(&s.rules, b.Path, b)
	}
	if len(s.talk) == 0 {
		s.layer = s.RuleFiles()
		return
	}
	s.talk = append(s.talk, Exchange{Message: remark(seq, reminder(b, known))}) // the layer stays as it was sent
}

// reminder tells of a rule file that came, changed or went after the layer was sent.
func reminder(b event.Ruled, known bool) string {
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") } // no name of a folder begins a line
	what := "[project rules"
	if folder := rulefile.Folder(b.Path); folder != "." {
		what += " for " + oneLine(folder) + " and all below it"
	}
	if known {
		what += " changed"
	}
	path := oneLine(b.Path)
	switch {
	case b.Gone():
		return what + ": " + path + " is gone; it no longer applies]"
	case b.Left != "" && b.Text != "":
		return what + ": " + path + " is not what it was, and what it said before holds: " + b.Left + "]"
	case b.Left != "":
		return what + ": " + path + " is there, and its text is left out: " + b.Left + "]"
	}
	return what + ": " + path + ", which from now on reads]\n" + rulefile.Fenced(b.Text)
}

// settlements are the words a person can have on a call whose outcome is
// unknown, and what each means to the model.
var settlements = map[string]string{
	"retry": "it did not happen; make the call again if it is still needed",
	"done":  "it happened; go on as if it had succeeded",
	"skip":  "leave it; do not make it again",
}

func settlement(b event.Settled) string {
	text := "[about call " + b.Call + ", whose outcome was unknown, the user says: " + settlements[b.As]
	if b.Note != "" {
		text += " (" + b.Note + ")"
	}
	return text + "]"
}

// remark is something that the program tells the model in the user's place.
func remark(seq int64, text string) model.Message {
	return model.Message{Role: model.User, Seq: seq, Parts: []model.Part{model.Text{Text: text}}}
}

func (s *State) applyAsked(e event.Event, b event.Asked) {
	if !s.turn.Open {
		s.turn = Turn{Open: true, Began: e.Time}
	}
	s.guard.lift()
	s.task = task.Next(s.task, b.Text)
	parts := []model.Part{model.Text{Text: b.Text}}
	for _, handle := range b.Media {
		parts = append(parts, model.Image{Artifact: tool.Artifact{Handle: handle}})
	}
	s.talk = append(s.talk, Exchange{
		Message:  model.Message{Role: model.User, Seq: e.Seq, Parts: parts},
		Asked:    true,
		Mentions: b.Mentions,
	})
}

func (s *State) applyReplied(e event.Event, b event.Replied) {
	m := b.Message
	m.Seq = e.Seq
	calls := m.Calls()
	for i, c := range calls {
		s.begin(c, len(s.talk), i)
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
	s.past.Steps++
	s.calibrate(b.Usage)
	s.packed = nil
}

func (s *State) applyPlanned(b event.Planned) {
	id := b.Plan.Call.ID
	if s.calls[id] == nil {
		s.begin(b.Plan.Call, -1, 0)
	}
	c := s.calls[id]
	c.Plan, c.Digest, c.Allowed = b.Plan, b.Digest, false
	if c.Digest == "" {
		c.Digest = b.Plan.Digest()
	}
}

// begin adds a call that is to end as the index-th of an exchange.
func (s *State) begin(c tool.Call, exchange, index int) {
	put(&s.calls, c.ID, &call{Exchange: exchange, Index: index, Plan: tool.Plan{Call: c}})
	s.open = append(s.open, c.ID)
	s.number = callNumber(c.ID)
}

// callNumber returns the number of a call by its id, 0 if it is not one.
func callNumber(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "c"))
	if err != nil || callID(n) != id {
		return 0
	}
	return n
}

func (s *State) applyFinished(e event.Event, b event.Finished) {
	c := s.calls[b.Call]
	result := b.Result
	s.open = slices.DeleteFunc(s.open, func(id string) bool { return id == b.Call })
	switch {
	case c.Exchange >= 0:
		s.talk[c.Exchange].Results[c.Index] = &result
	case len(result.Edits) > 0: // a person asked for it, and the model has to know
		s.talk = append(s.talk, Exchange{Message: remark(e.Seq, "[the user changed files by "+c.Plan.Call.Tool+": "+result.Text+"]")})
	}
	learned := false
	for path, digest := range result.Seen {
		if digest == "" {
			delete(s.seen, path)
			delete(s.roots, path)
			continue
		}
		if _, known := s.seen[path]; !known || len(result.Edits) == 0 {
			put(&s.roots, path, b.Call)
		}
		learned = learned || s.seen[path] != digest
		put(&s.seen, path, digest)
	}
	if result.Todo != nil {
		s.todo = result.Todo
	}
	s.guard.ended(c, result, e.Time, learned)
	if c.Unknown = result.Status == tool.Unknown; !c.Unknown {
		delete(s.calls, b.Call)
	}
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}
