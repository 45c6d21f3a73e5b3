// Package replay runs a recorded session again with one thing changed. Tools are
// played back from the record: nothing is read, run or written. What comes of it is
// compared with the record, step by step.
package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Recording is a session that was recorded.
type Recording struct {
	opened event.Opened // the last one
	turns  []turn
	events []event.Event
	made   []made               // calls of the model
	calls  map[string][]*played // those with a result, by signature, oldest first
	steps  []Step
	ruled  []ruled
	doubts []Doubt // of one that was played

	recalls bool // the repository was asked for what bears on a request
}

// A turn is what a person said first, and when what else they said came.
type turn struct {
	number int
	words  event.Asked
	ruled  int // how many facts about rule files came before it
	later  map[int]string
	reply  int           // how many replies came before it
	edits  []edit.Intent // what a person changed by calls before it
}

// A ruled is a fact about a rule file, and how many replies came before it.
type ruled struct {
	event.Ruled
	reply int
}

// A played is a call and what came of it.
type played struct {
	plan   tool.Plan // the zero Plan if it came to none
	result tool.Result
	files  files // as they were when it was made
}

// A Step is a request and the reply to it.
type Step struct {
	Turn    int            // 1, 2, ...
	Request *model.Request // as it was sent; nil where that is not kept
	Bytes   int
	Tokens  int // of the request, by estimate or, where that was not recorded, as reported
	Reply   event.Replied

	recalled []recall.Item // what the repository had offered for it
}

// Bounds, in bytes: of a request that is read back, and of all requests of a session
// together. Of those beyond only the sizes are kept.
const (
	maxRequest  = 256 << 20
	maxRequests = 512 << 20
)

// Read takes a session apart. Open opens its artifacts. An error is of one that
// cannot be played: ErrNothing.
func Read(events []event.Event, open func(handle string) (io.ReadSeekCloser, error)) (*Recording, error) {
	r := &Recording{events: events, calls: make(map[string][]*played)}
	var edits []edit.Intent    // since the newest turn began
	var recalled []recall.Item // for the next request
	running, replies := false, 0
	calls := make(map[string]int) // of r.made
	plans := make(map[string]tool.Plan)
	var requests requests
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Opened:
			r.opened = b
		case event.Ruled:
			r.ruled = append(r.ruled, ruled{b, replies})
		case event.Asked:
			if running {
				last := &r.turns[len(r.turns)-1]
				last.later[replies-last.reply] += b.Text
				continue
			}
			running = true
			r.turns = append(r.turns, turn{number: len(r.turns) + 1, words: b, ruled: len(r.ruled), later: make(map[int]string), reply: replies, edits: edits})
			edits = nil
		case event.Packed:
			r.recalls = true
			recalled = slices.DeleteFunc(slices.Clone(b.Kept), func(i recall.Item) bool { return i.Pinned }) // which are of the session
		case event.Sent:
			requests.sent(b, open)
		case event.Replied:
			if b.Stop == model.Cut || len(r.turns) == 0 { // it was asked for again
				continue
			}
			running = true
			replies++
			step := requests.step(len(r.turns), b)
			step.recalled = recalled
			r.steps = append(r.steps, step)
			for _, c := range b.Message.Calls() {
				calls[c.ID] = len(r.made)
				r.made = append(r.made, made{turn: len(r.turns), call: c})
			}
		case event.Planned:
			plans[b.Plan.Call.ID] = b.Plan
		case event.Finished:
			if i, asked := calls[b.Call]; asked {
				r.made[i].result = &b.Result
			} else {
				edits = append(edits, b.Result.Edits...)
			}
		case event.Stopped:
			running = false
		}
	}
	if len(r.turns) == 0 {
		return nil, ErrNothing
	}
	r.shelve(plans)
	return r, nil
}

// ErrNothing is of a session in which nothing was said.
var ErrNothing = errors.New("nothing was said in it: there is nothing to play")

// requests puts requests together from what each repeats of the one before.
type requests struct {
	text []byte
	lost bool
	kept int  // bytes of all requests so far
	next Step // that is not answered yet
}

func (q *requests) sent(b event.Sent, open func(string) (io.ReadSeekCloser, error)) {
	rest, err := readAll(b.Request, open)
	if q.lost = q.lost && b.Repeats > 0 || err != nil || b.Repeats > len(q.text); q.lost {
		q.text = nil
	} else {
		q.text = append(q.text[:b.Repeats:b.Repeats], rest...)
	}
	if b.For != "" { // it was not for a step
		return
	}
	q.next = Step{Bytes: b.Bytes, Tokens: b.Tokens}
	request := new(model.Request)
	q.kept += len(q.text)
	if !q.lost && q.kept <= maxRequests && json.Unmarshal(q.text, request) == nil {
		q.next.Request = request
	}
}

func (q *requests) step(turn int, b event.Replied) Step {
	s := q.next
	q.next = Step{}
	s.Turn, s.Reply = turn, b
	if s.Tokens == 0 {
		s.Tokens = b.Usage.Total() - b.Usage.Output
	}
	return s
}

func readAll(handle string, open func(string) (io.ReadSeekCloser, error)) ([]byte, error) {
	f, err := open(handle)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(f, maxRequest+1))
	if err = errors.Join(err, f.Close()); err == nil && n > maxRequest {
		err = fmt.Errorf("%s: more than %d bytes", handle, maxRequest)
	}
	return b.Bytes(), err
}
