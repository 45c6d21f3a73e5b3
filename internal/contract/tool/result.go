package tool

import (
	"encoding/json"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A Result is how a call ended. Every recorded call has exactly one. Tools fill
// in all but Metrics, which the runtime adds.
type Result struct {
	Status    Status            `json:"status"`
	Text      string            `json:"text"`            // for the model, within its limit
	Data      json.RawMessage   `json:"data,omitempty"`  // the same facts for programs
	Failure   *Failure          `json:"error,omitempty"` // only with Error, Interrupted or Unknown
	Seen      map[string]string `json:"seen,omitempty"`  // files the model knows from now on: path to digest, "" for one that is gone
	Edits     []edit.Intent     `json:"edits,omitempty"` // what changed, as it was done
	Artifacts []Artifact        `json:"artifacts,omitempty"`
	Media     []Artifact        `json:"media,omitempty"`    // images for the model
	Todo      []Todo            `json:"todo,omitempty"`     // the list as it stands now
	Ended     []string          `json:"ended,omitempty"`    // commands in the background, by name, that have ended meanwhile
	Confined  string            `json:"confined,omitempty"` // what held it while it ran
	Metrics   *Metrics          `json:"metrics,omitempty"`
}

// Failed returns the result of a call that ended in f.
func Failed(f *Failure) Result {
	return Result{Status: Error, Text: f.Error(), Failure: f}
}

// A Status is the outcome of a call.
type Status string

// The closed list of statuses.
const (
	Success     Status = "success"
	Partial     Status = "partial"     // done, but this is not all of the result
	Error       Status = "error"       // failed; Failure says why and what was done (a denial too)
	Interrupted Status = "interrupted" // cancelled before it ended, or never started
	Unknown     Status = "unknown"     // cut off by a crash; it may have happened
)

// An Artifact is stored output.
type Artifact struct {
	Handle string `json:"handle"` // "artifact:" and a digest
	Type   string `json:"type,omitempty"`
	Bytes  int64  `json:"bytes"`
	Lines  int64  `json:"lines,omitempty"`
}

// A Todo is one entry of the plan that the model keeps.
type Todo struct {
	Text  string `json:"text"`
	State string `json:"state"` // pending, active, done
}

// Metrics are what a call cost.
type Metrics struct {
	Milliseconds int64 `json:"duration_ms"`
	OutputBytes  int64 `json:"output_bytes"` // of Text
}

// An Envelope is a result with the circumstances of its call: the one shape
// that every tool answers in to programs.
type Envelope struct {
	Result
	Context Context `json:"context"`
}

// A Context is where and how a call was made.
type Context struct {
	Dir     string          `json:"cwd"`
	Args    json.RawMessage `json:"params_input"` // exactly as given
	Call    string          `json:"call"`
	Version int             `json:"schema_version"`
}
