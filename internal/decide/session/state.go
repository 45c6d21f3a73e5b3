// Package session is the state of a session: a fold over its events.
package session

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/rulefile"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/task"
)

// A State is what the events so far amount to. It has one owner, and keeps what
// was said since the last compaction only. The zero State is of a session that
// has not been opened.
type State struct {
	seq     int64
	opened  event.Opened
	layer   []event.Ruled          // rule files as they stood before the first words, or at the last compaction, the one that counts most last
	rules   map[string]event.Ruled // as they stand now, by path
	past    past                   // what was compacted
	facts   Facts
	talk    []Exchange
	calls   map[string]*call // without a result, or with an unknown one that nobody settled
	open    []string         // calls without a result, oldest first
	number  int              // of the newest call
	seen    map[string]string
	roots   map[string]string // of seen: the call that showed the file
	todo    []tool.Todo
	task    task.Type // of the newest words; "" before there are any
	grants  []policy.Rule
	ledger  ledger
	out     map[part]bool // quarantined
	turn    Turn
	spent   model.Usage
	cost    int64
	guard   guard
	load    load
	packed  []recall.Item    // for the next request
	missing string           // why not all of it was looked for
	shares  map[string][]int // of estimates, by model, that it reported last, oldest first
	refused refused
}

// An Exchange is something said and, where the model said it and asked for
// calls, what came of them.
type Exchange struct {
	Message model.Message  `json:"message"`
	Asked   bool           `json:"asked,omitempty"`   // they are a person's words
	Results []*tool.Result `json:"results,omitempty"` // one for each of Message.Calls(), nil while there is none

	Mentions []string `json:"mentions,omitempty"` // files that the user named in Message (see package mention)
}

// A Turn is what happened since the user last began one.
type Turn struct {
	Open    bool        `json:"open"`  // it has not been stopped
	Early   bool        `json:"early"` // it was stopped before the model was done: it goes on when the session is next opened
	Began   time.Time   `json:"began"`
	Steps   int         `json:"steps"` // replies
	Usage   model.Usage `json:"usage"`
	Cost    int64       `json:"cost"`    // micro-cents
	Stop    model.Stop  `json:"stop"`    // of the newest reply
	Lengths int         `json:"lengths"` // replies in a row that the output limit cut
}

// A call is one that is on its way to its result.
type call struct {
	Exchange    int             `json:"exchange"` // where its result belongs; -1 for a call that no reply asked for
	Index       int             `json:"index"`
	Plan        tool.Plan       `json:"plan"`             // holds only the call until one is recorded
	Digest      string          `json:"digest,omitempty"` // of the plan that will run; "" until one is recorded
	Allowed     bool            `json:"allowed"`
	Started     bool            `json:"started"`
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
	By          string          `json:"by,omitempty"`     // the rule that decided last
	Reason      string          `json:"reason,omitempty"` // ... and why
	Unknown     bool            `json:"unknown"`          // it has its result, which says that
}

type part struct {
	seq   int64
	index int
	media bool // of the result of the call that it is
}

// An OpenCall is what recovery has to go by. Plan holds only the call where
// none was recorded.
type OpenCall struct {
	Plan        tool.Plan
	Started     bool
	Fingerprint json.RawMessage
}

// Seq returns the number of the newest event, 0 if there is none.
func (s *State) Seq() int64 { return s.seq }

// Opened returns the newest opening.
func (s *State) Opened() event.Opened { return s.opened }

// Ruled returns the rule files that stand in layer L2, the one that counts most
// last. What changed since is part of the talk.
func (s *State) Ruled() []event.Ruled { return slices.Clone(s.layer) }

// RuleFiles returns the rule files as they are known now, the one that counts most
// last.
func (s *State) RuleFiles() []event.Ruled {
	var files []event.Ruled
	for _, path := range slices.SortedFunc(maps.Keys(s.rules), rulefile.Compare) {
		files = append(files, s.rules[path])
	}
	return files
}

// RuleFile returns the rule file at path as it is known now, the zero one if it is not.
func (s *State) RuleFile(path string) event.Ruled { return s.rules[path] }

// Talk returns what was said since the last compaction, oldest first. The caller
// must not change it.
func (s *State) Talk() []Exchange { return s.talk }

// Quarantined reports whether a part of the message of event seq must stay out
// of requests.
func (s *State) Quarantined(seq int64, index int) bool { return s.out[part{seq, index, false}] }

// Bare reports whether of the result of a call, a part of the message of event
// seq, only the words may be in requests.
func (s *State) Bare(seq int64, index int) bool { return s.out[part{seq, index, true}] }

// isText reports whether a part of a message in the talk is words.
func (s *State) isText(seq int64, index int) bool {
	for _, x := range s.talk {
		if x.Message.Seq == seq && 0 <= index && index < len(x.Message.Parts) {
			_, words := x.Message.Parts[index].(model.Text)
			return words
		}
	}
	return false
}

// Seen returns the files the model knows, by path and digest.
func (s *State) Seen() map[string]string { return maps.Clone(s.seen) }

// Todo returns the list that the model keeps.
func (s *State) Todo() []tool.Todo { return slices.Clone(s.todo) }

// Task returns what the user wants by their newest words, "" before there are any.
func (s *State) Task() task.Type { return s.task }

// Rules returns what approvals, constraints and notes have added.
func (s *State) Rules() []policy.Rule { return append(slices.Clone(s.grants), s.ledger.rules()...) }

// Turn returns the current turn, or the last one.
func (s *State) Turn() Turn { return s.turn }

// Answered returns the reply that is the end of the current turn, where a crash
// came before that was recorded.
func (s *State) Answered() (model.Message, bool) {
	if !s.turn.Open || s.turn.Stop != model.End || len(s.talk) == 0 {
		return model.Message{}, false
	}
	last := s.talk[len(s.talk)-1].Message
	return last, last.Role == model.Assistant && len(last.Calls()) == 0
}

// Packed returns the items that were chosen for the next request, as they stand on
// disk. There are none once it has been answered.
func (s *State) Packed() []recall.Item { return slices.Clone(s.packed) }

// Spent returns the usage and the cost, in micro-cents, of the whole session.
func (s *State) Spent() (model.Usage, int64) { return s.spent, s.cost }

// NextCall returns the id of the i-th call, from 0, of the next reply.
func (s *State) NextCall(i int) string { return callID(s.number + 1 + i) }

func callID(number int) string { return "c" + strconv.Itoa(number) }

// Open returns the calls that have no result yet, oldest first. Outside a turn
// there are some only after a crash.
func (s *State) Open() []OpenCall {
	calls := make([]OpenCall, len(s.open))
	for i, id := range s.open {
		calls[i] = s.calls[id].opened()
	}
	return calls
}

// Unsettled returns the calls whose outcome is unknown and which no person has
// settled, oldest first.
func (s *State) Unsettled() []OpenCall {
	var ids []int
	for id, c := range s.calls {
		if c.Unknown {
			ids = append(ids, callNumber(id))
		}
	}
	slices.Sort(ids)
	calls := make([]OpenCall, len(ids))
	for i, number := range ids {
		calls[i] = s.calls[callID(number)].opened()
	}
	return calls
}

func (c *call) opened() OpenCall {
	return OpenCall{Plan: c.Plan, Started: c.Started, Fingerprint: c.Fingerprint}
}

// Missing returns why not all that bears on the next request was looked for, ""
// if it was.
func (s *State) Missing() string { return s.missing }
