// Package undo decides what takes back which changes of a session. It knows
// what the events say; bytes it asks for, and writes nothing.
package undo

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
)

// Tool is the name of the tool that takes changes back. Its calls are told by
// it, and their results by a Report in Data.
const Tool = "Undo"

// ErrNothing reports a scope with nothing in it to take back.
var ErrNothing = errors.New("nothing to take back")

// A Change is what one call did to one file.
type Change struct {
	Call string
	Turn int         // 1, 2, ...; 0 for a call that a person made outside a turn
	Edit edit.Intent // without bytes, as the log has it
	Back string      // the call that took it back; "" while it is in force

	took []Ref // by a call of Tool
	own  bool  // made by Tool
	redo bool  // and it took back an undo
}

// A Ref names a change.
type Ref struct {
	Call string `json:"call"`
	Path string `json:"path"`
}

// A Report says what a call of Tool did. It is the Data of its result.
type Report struct {
	Redo      bool     `json:"redo,omitempty"`
	Taken     []Ref    `json:"taken"`               // back
	Left      []Left   `json:"left,omitempty"`      // as they are
	Uncovered []string `json:"uncovered,omitempty"` // what calls changed that undo does not cover
	Bare      []string `json:"bare,omitempty"`      // files that came back without their owner or attributes
	More      int      `json:"more,omitempty"`      // files that another call is needed for
}

// A Left is a file that was left as it is, and why.
type Left struct {
	Path  string `json:"path"`
	Call  string `json:"call"` // whose change cannot be taken back
	Why   string `json:"why"`
	Lines []Span `json:"lines,omitempty"` // of the file as the call left it
}

// A Span is a range of lines, from 1, both of them in it.
type Span struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// A Scope says which changes to take back. Of Turn, Call and File at most one is
// set; if none is, it is the newest turn with changes in force.
type Scope struct {
	Turn int    `json:"turn,omitempty"`
	Call string `json:"call,omitempty"`
	File string `json:"file,omitempty"` // canonical
	Redo bool   `json:"redo,omitempty"` // the newest undo instead
}

// A History is the changes of a session, a fold over its events. The zero
// History is of a session without events.
type History struct {
	turn    int
	resting bool            // what is asked next begins a turn
	asked   map[string]bool // calls of the model
	own     map[string]bool // calls of Tool
	calls   map[string]bool // that ended
	changes []*Change       // oldest first
	bare    []uncovered
}

// An uncovered is what a result says that undo does not cover.
type uncovered struct {
	call string
	turn int
	what string
}

// notCovered begins the last line of a result that says so: package snapshot
// writes what follows it.
const notCovered = "[undo does not cover "

// Add adds the next event.
func (h *History) Add(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened, event.Stopped:
		h.resting = true
	case event.Asked:
		if h.turn == 0 || h.resting {
			h.turn++
		}
		h.resting = false
	case event.Replied:
		for _, c := range b.Message.Calls() {
			put(&h.asked, c.ID)
		}
	case event.Planned:
		if c := b.Plan.Call; c.Tool == Tool && !h.asked[c.ID] {
			put(&h.own, c.ID)
		}
	case event.Finished:
		h.finished(b)
	}
}

func put(set *map[string]bool, key string) {
	if *set == nil {
		*set = make(map[string]bool)
	}
	(*set)[key] = true
}

func (h *History) finished(b event.Finished) {
	put(&h.calls, b.Call)
	var report Report
	if h.own[b.Call] && json.Unmarshal(b.Result.Data, &report) != nil {
		report = Report{} // it did not come to say what it did
	}
	turn := 0
	if h.asked[b.Call] {
		turn = h.turn
	}
	if n := strings.LastIndex(b.Result.Text, "\n"+notCovered); n >= 0 {
		what := strings.TrimSuffix(b.Result.Text[n+1+len(notCovered):], "]")
		h.bare = append(h.bare, uncovered{b.Call, turn, what})
	}
	for _, e := range b.Result.Edits {
		if e.Result == "" && !e.Remove { // not done
			continue
		}
		h.changes = append(h.changes, &Change{
			Call: b.Call, Turn: turn, Edit: e, own: h.own[b.Call], redo: report.Redo,
		})
	}
	h.taken(b.Call, report)
}

// taken marks what a call of Tool took back. What an undo that is itself taken
// back had taken back is in force again.
func (h *History) taken(call string, r Report) {
	for _, ref := range r.Taken {
		for _, c := range h.named(ref) {
			c.Back = call
			for _, again := range c.took {
				for _, c := range h.named(again) {
					c.Back = ""
				}
			}
		}
	}
	for _, c := range h.changes {
		if c.Call != call {
			continue
		}
		for _, ref := range r.Taken {
			if ref.Path == c.Edit.Path {
				c.took = append(c.took, ref)
			}
		}
	}
}

func (h *History) named(r Ref) (found []*Change) {
	for _, c := range h.changes {
		if c.Call == r.Call && c.Edit.Path == r.Path {
			found = append(found, c)
		}
	}
	return found
}

// Changes returns what calls changed, oldest first, without what took it back.
func (h *History) Changes() (changes []Change) {
	for _, c := range h.changes {
		if !c.own {
			changes = append(changes, *c)
		}
	}
	return changes
}

// Turn returns the number of the newest turn, 0 if there is none.
func (h *History) Turn() int { return h.turn }

// Select returns the changes in s that are in force, newest first. An error is
// ErrNothing and says why there are none.
func (h *History) Select(s Scope) ([]Change, error) {
	in, why := h.within(s)
	var found []Change
	for _, c := range slices.Backward(h.changes) {
		if c.Back == "" && in(c) {
			found = append(found, *c)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %s", ErrNothing, why)
	}
	return found, nil
}

// Uncovered says, a line each, what calls changed that undo does not cover: those of
// the turns of found or, if s names less than a turn, those of found. Without found
// they are those of the turn that s is about.
func (h *History) Uncovered(s Scope, found []Change) (lines []string) {
	turns, calls := make(map[int]bool), make(map[string]bool)
	for _, c := range found {
		turns[c.Turn], calls[c.Call] = true, true
	}
	if found == nil {
		turns[cmp.Or(s.Turn, h.turn)], calls[s.Call] = true, true
	}
	for _, u := range h.bare {
		if calls[u.call] || s.Call == "" && s.File == "" && turns[u.turn] {
			lines = append(lines, u.call+": "+u.what)
		}
	}
	return lines
}

// within returns what is in s, and what to say if that is nothing.
func (h *History) within(s Scope) (in func(*Change) bool, why string) {
	switch {
	case s.Redo:
		newest := h.newest(func(c *Change) bool { return c.own && !c.redo })
		return func(c *Change) bool { return c.own && c.Call == newest.Call }, "no undo is in force"
	case s.Turn > h.turn:
		return never, fmt.Sprintf("there is no turn %d; the newest is %d", s.Turn, h.turn)
	case s.Turn > 0:
		return func(c *Change) bool { return !c.own && c.Turn == s.Turn }, h.explain(func(c *Change) bool { return c.Turn == s.Turn }, fmt.Sprintf("turn %d", s.Turn))
	case s.Call != "" && !h.calls[s.Call]:
		return never, "there is no call " + s.Call + " that ended"
	case s.Call != "":
		in := func(c *Change) bool { return c.Call == s.Call }
		return in, h.explain(in, "call "+s.Call)
	case s.File != "":
		in := func(c *Change) bool { return !c.own && c.Edit.Path == s.File }
		return in, h.explain(in, "the session") + " at " + s.File
	}
	newest := h.newest(func(c *Change) bool { return !c.own })
	if newest.Turn == 0 {
		return func(c *Change) bool { return c.Call == newest.Call }, h.explain(func(c *Change) bool { return !c.own }, "the session")
	}
	return func(c *Change) bool { return !c.own && c.Turn == newest.Turn }, ""
}

func never(*Change) bool { return false }

// newest returns the newest change of a kind that is in force, or one that is
// none.
func (h *History) newest(kind func(*Change) bool) Change {
	for _, c := range slices.Backward(h.changes) {
		if c.Back == "" && kind(c) {
			return *c
		}
	}
	return Change{}
}

// explain says why nothing of what is in is in force.
func (h *History) explain(in func(*Change) bool, what string) string {
	for _, c := range slices.Backward(h.changes) {
		if c.Back != "" && !c.own && in(c) {
			return "all that " + what + " changed was taken back by call " + c.Back
		}
	}
	return what + " changed nothing"
}

// Paths returns the files of changes, in the order in which they come.
func Paths(changes []Change) (paths []string) {
	seen := make(map[string]bool)
	for _, c := range changes {
		if !seen[c.Edit.Path] {
			seen[c.Edit.Path] = true
			paths = append(paths, c.Edit.Path)
		}
	}
	return paths
}
