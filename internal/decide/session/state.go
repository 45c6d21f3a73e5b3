// Package session is the state of a session: a fold over its events.
package session

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// A State is what the events so far amount to. It has one owner. The zero
// State is of a session that has not been opened.
type State struct {
	seq    int64
	opened event.Opened
	rules  []event.Ruled // as they stood before the first words
	later  map[string]string
	talk   []Exchange
	calls  map[string]*call
	open   []string // calls without a result, oldest first
	number int      // of the newest call
	seen   map[string]string
	todo   []tool.Todo
	grants []policy.Rule
	out    map[part]bool // quarantined
	turn   Turn
	spent  model.Usage
	cost   int64
	guard  guard
}

// An Exchange is something said and, where the model said it and asked for
// calls, what came of them.
type Exchange struct {
	Message model.Message
	Results []*tool.Result // one for each of Message.Calls(), nil while there is none
}

// A Turn is what happened since the user last began one.
type Turn struct {
	Open    bool // it has not been stopped
	Began   time.Time
	Steps   int // replies
	Usage   model.Usage
	Cost    int64      // micro-cents
	Stop    model.Stop // of the newest reply
	Lengths int        // replies in a row that the output limit cut
}

type call struct {
	tool.Call
	exchange, index int // where its result belongs; exchange is -1 for a call that no reply asked for
	plan            tool.Plan
	planned         bool
	allowed         bool
	started         bool
	fingerprint     []byte
	result          *tool.Result
}

type part struct {
	seq   int64
	index int
}

// An OpenCall is what recovery has to go by. Plan holds only the call where
// none was recorded.
type OpenCall struct {
	Plan        tool.Plan
	Started     bool
	Fingerprint []byte
}

// Seq returns the number of the newest event, 0 if there is none.
func (s *State) Seq() int64 { return s.seq }

// Opened returns the newest opening.
func (s *State) Opened() event.Opened { return s.opened }

// Ruled returns the rule files that were known before the first words, in the
// order in which they came: those that stand in layer L2. What changed since
// is part of the talk.
func (s *State) Ruled() []event.Ruled { return slices.Clone(s.rules) }

// RuleDigest returns the digest of a rule file as it is known now, "" if it is
// not.
func (s *State) RuleDigest(path string) string { return s.later[path] }

// RulePaths returns the rule files that are known now, sorted.
func (s *State) RulePaths() []string {
	var paths []string
	for path, digest := range s.later {
		if digest != "" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Talk returns what was said, oldest first. The caller must not change it.
func (s *State) Talk() []Exchange { return s.talk }

// Quarantined reports whether a part of the message of event seq must stay out
// of requests.
func (s *State) Quarantined(seq int64, index int) bool { return s.out[part{seq, index}] }

// Seen returns the files the model knows, by path and digest.
func (s *State) Seen() map[string]string { return maps.Clone(s.seen) }

// Todo returns the list that the model keeps.
func (s *State) Todo() []tool.Todo { return slices.Clone(s.todo) }

// Rules returns what approvals and constraints have added.
func (s *State) Rules() []policy.Rule { return slices.Clone(s.grants) }

// Turn returns the current turn, or the last one.
func (s *State) Turn() Turn { return s.turn }

// Spent returns the usage and the cost, in micro-cents, of the whole session.
func (s *State) Spent() (model.Usage, int64) { return s.spent, s.cost }

// NextCall returns the id of the i-th call, from 0, of the next reply.
func (s *State) NextCall(i int) string { return "c" + strconv.Itoa(s.number+1+i) }

// Open returns the calls that have no result yet, oldest first. Outside a turn
// there are some only after a crash.
func (s *State) Open() []OpenCall {
	calls := make([]OpenCall, len(s.open))
	for i, id := range s.open {
		c := s.calls[id]
		calls[i] = OpenCall{Plan: c.plan, Started: c.started, Fingerprint: c.fingerprint}
		if !c.planned {
			calls[i].Plan.Call = c.Call
		}
	}
	return calls
}
