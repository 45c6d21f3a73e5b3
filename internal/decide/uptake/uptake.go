// Package uptake finds where a model did not take up what its calls came to. It
// says only what the log proves: that the next steps would have been others had the
// result been understood. That a result was understood nothing here can prove.
package uptake

import (
	"slices"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Miss is a result that was not taken up.
type Miss struct {
	Kind  Kind   `json:"kind"`
	Of    string `json:"result_of"`    // the call whose result it is
	At    string `json:"at,omitempty"` // the call that shows it; "" is the end of the turn
	Turn  int    `json:"-"`            // from 1
	Reply int    `json:"-"`            // in which it shows: of the session, from 1, without those that were cut off
	What  string `json:"what"`
}

// A Kind is how a result was not taken up.
type Kind string

// The closed list of kinds. "Nothing had changed" is as far as the log knows.
const (
	SameCall     Kind = "same_call"      // it failed, nothing had changed, and it was made again and failed in the same way
	NotReadAgain Kind = "not_read_again" // an edit that failed by what the file holds was tried again without a look at the file, and failed again
	NotInstead   Kind = "not_instead"    // it named the call to make, which was not made, and another was answered with the same name
	RestUnseen   Kind = "rest_unseen"    // it was cut short, the whole was kept and not looked at, and it was made again
	AskedAgain   Kind = "asked_again"    // it had answered, nothing had changed or failed, and it was made again and said the same
	TestUnseen   Kind = "test_unseen"    // tests failed after a change, and the turn ended with nothing else looked at or changed
)

// A done is a call that ended.
type done struct {
	tool.Call
	sign    string
	reply   int
	result  tool.Result
	looks   bool   // it can have changed nothing
	at      string // the path that it is about, "" if it is about none
	epoch   int    // how often something had changed before it
	written int    // how often files had, as far as is known
	words   int    // how often somebody had spoken
}

func (d done) kind() tool.Kind {
	if d.result.Failure == nil {
		return ""
	}
	return d.result.Failure.Kind
}

// A Fold finds misses in a session, whose events it is given in order. The zero
// Fold is of a session without events.
type Fold struct {
	looks   map[string]bool // tools that only look, by the contract
	pure    map[string]bool // plans that only read, by call
	turn    int
	resting bool // what is asked next begins a turn
	reply   int
	open    []tool.Call // of the newest reply, in the order in which it asked for them
	results map[string]tool.Result

	past    []done // calls whose results the model may still see
	from    int    // of past: where this turn begins
	epoch   int
	written int
	words   int
	misses  []Miss
}

// Misses returns what was found so far, in the order in which it shows.
func (f *Fold) Misses() []Miss { return slices.Clone(f.misses) }

// Add adds the next event.
func (f *Fold) Add(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		f.looks = make(map[string]bool)
		for _, t := range b.Tools {
			f.looks[t.Name] = t.Idempotency == tool.ReadOnly
		}
		f.resting = true
	case event.Asked:
		f.settle()
		if f.turn == 0 || f.resting {
			f.turn++
			f.from = len(f.past)
		}
		f.resting = false
		f.words++
		f.epoch++ // whoever speaks may have changed something, or ask for the same again
	case event.Replied:
		if b.Stop == model.Cut || f.turn == 0 {
			return
		}
		f.settle()
		f.reply++
		f.open, f.results, f.pure = b.Message.Calls(), make(map[string]tool.Result), make(map[string]bool)
	case event.Planned:
		if f.pure != nil {
			f.pure[b.Plan.Call.ID] = b.Plan.Effects().OnlyReads()
		}
	case event.Finished:
		if slices.ContainsFunc(f.open, func(c tool.Call) bool { return c.ID == b.Call }) {
			f.results[b.Call] = b.Result
		} else if len(b.Result.Edits) > 0 { // of a person
			f.epoch++
			f.written++
		}
	case event.Compacted: // what is not in sight any more cannot be taken up
		f.settle()
		f.past, f.from = nil, 0
	case event.Stopped:
		f.settle()
		if b.Reason == string(model.End) {
			f.end()
		}
		f.resting = true
	}
}

// moving are the tools whose equal calls do not ask the same: what a process printed
// since, and a plan that is kept.
var moving = map[string]bool{"Process": true, "Todo": true}

// settle takes the results of a reply as if its calls had been made one after another:
// calls that do not wait for each other do not touch.
func (f *Fold) settle() {
	first := len(f.past)
	for _, c := range f.open {
		r, ended := f.results[c.ID]
		if !ended {
			continue
		}
		d := done{Call: c, sign: c.Signature(), reply: f.reply, result: r, at: pathOf(c), epoch: f.epoch, written: f.written, words: f.words}
		pure, planned := f.pure[c.ID]
		d.looks = f.looks[c.Tool] || planned && pure
		if !moving[c.Tool] {
			f.judge(seen{d, f.past[:first], f.past[first:]})
		}
		f.past = append(f.past, d)
		if len(r.Edits) > 0 {
			f.written++
		}
		if !d.looks && (len(r.Edits) > 0 || r.Failure == nil || r.Status != tool.Error) {
			f.epoch++
		}
	}
	f.open, f.results, f.pure = nil, nil, nil
}
