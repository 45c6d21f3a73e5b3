// Package report says what came of a session, by its events alone: what changed
// and by which calls, what was verified by which call and what was not, what is
// left open. Every line of a report is a claim with its evidence; one without is
// called unverified. What the model says of its own work is quoted, not believed.
package report

import (
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/task"
)

// A Report is on one turn of a session or, if Turn is 0, on all of it.
type Report struct {
	Session     string       `json:"session"`
	Turn        int          `json:"turn,omitempty"`
	Task        task.Type    `json:"task,omitempty"`      // of a turn, by its words
	Stop        string       `json:"stop,omitempty"`      // why the turn, or the newest, ended; "" if it has not
	Changes     []Change     `json:"changes"`             // of files, what is left of them in the end
	Uncovered   []string     `json:"uncovered,omitempty"` // what commands may have changed beyond that, a call each
	Checks      []Check      `json:"checks"`              // tests and builds, oldest first
	Tests       []Weakening  `json:"tests_weakened,omitempty"`
	Named       []string     `json:"named,omitempty"`   // what the user or the todo list named; without any, nothing is outside
	Outside     []string     `json:"outside,omitempty"` // changed files that are not below what was named
	Broken      []Breach     `json:"broken,omitempty"`  // constraints that were not kept, and not made good
	Open        []Open       `json:"open,omitempty"`
	Todo        []tool.Todo  `json:"todo,omitempty"` // what is not done
	Constraints []Constraint `json:"constraints,omitempty"`
	Answer      string       `json:"answer,omitempty"`   // the model's own words, which nothing here vouches for
	Findings    []string     `json:"findings,omitempty"` // what verification found: a reason for exit status 6 each

	ran  bool   // a call that does more than look
	last string // what the newest call that does is about: the What of an Open
}

// A Change is what calls made of one file.
type Change struct {
	Path    string   `json:"path"`
	From    string   `json:"from,omitempty"` // of a file that was renamed
	Kind    string   `json:"kind"`           // created, changed, removed or renamed
	Added   int      `json:"added"`          // lines
	Removed int      `json:"removed"`
	Counted bool     `json:"counted"` // whether the lines are known
	Calls   []string `json:"calls"`
	Tested  string   `json:"tested,omitempty"` // the call whose tests ended well after it changed last; "": unverified
	Built   string   `json:"built,omitempty"`  // the call whose build succeeded after that
}

// A Check is a call that ran tests or a build.
type Check struct {
	Call    string `json:"call"`
	Kind    string `json:"kind"` // test or build
	Command string `json:"command"`
	Outcome string `json:"outcome"` // passed, failed, build_failed, no_tests, untold, stopped or error
	Passed  int    `json:"passed,omitempty"`
	Failed  int    `json:"failed,omitempty"`
	Skipped int    `json:"skipped,omitempty"`
	Current bool   `json:"current"` // no file but prose changed after it, and it was not run again

	after int // how many changes came before it
}

// fails reports whether c found that something is wrong.
func (c Check) fails() bool {
	return c.Outcome == failed || c.Outcome == buildFailed || c.Outcome == broken
}

// Outcomes of a check: those of the result of Test.
const (
	passed      = "passed"
	failed      = "failed"
	buildFailed = "build_failed"
	noTests     = "no_tests"
	untold      = "untold"
	stopped     = "stopped"
	broken      = "error"
)

// A Weakening is a change of a test that makes it prove less. It is found by the
// text of the file, so it is a hint and no proof.
type Weakening struct {
	Path  string   `json:"path"`
	What  string   `json:"what"`
	Calls []string `json:"calls"`
	Asked bool     `json:"asked"` // the user's words speak of it
}

// An Open is a call that did not come to a good end, where no like call did later.
type Open struct {
	Call string `json:"call"`
	What string `json:"what"` // its tool and target
	Kind string `json:"kind"` // of the failure, or its status
	Why  string `json:"why,omitempty"`
}

// A Constraint is what the user forbade or required and has not lifted.
type Constraint struct {
	ID       string `json:"id"`
	Words    string `json:"words"`
	Enforced bool   `json:"enforced"` // by code; else by the model's good will

	Stops []string `json:"stops,omitempty"` // what code stops for it
}

// Empty reports whether there is nothing to tell but what the model said.
func (r Report) Empty() bool {
	return !r.ran && len(r.Changes) == 0 && len(r.Open) == 0 && len(r.Todo) == 0
}

// Images returns the bytes of a file by their digest, or an error where none are
// kept.
type Images func(digest string) ([]byte, error)
