// Package recall is what the next request asks of the repository, and the
// answer.
package recall

import "errors"

// ErrLate reports that there was no time to look for all that bears on a query.
// What was found until then counts.
var ErrLate = errors.New("it took too long")

// A Query is what the next request needs to know.
type Query struct {
	Phase    Phase
	Goal     string   // the user's newest words
	Mentions []string // paths and symbols in them, in their order
	Failing  []Spot   // where the newest run that failed points to, nearest first
	Changed  []Change // files that the session changed, newest first
	Diffs    bool     // what was changed in them is asked for too
}

// A Spot is a line of a file, as the output of a command names it.
type Spot struct {
	Path string // as it is written there; a base name will do
	Line int    // from 1; 0 is none
	Why  string // such as "fails: TestA"
}

// A Change is a file and the digest that it had before the session changed it,
// "" if it was not there.
type Change struct {
	Path string
	Base string
}

// An Item is a piece of context that may earn a place in a request.
type Item struct {
	Slot   Slot    `json:"slot"`             // the role it plays
	Source string  `json:"source"`           // where it is from: "a/b.go:10-40@3f9a", the digest cut short
	Path   string  `json:"path,omitempty"`   // of the file it is from
	First  int     `json:"first,omitempty"`  // line, from 1
	Last   int     `json:"last,omitempty"`   // line
	Digest string  `json:"digest,omitempty"` // of the whole file
	Text   string  `json:"text,omitempty"`
	Score  float64 `json:"score"`            // from 0 to 1, how surely it bears on the query
	Why    string  `json:"why"`              // why it was recalled
	Tokens int     `json:"tokens,omitempty"` // of Text, as estimated when it was packed
	Pinned bool    `json:"pinned,omitempty"` // it is never left out
	Out    string  `json:"out,omitempty"`    // why it was left out
}

// A Slot is a role that context plays.
type Slot string

// The closed list of slots.
const (
	Goal       Slot = "goal"       // what is to be reached, and what must not happen
	Rules      Slot = "rules"      // the project's, and public interfaces
	Definition Slot = "definition" // the code that the work is about
	Caller     Slot = "caller"     // who uses it, and what flows through it
	Test       Slot = "test"       // tests, fixtures and what failed
	Diff       Slot = "change"     // what was changed, and decided
	Document   Slot = "document"   // prose about the project
)

// A Phase is what the work is at.
type Phase string

// The closed list of phases.
const (
	Exploring Phase = "explore" // nothing was changed
	Changing  Phase = "change"
	Failing   Phase = "failing" // a test or a build failed, and none has passed since
	Verifying Phase = "verify"  // what was changed has passed a test
)
