// Package stats counts what sessions did: folds over their events, and sums of
// folds.
package stats

import (
	"encoding/json"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// shell is the tool for what no other tool covers.
const shell = "Bash"

// Stats are the figures of one session or of many. Only what the model asked for
// counts: calls that a person made by themselves do not.
type Stats struct {
	Sessions int            `json:"sessions"`
	Tasks    int            `json:"tasks"` // turns
	Ends     map[string]int `json:"ends"`  // tasks by how they ended: "end", "interrupted", "cut" for one without an end ...
	Steps    int            `json:"steps"` // replies
	Calls    int            `json:"calls"`

	Tools map[string]Tool   `json:"tools"` // by name
	Kinds map[tool.Kind]int `json:"error_kinds"`
	Wrong int               `json:"wrong_tool"`    // calls that another tool was for, or of one that is not there
	Trips int               `json:"breaker_trips"` // times that a tool failed until it was stopped

	Asked       int `json:"asked"`  // calls that a person decided about
	Denied      int `json:"denied"` // by a rule, by a person or for want of one
	Rejected    int `json:"quarantined"`
	Switched    int `json:"switched_model"`
	Compactions int `json:"compactions"`

	Usage   model.Usage `json:"usage"`
	Cost    int64       `json:"cost_micro_cents"`
	Changes int         `json:"changes"`          // a file by a call
	Back    int         `json:"changes_undone"`   // of them; the others are accepted
	Unsure  int         `json:"outcomes_unknown"` // calls that a crash cut off
}

// A Tool is the figures of one tool.
type Tool struct {
	Calls        int   `json:"calls"`
	Failed       int   `json:"failed"`
	Milliseconds int64 `json:"duration_ms"` // of all calls together
}

// Accepted returns the changes that nobody took back.
func (s Stats) Accepted() int { return s.Changes - s.Back }

// Shell returns the share of calls that went to the shell, from 0 to 1.
func (s Stats) Shell() float64 { return share(s.Tools[shell].Calls, s.Calls) }

// WrongRate returns the share of calls that another tool was for, from 0 to 1.
func (s Stats) WrongRate() float64 { return share(s.Wrong, s.Calls) }

// Done returns the share of tasks that the model ended by itself, from 0 to 1.
func (s Stats) Done() float64 { return share(s.Ends[string(model.End)], s.Tasks) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Plus returns the sum of s and t.
func (s Stats) Plus(t Stats) Stats {
	s.Sessions += t.Sessions
	s.Tasks += t.Tasks
	s.Ends = sum(s.Ends, t.Ends)
	s.Steps += t.Steps
	s.Calls += t.Calls
	tools := make(map[string]Tool)
	for _, from := range []map[string]Tool{s.Tools, t.Tools} {
		for name, x := range from {
			sum := tools[name]
			tools[name] = Tool{sum.Calls + x.Calls, sum.Failed + x.Failed, sum.Milliseconds + x.Milliseconds}
		}
	}
	s.Tools = tools
	s.Kinds = sum(s.Kinds, t.Kinds)
	s.Wrong += t.Wrong
	s.Trips += t.Trips
	s.Asked += t.Asked
	s.Denied += t.Denied
	s.Rejected += t.Rejected
	s.Switched += t.Switched
	s.Compactions += t.Compactions
	s.Usage = s.Usage.Plus(t.Usage)
	s.Cost += t.Cost
	s.Changes += t.Changes
	s.Back += t.Back
	s.Unsure += t.Unsure
	return s
}

func sum[K comparable](a, b map[K]int) map[K]int {
	both := make(map[K]int, len(a)+len(b))
	for _, from := range []map[K]int{a, b} {
		for k, n := range from {
			both[k] += n
		}
	}
	return both
}

// MarshalJSON adds what follows from the figures.
func (s Stats) MarshalJSON() ([]byte, error) {
	type plain Stats
	return json.Marshal(struct {
		plain
		Accepted  int     `json:"changes_accepted"`
		CallsPer  float64 `json:"calls_per_task"`
		Done      float64 `json:"done_share"`
		Wrong     float64 `json:"wrong_tool_share"`
		Shell     float64 `json:"shell_share"`
		TokensPer float64 `json:"tokens_per_accepted_change"`
		CostPer   float64 `json:"cost_micro_cents_per_accepted_change"`
	}{
		plain(s), s.Accepted(), share(s.Calls, s.Tasks), s.Done(), s.WrongRate(), s.Shell(),
		share(s.Usage.Total(), s.Accepted()), share(int(s.Cost), s.Accepted()),
	})
}

// mistaken reports whether a call that ended in f was one that another tool was
// for, or of no tool at all.
func mistaken(f *tool.Failure, known bool) bool {
	return !known || f.Kind == tool.IsDirectory || len(tool.Instead(f)) > 0
}
