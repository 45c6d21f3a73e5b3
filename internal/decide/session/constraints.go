package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// A ledger is what must not be done, by the user's words or by what was learned.
// No compaction touches it, and nothing leaves it but by a person's word.
type ledger struct {
	Number int                 `json:"number"` // of the newest constraint
	Active []event.Constrained `json:"active"`
	Notes  []event.Note        `json:"notes"`  // that rule something out, with or without a ban
	Pinned []event.Constrained `json:"pinned"` // of Active, those that stand in layer L2
	Warned []event.Note        `json:"warned"` // of Notes, likewise
}

// Constraints returns what the user forbade or required and has not lifted,
// oldest first.
func (s *State) Constraints() []event.Constrained { return slices.Clone(s.ledger.Active) }

// RuledOut returns the notes of compactions that rule something out and were not
// lifted, oldest first.
func (s *State) RuledOut() []event.Note { return slices.Clone(s.ledger.Notes) }

// Pinned returns what of Constraints and RuledOut stands in layer L2: as it was
// at the last compaction. What came or was lifted since is part of the talk.
func (s *State) Pinned() ([]event.Constrained, []event.Note) {
	return slices.Clone(s.ledger.Pinned), slices.Clone(s.ledger.Warned)
}

// NextConstraint returns the ID of the i-th constraint, from 0, that comes next.
func (s *State) NextConstraint(i int) string { return constraintID(s.ledger.Number + 1 + i) }

func constraintID(number int) string { return "k" + strconv.Itoa(number) }

// Enforced returns what bans stop, a line for each that policy can apply; none
// means that nothing but the model's good will keeps what they are of.
func Enforced(bans []tool.Ban) (what []string) {
	for _, b := range bans {
		if _, err := (policy.Ban{Ban: b}).Rule(policy.FromConstraint); err != nil {
			continue
		}
		line := policy.Banned(b)
		if b.Ask {
			line += " (asked about)"
		}
		what = append(what, line)
	}
	return what
}

// Covering returns the constraint that denies what e did, and whether there is one.
func Covering(active []event.Constrained, e edit.Intent) (event.Constrained, bool) {
	for _, k := range active {
		for _, b := range k.Bans {
			if (policy.Ban{Ban: b, ID: k.ID, Words: k.Words}).Covers(e.Path, e.Remove, e.Base == "") {
				return k, true
			}
		}
	}
	return event.Constrained{}, false
}

// rules returns the rules of the ledger. A ban that cannot be read, such as one
// that lost a secret on its way to disk, is none.
func (l *ledger) rules() (rules []policy.Rule) {
	add := func(src policy.Source, bans []tool.Ban, id, words string, seq int64) {
		for _, b := range bans {
			if r, err := (policy.Ban{Ban: b, ID: id, Words: words, Seq: seq}).Rule(src); err == nil {
				rules = append(rules, r)
			}
		}
	}
	for _, k := range l.Active {
		add(policy.FromConstraint, k.Bans, k.ID, k.Words, k.Seq)
	}
	for _, n := range l.Notes {
		add(policy.FromNote, n.Bans, n.ID, n.Text, 0)
	}
	return rules
}

func (s *State) checkConstrained(seq int64, b event.Constrained) error {
	if b.Lifted {
		switch {
		case b.By != event.ByPerson:
			return fmt.Errorf("only a person lifts %s", b.ID)
		case s.ledger.words(b.ID) == "":
			return fmt.Errorf("nothing that holds is called %q", b.ID)
		}
		return nil
	}
	switch want := s.NextConstraint(0); {
	case b.ID != want:
		return fmt.Errorf("constraint %q should be %s", b.ID, want)
	case strings.TrimSpace(b.Words) == "":
		return errors.New("it has no words")
	case b.Seq >= seq:
		return fmt.Errorf("it is from event %d, which is not before it", b.Seq)
	}
	return nil
}

// words returns what is said by the constraint or note of that ID, "" if there is
// none that holds.
func (l *ledger) words(id string) string {
	for _, k := range l.Active {
		if k.ID == id {
			return k.Words
		}
	}
	for _, n := range l.Notes {
		if n.ID == id {
			return n.Text
		}
	}
	return ""
}

// applyConstrained changes the ledger and tells the model, at the end of the
// talk.
func (s *State) applyConstrained(seq int64, b event.Constrained) {
	l := &s.ledger
	if !b.Lifted {
		l.Number++
		l.Active = append(l.Active, b)
		s.talk = append(s.talk, Exchange{Message: remark(seq, newConstraint(b))})
		return
	}
	text := fmt.Sprintf("[the user lifted %s: %q no longer holds]", b.ID, l.words(b.ID))
	l.Active = slices.DeleteFunc(slices.Clone(l.Active), func(k event.Constrained) bool { return k.ID == b.ID })
	l.Notes = slices.DeleteFunc(slices.Clone(l.Notes), func(n event.Note) bool { return n.ID == b.ID })
	s.talk = append(s.talk, Exchange{Message: remark(seq, text)})
}

func newConstraint(b event.Constrained) string {
	text := fmt.Sprintf("[constraint %s, from the user's words: %q. It holds until the user lifts it. ", b.ID, b.Words)
	if stops := Enforced(b.Bans); len(stops) > 0 {
		return text + "Stopped: " + strings.Join(stops, "; ") + "]"
	}
	return text + "Nothing enforces it: keep to it yourself]"
}

// learn takes in the notes of a compaction that rule something out.
func (l *ledger) learn(notes []event.Note) {
	for _, n := range notes {
		if RulesOut(n) {
			l.Notes = append(slices.Clip(l.Notes), n)
		}
	}
}

// pin gives what holds its place in layer L2.
func (l *ledger) pin() { l.Pinned, l.Warned = slices.Clone(l.Active), slices.Clone(l.Notes) }

// RulesOut reports whether n is of what must not be done again.
func RulesOut(n event.Note) bool {
	return len(n.Bans) > 0 || n.Status == "rejected" || n.Error != ""
}
