// Package recall is what the next request asks of the repository, and the
// answer.
package recall

// A Query is what the next request needs to know.
type Query struct {
	Goal     string
	Mentions []string // paths and symbols
	Failing  []string // from the newest test output
	Changed  []string
}

// An Item is a piece of context that may earn a place in a request.
type Item struct {
	Slot   Slot    `json:"slot"`   // the role it plays
	Source string  `json:"source"` // where it is from: "a/b.go:10-40@3f9a"
	Text   string  `json:"text"`
	Score  float64 `json:"score"` // within its slot
	Why    string  `json:"why"`   // why it was recalled
}

// A Slot is a role that context plays: goal, rules, definition, caller, test ...
type Slot string
