package report

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/task"
)

// An Outcome is what the log proves of a turn's success.
type Outcome string

// The outcomes, from the best to the worst.
const (
	Succeeded Outcome = "succeeded" // it ended by itself, and all it changed or ran ended well and was verified
	Unproven  Outcome = "unproven"  // nothing went wrong that the log knows, and it does not prove the rest
	Failed    Outcome = "failed"    // the log proves that something is wrong or was not done
)

// Worse returns the worse of two outcomes. That of nothing is "", the best.
func Worse(a, b Outcome) Outcome {
	rank := map[Outcome]int{Succeeded: 1, Unproven: 2, Failed: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// Outcome judges the turn that r is about, and says why it did not succeed. That
// its answer is right is nothing that a log can prove, so it is not judged.
func (r Report) Outcome() (Outcome, []string) {
	if why := r.failed(); why != nil {
		return Failed, why
	}
	if why := r.unproven(); why != nil {
		return Unproven, why
	}
	return Succeeded, nil
}

func (r Report) failed() (why []string) {
	switch r.Stop {
	case string(model.End):
	case "":
		why = append(why, "it did not end")
	default:
		why = append(why, "it ended as "+r.Stop)
	}
	why = append(why, r.Findings...)
	for _, o := range r.Open {
		if o.What == r.last || undecided(o.Kind) {
			why = append(why, fmt.Sprintf("%s (%s) is left open: %s", short(o.What), o.Call, o.Kind))
		}
	}
	return why
}

// undecided reports whether a call that ended as kind was kept from being done, or
// may have been done in part.
func undecided(kind string) bool {
	switch kind {
	case string(tool.Denied), string(tool.NeedsApproval), string(tool.Unknown), string(tool.Interrupted):
		return true
	}
	return false
}

func (r Report) unproven() (why []string) {
	var untested []string
	for _, c := range r.Changes {
		if c.Tested == "" && !isProse(c.Path) {
			untested = append(untested, c.Path)
		}
	}
	if untested != nil {
		why = append(why, "no test passed after the change of "+some(untested, false))
	}
	if len(r.Todo) > 0 {
		var items []string
		for _, t := range r.Todo {
			items = append(items, oneLine(t.Text))
		}
		why = append(why, "not done of its todo list: "+short(strings.Join(items, ", ")))
	}
	if r.Task == task.Change && len(r.Changes) == 0 && !r.ran {
		why = append(why, "a change was asked for, and nothing was changed or run")
	}
	return why
}
