package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
)

// Shares of what the model takes, in hundredths.
const (
	defaultCompactAt = 80 // the next request has so much: a compaction comes first
	targetShare      = 50 // what it is to come down to; where a compaction comes sooner, less in proportion
	mustShare        = 75 // of what there was: what is more, or would be compacted again at once, is cut from the newest calls too
	keepShare        = 22 // what the newest exchanges may have
	handoffShare     = 15 // the handoff
	lastShare        = 8  // what is left of the newest calls where nothing else helps
	growShare        = 5  // what must have come since a compaction that freed too little
)

// maxHandoff bounds a handoff, in tokens: more of it is not read better.
const maxHandoff = 8_000

// maxFutile is how many compactions in a turn may free nothing.
const maxFutile = 2

// ErrNothingToCompact reports a session that is short as it is.
var ErrNothingToCompact = errors.New("there is nothing to leave out yet")

// Compact makes the session shorter for the model, between turns, for a person
// who may say what to keep in mind.
func (a *Agent) Compact(ctx context.Context, hint string) error {
	if err := a.recover(ctx); err != nil {
		return err
	}
	done, err := a.compact(ctx, a.squeeze(session.ByPerson, hint, a.tokens(a.state)))
	if err == nil && !done {
		err = ErrNothingToCompact
	}
	return err
}

// CompactSoon does so before the next step of the turn that is running. It may be
// called from any goroutine, and reports false if none is.
func (a *Agent) CompactSoon(hint string) bool {
	a.steering.Lock()
	defer a.steering.Unlock()
	if a.running {
		a.wanted = &hint
	}
	return a.running
}

// makeRoom compacts the session if the next request, of so many tokens, is too
// near to what the model takes, or if a person wants it. It reports whether it
// did.
func (a *Agent) makeRoom(ctx context.Context, tokens int) (bool, error) {
	a.steering.Lock()
	wanted := a.wanted
	a.wanted = nil
	a.steering.Unlock()
	if wanted != nil {
		return a.compact(ctx, a.squeeze(session.ByPerson, *wanted, tokens))
	}
	if !a.full(tokens) {
		return false, nil
	}
	done, err := a.compact(ctx, a.squeeze(session.ByThreshold, "", tokens))
	if !done && err == nil {
		a.futile, a.futileAt = a.futile+1, tokens
	}
	return done, err
}

// full reports whether a request is near enough to what the model takes, and a
// compaction can be expected to free something: not twice for one step, and not
// until the talk has grown since one that freed too little.
func (a *Agent) full(tokens int) bool {
	room := a.room()
	at := a.compactAt()
	if room == 0 || tokens < share(room, at) || a.futile >= maxFutile {
		return false
	}
	if a.futile > 0 && tokens < a.futileAt+share(room, growShare) {
		return false
	}
	c := a.state.Compacted()
	if c.After == 0 || c.Room == 0 || room < c.Room { // nothing is as short as it can be for this model
		return true
	}
	return c.Steps > 0 && (c.After < share(room, at) || tokens >= c.After+share(room, growShare))
}

// room returns how many tokens of input the model takes, as far as is known: 0 if
// nothing is. What it once found too long is too long.
func (a *Agent) room() int {
	room := prompt.Limit(a.speaker().Model)
	if c := a.state.Ceiling(a.speaker().Model.Name); c > 0 && (room == 0 || share(c, 90) < room) {
		room = share(c, 90)
	}
	return room
}

func (a *Agent) compactAt() int {
	if a.CompactAt == 0 {
		return defaultCompactAt
	}
	return a.CompactAt
}

func share(n, hundredths int) int { return n * hundredths / 100 }

// tokens returns how many tokens the next request would have.
func (a *Agent) tokens(s *session.State) int {
	r := prompt.Request(s, nil, a.specs)
	r.Model, r.Schema = a.speaker().Model.Name, a.Schema
	return prompt.Tokens(s, r)
}

// A squeeze is a compaction that is to be made.
type squeeze struct {
	trigger, hint string
	before        int  // tokens of the next request as it is
	room          int  // tokens that the model takes, as far as is known after this; 0 if nothing is
	target        int  // what it is to come down to
	keep          int  // tokens of the newest exchanges
	last          int  // ... and of the newest calls, where more than must is left
	must          int  // what is more than that is cut from the newest calls too
	handoff       int  // tokens
	piece         int  // tokens of a request for notes
	alone         bool // no model is asked
}

func (a *Agent) squeeze(trigger, hint string, before int) squeeze {
	known := a.room()
	if trigger == session.ByOverflow && (known == 0 || share(before, 90) < known) {
		known = share(before, 90)
	}
	room := known
	if room == 0 {
		room = share(before, 90)
	}
	sooner := min(100, a.compactAt()*100/defaultCompactAt)
	keep := share(share(room, keepShare), sooner)
	q := squeeze{
		trigger: trigger, hint: hint, before: before, room: known,
		target: share(share(room, targetShare), sooner), keep: keep, last: keep,
		must: min(share(before, mustShare), share(room, a.compactAt())), handoff: min(share(room, handoffShare), maxHandoff), piece: share(room, targetShare),
	}
	if trigger == session.ByPerson { // who asks for it wants more than what must be
		q.keep = min(q.keep, prompt.TalkTokens(a.state)/4)
	}
	return q
}

// compact makes the next request shorter and records how: first what is repeated,
// noise or kept elsewhere is left out of results; where that is not enough, the
// older part of the talk becomes a handoff; where that is not either, the newest
// results are cut. It reports whether anything was freed; if not, only what asking
// the model cost is recorded.
func (a *Agent) compact(ctx context.Context, q squeeze) (bool, error) {
	b := event.Compacted{Trigger: q.trigger, Hint: q.hint, Through: a.state.Through(), Before: q.before, Room: q.room}
	var found []event.Constrained
	rough := b
	rough.Pruned = a.prune(a.state, q, 0, imagined)
	next := a.after(&rough)
	if q.trigger == session.ByPerson || rough.After > q.target {
		if through := prompt.Keep(next, q.keep); through > b.Through {
			j, err := a.takeNotes(ctx, q, through)
			if err != nil { // what was answered until then is paid all the same
				given := event.Compacted{Trigger: q.trigger, Hint: q.hint, Usage: j.usage, Cost: j.cost, Before: q.before, Room: q.room}
				paid := a.paid(given, "it was given up: "+err.Error())
				if paid == nil && errors.Is(err, errFell) {
					return a.compact(ctx, a.squeeze(q.trigger, q.hint, a.tokens(a.state)))
				}
				return false, errors.Join(err, paid)
			}
			b.Through, b.Notes, b.By, b.Refused, b.Usage, b.Cost = through, j.notes, j.by, j.refused, j.usage, j.cost
			found = j.found
			b.Handoff, b.Whole = a.handoff(a.state.Compact(b), q.handoff)
		}
	}
	b.Pruned = a.prune(a.state.Compact(b), q, 0, a.keepText)
	next = a.after(&b)
	if b.After > q.must && q.trigger != session.ByPerson {
		b.Pruned = merged(b.Pruned, a.prune(next, q, q.last, a.keepText))
		a.after(&b)
	}
	if b.After >= q.before {
		return false, a.paid(event.Compacted{
			Trigger: b.Trigger, Hint: b.Hint, Refused: b.Refused, Usage: b.Usage, Cost: b.Cost, Before: b.Before, After: b.Before, Room: b.Room,
		}, "it freed nothing")
	}
	if err := a.record(append(a.proposed(found), b)...); err != nil { // after a crash between them the words are still in the talk
		return false, err
	}
	a.output = 0
	return true, nil
}

// paid records what asking the model cost where nothing came of it, and why.
func (a *Agent) paid(b event.Compacted, why string) error {
	if b.Usage == (model.Usage{}) && b.Cost == 0 {
		return nil
	}
	b.Through, b.Refused = a.state.Through(), append(b.Refused, why)
	return a.record(b)
}

// imagined stores nothing: it is for finding out what storing would come to.
func imagined(string, string) (string, error) { return "artifact:" + strings.Repeat("0", 64), nil }

// after returns the state after b, and sets what the next request has then.
func (a *Agent) after(b *event.Compacted) *session.State {
	next := a.state.Compact(*b)
	b.After = a.tokens(next)
	return next
}

func (a *Agent) prune(s *session.State, q squeeze, last int, keep func(name, text string) (string, error)) []event.Pruned {
	return prompt.Prune(s, prompt.Pruning{Tokens: a.tokens(s), Target: q.target, Last: last, Keep: keep})
}

// merged returns what was pruned first and then again: of one call both count.
func merged(first, then []event.Pruned) []event.Pruned {
	out := slices.Clone(first)
	for _, p := range then {
		i := slices.IndexFunc(out, func(o event.Pruned) bool { return o.Call == p.Call })
		if i < 0 {
			out = append(out, p)
			continue
		}
		if p.Text != "" {
			out[i].Text, out[i].Why = p.Text, p.Why
		}
		if p.Args != nil {
			out[i].Args = p.Args
		}
	}
	return out
}

// handoff renders what the model will see of what is not in the talk of s any
// more. What finds no place is kept as an artifact, which it names.
func (a *Agent) handoff(s *session.State, room int) (text, whole string) {
	text, left := prompt.HandoffText(s, room)
	if left == 0 {
		return text, ""
	}
	handle, err := a.keepText("handoff", prompt.HandoffWhole(s))
	if err != nil {
		return text + fmt.Sprintf("\n[%d entries found no place here; they could not be kept: %v]", left, err), ""
	}
	return text + fmt.Sprintf("\n[%d entries found no place here; all are in %s: Read or Grep it]", left, handle), handle
}

// keepText stores text as an artifact and returns its handle.
func (a *Agent) keepText(name, text string) (string, error) {
	spill, err := a.Journal.Spill(name)
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(spill, text)
	if err := errors.Join(err, spill.Close()); err != nil {
		return "", err
	}
	return spill.Handle(), nil
}
