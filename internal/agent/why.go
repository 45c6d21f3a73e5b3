package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Reason is what the model answers to one of the questions that it is asked
// before it does what cannot be undone.
type Reason struct{ Question, Answer string }

// questions are asked before what cannot be undone, in this order.
var questions = [...]string{
	"who approved it, in what words?",
	"is it within what the task asks for?",
	"is there no safer way?",
}

const maxReason = 500 // characters of an answer

// reasons returns what c says in its argument why, nil if not every question has
// an answer.
func reasons(c tool.Call) []Reason {
	var args struct {
		Why []string `json:"why"`
	}
	if json.Unmarshal(c.Args, &args) != nil || len(args.Why) != len(questions) {
		return nil
	}
	var given []Reason
	for i, answer := range args.Why {
		answer = strings.TrimSpace(answer)
		if answer == "" {
			return nil
		}
		answer, _ = tool.Excerpt(answer, maxReason, "")
		given = append(given, Reason{questions[i], answer})
	}
	return given
}

func permanent(s effect.Set) bool {
	return slices.ContainsFunc(s, func(e effect.Effect) bool { return e.Kind == effect.Permanent })
}

// unreasoned answers a call that lacks reasons for what cannot be undone.
func unreasoned(action *tool.Action) *tool.Failure {
	what := "the call"
	for _, part := range action.Parts {
		if permanent(part.Effects) && part.Name != "" {
			what, _ = tool.Excerpt(part.Name, maxReason, "")
			break
		}
	}
	return &tool.Failure{
		Kind:    tool.Invalid,
		Message: "not run: what " + what + " does cannot be undone, and why has no three answers",
		Hint: "ask yourself: 1. " + questions[0] + " 2. " + questions[1] + " 3. " + questions[2] +
			" If sure of all, send the call again with why: your three answers, for whoever approves; if not, stop and ask the user",
	}
}
