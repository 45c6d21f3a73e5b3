package report

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/decide/task"
)

// A Log is what reports are made of: a fold over the events of a session. The zero
// Log is of one without events.
type Log struct {
	seq     int64
	session string
	turn    int
	resting bool // what is asked next begins a turn
	turns   []turn
	asked   map[string]tool.Call // by the model, and without a result
	plans   map[string]plan
	steps   []*step
	bans    []event.Constrained
}

// A Breach is a file that a call changed although a constraint that held denies it:
// what a program does is not in the words of its command.
type Breach struct {
	Constraint string `json:"constraint"`
	Words      string `json:"words"`
	Path       string `json:"path"`
	Call       string `json:"call"`
}

// A turn is what belongs to no call. The first is of what a person did outside of
// any.
type turn struct {
	words    []string
	mentions []string
	todo     []tool.Todo
	task     task.Type
	answer   string
	stop     string
}

// A plan is what is kept of one until its call ends.
type plan struct {
	call    tool.Call
	summary string
	looks   bool // it does nothing but read
}

// A step is a call that ended.
type step struct {
	turn    int // 0 for one that a person asked for
	call    tool.Call
	target  string // what its arguments are mostly about
	what    string // its tool and target
	looks   bool
	status  tool.Status
	failure *tool.Failure
	edits   []edit.Intent
	lines   map[string]count // by path, where the result says so
	diff    string           // the diff in its text
	check   *Check
	bare    string // what undo does not cover
	broke   []Breach
	settled bool // by a person
}

// looking are the tools that only look, for calls that failed before there was a
// plan.
var looking = map[string]bool{"Read": true, "Grep": true, "Glob": true, "LS": true, "Todo": true}

type count struct{ Added, Removed int }

// Seq returns the number of the newest event that was added.
func (l *Log) Seq() int64 { return l.seq }

// Turn returns the number of the newest turn, from 1; 0 if there is none.
func (l *Log) Turn() int { return l.turn }

// Add adds the next event.
func (l *Log) Add(e event.Event) {
	l.seq = e.Seq
	if l.turns == nil {
		l.turns = make([]turn, 1)
		l.asked, l.plans = make(map[string]tool.Call), make(map[string]plan)
	}
	now := &l.turns[l.turn]
	switch b := e.Body.(type) {
	case event.Opened:
		l.session, l.resting = b.Session, true
	case event.Asked:
		if l.turn == 0 || l.resting {
			l.turn++
			l.turns = append(l.turns, turn{todo: now.todo, task: now.task})
			now = &l.turns[l.turn]
		}
		l.resting = false
		now.task = task.Next(now.task, b.Text)
		now.words, now.mentions = append(now.words, b.Text), append(now.mentions, b.Mentions...)
	case event.Replied:
		calls := b.Message.Calls()
		for _, c := range calls {
			l.asked[c.ID] = c
		}
		if len(calls) == 0 {
			now.answer = b.Message.Text()
		}
	case event.Planned:
		l.plans[b.Plan.Call.ID] = plan{b.Plan.Call, b.Plan.Summary, b.Plan.Effects().OnlyReads()}
	case event.Finished:
		l.finished(b)
	case event.Settled:
		for _, s := range l.steps {
			s.settled = s.settled || s.call.ID == b.Call
		}
	case event.Constrained:
		l.constrained(b)
		now.forbid(b)
	case event.Stopped:
		now.stop, l.resting = b.Reason, true
	}
}

func (l *Log) finished(b event.Finished) {
	p, planned := l.plans[b.Call]
	call, ofModel := l.asked[b.Call]
	if !ofModel {
		call = p.call
	}
	delete(l.plans, b.Call)
	delete(l.asked, b.Call)
	s := &step{
		call: call, target: target(call.Args), looks: p.looks || !planned && looking[call.Tool],
		status: b.Result.Status, failure: b.Result.Failure, bare: uncovered(b.Result.Text),
		lines: counted(b.Result.Data), check: checked(call, b.Result),
	}
	s.what = strings.TrimSpace(call.Tool + " " + s.target)
	if ofModel {
		s.turn = l.turn
	}
	for _, e := range b.Result.Edits {
		if e.Result != "" || e.Remove { // it was done
			s.edits = append(s.edits, e)
			if k, ok := session.Covering(l.bans, e); ok && ofModel {
				s.broke = append(s.broke, Breach{k.ID, k.Words, e.Path, b.Call})
			}
		}
	}
	if _, diff, ok := strings.Cut(b.Result.Text, "\n--- "); ok && len(s.edits) > 0 {
		s.diff = diff
	}
	if b.Result.Todo != nil {
		l.turns[l.turn].todo = b.Result.Todo
	}
	l.steps = append(l.steps, s)
}

func (l *Log) constrained(b event.Constrained) {
	l.bans = slices.DeleteFunc(l.bans, func(c event.Constrained) bool { return c.ID == b.ID })
	if !b.Lifted {
		l.bans = append(l.bans, b)
	}
}

// target is what args are mostly about, on one line.
func target(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return ""
	}
	for _, name := range []string{"path", "file_path", "command", "pattern", "name", "target"} {
		var s string
		if json.Unmarshal(fields[name], &s) == nil && s != "" {
			return strings.Join(strings.Fields(s), " ")
		}
	}
	return ""
}

// notCovered begins the line of a result that says so (see package undo).
const notCovered = "\n[undo does not cover "

func uncovered(text string) string {
	n := strings.LastIndex(text, notCovered)
	if n < 0 {
		return ""
	}
	what, _, _ := strings.Cut(text[n+len(notCovered):], "]\n") // news may follow
	return strings.TrimSuffix(what, "]")
}

// counted returns the lines that the data of a file tool says it changed.
func counted(data json.RawMessage) map[string]count {
	type file struct {
		Path string `json:"path"`
		count
	}
	var d struct {
		file
		Files []file `json:"files"`
	}
	if len(data) == 0 || json.Unmarshal(data, &d) != nil {
		return nil
	}
	lines := make(map[string]count)
	for _, f := range append(d.Files, d.file) {
		if f.Path != "" {
			lines[f.Path] = f.count
		}
	}
	return lines
}

// forbid takes what a constraint names out of the words: where not to work is not
// where to. What it leaves free stays.
func (t *turn) forbid(b event.Constrained) {
	if b.Lifted || slices.ContainsFunc(b.Bans, func(ban tool.Ban) bool { return ban.Except != "" }) {
		return
	}
	for i, words := range t.words {
		t.words[i] = strings.Replace(words, b.Words, "", 1)
	}
}
