package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/constraint"
)

// byReader is the By of a constraint that was found in the user's words.
const byReader = "reader"

// heed records the constraints in text, the words of event seq. One that already
// holds is not recorded again.
func (a *Agent) heed(seq int64, text string) error {
	var bodies []event.Body
	held := a.state.Constraints()
	for _, k := range constraint.Find(text) {
		if !holds(held, k) {
			b := event.Constrained{
				ID: a.state.NextConstraint(len(bodies)), Words: k.Words, Seq: seq, Bans: k.Bans, By: byReader,
			}
			bodies, held = append(bodies, b), append(slices.Clip(held), b)
		}
	}
	return a.record(bodies...)
}

// heedLast does it for the newest words, where a crash came, or a fork begins,
// between them and what they forbid.
func (a *Agent) heedLast() error {
	talk := a.state.Talk()
	if len(talk) == 0 || !talk[len(talk)-1].Asked {
		return nil
	}
	said := talk[len(talk)-1].Message
	return a.heed(said.Seq, said.Text())
}

// holds reports whether held has k: in the same words, whatever ends them, or in others
// of which one constraint bans all that k does.
func holds(held []event.Constrained, k constraint.Constraint) bool {
	plain := func(words string) string {
		return strings.TrimRight(strings.Join(strings.Fields(words), " "), ".!。！")
	}
	return slices.ContainsFunc(held, func(h event.Constrained) bool {
		return strings.EqualFold(plain(h.Words), plain(k.Words)) ||
			len(k.Bans) > 0 && !slices.ContainsFunc(k.Bans, func(b tool.Ban) bool { return !bans(h.Bans, b) })
	})
}

// bans reports whether all bans b, or something that it is a question about.
func bans(all []tool.Ban, b tool.Ban) bool {
	denied := b
	denied.Ask = false
	return slices.Contains(all, b) || slices.Contains(all, denied)
}

// Constraints returns what the user forbade or required and has not lifted, and
// the notes that rule something out. It may be called from any goroutine.
func (a *Agent) Constraints() ([]event.Constrained, []event.Note) {
	a.steering.Lock()
	defer a.steering.Unlock()
	return a.constraints, a.ruledOut
}

// publish makes what holds after e known to other goroutines.
func (a *Agent) publish(e event.Event) {
	switch e.Body.(type) {
	case event.Opened, event.Constrained, event.Compacted:
	default:
		return
	}
	a.steering.Lock()
	defer a.steering.Unlock()
	a.constraints, a.ruledOut = a.state.Constraints(), a.state.RuledOut()
}

// Lift ends the constraint or the note of that ID, for the person who asks for
// it. While a turn runs it does so before the next step, and reports that it is
// not done yet; it may be called from any goroutine then.
func (a *Agent) Lift(id string) (done bool, err error) {
	a.steering.Lock()
	running := a.running
	if running {
		a.lifts = append(a.lifts, id)
	}
	a.steering.Unlock()
	if running {
		return false, nil
	}
	return true, a.lift(id)
}

func (a *Agent) lift(id string) error {
	lifted := event.Constrained{ID: id, By: event.ByPerson, Lifted: true}
	if err := a.state.Fits(lifted); err != nil {
		return fmt.Errorf("lift %s: %w", id, err)
	}
	for _, k := range a.state.Constraints() {
		if k.ID == id {
			lifted.Words, lifted.Seq = k.Words, k.Seq
		}
	}
	for _, n := range a.state.RuledOut() {
		if n.ID == id {
			lifted.Words = n.Text
		}
	}
	return a.record(lifted)
}

// proposed returns the constraints that a model heard in the person's words and that
// the reader did not find. What they did not say is none.
func (a *Agent) proposed(found []event.Constrained) []event.Body {
	var bodies []event.Body
	held := a.state.Constraints()
	for _, f := range found {
		k, err := constraint.FromProposal(f.Words, a.said(f.Seq))
		if err != nil || holds(held, k) {
			continue
		}
		b := event.Constrained{
			ID: a.state.NextConstraint(len(bodies)), Words: k.Words, Seq: f.Seq, Bans: k.Bans, By: f.By,
		}
		bodies, held = append(bodies, b), append(slices.Clip(held), b)
	}
	return bodies
}

// said returns what the person said in event seq, as far as it is kept.
func (a *Agent) said(seq int64) string {
	for _, words := range a.state.Facts().Said.All {
		if words.Seq == seq {
			return words.Text
		}
	}
	return ""
}
