// Package tool is the contract between the model, the runtime and a tool.
package tool

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
)

// A Tool is one kind of action the model can ask for.
type Tool interface {
	Spec() Spec

	// Prepare checks the arguments and works out what the call would do,
	// changing nothing. A *Failure tells the model what to mend; any other
	// error is a fault of ours.
	Prepare(ctx context.Context, in Input) (*Action, error)
}

// A Settler is a Tool that can find out, after a crash, how a call ended. A nil
// result means that it did nothing. Where the target honours p.Key it may send
// the same request again under it. What is neither settled nor only reads is
// unknown, and a person is asked.
type Settler interface {
	Settle(ctx context.Context, p Plan, fingerprint json.RawMessage) (*Result, error)
}

// A Spec is the contract of a tool: what is fixed about it for a whole session.
// It is checked at start-up, and tooltest proves every claim in it.
type Spec struct {
	Name        string          `json:"name"`
	Version     int             `json:"version"`          // raised when Input or a result changes meaning
	Description string          `json:"description"`      // for the model; says what it touches
	Input       json.RawMessage `json:"input"`            // JSON Schema of the arguments
	Origin      string          `json:"origin,omitempty"` // whose words its results are; "" if our own
	Effects     []effect.Kind   `json:"effects"`          // the kinds its actions may have, at most
	Idempotency Idempotency     `json:"idempotency"`
	Risk        Risk            `json:"risk"`    // of the capability; orders what is shown to whoever approves
	Inline      int             `json:"inline"`  // bytes of a result's text that may enter the context; 0 means DefaultInline
	Timeout     time.Duration   `json:"timeout"` // the longest one call may take
}

// DefaultInline is how many bytes of a result's text may enter the context
// where a Spec does not say.
const DefaultInline = 51_200

// An Idempotency says what a second run of the same call would do.
type Idempotency string

// The closed list of idempotencies.
const (
	None           Idempotency = "none"             // it may do more
	ReadOnly       Idempotency = "read_only"        // nothing, as the first
	CompareAndSwap Idempotency = "compare_and_swap" // it finds the first done
	ByKey          Idempotency = "key"              // the target honours Env.Key
)

// A Risk is low, medium or high.
type Risk string

// The closed list of risks.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// An Input is what a tool may know of a call before it acts.
type Input struct {
	Call string // our id
	Args json.RawMessage
	Seen map[string]string                              // files as the model knows them: path to digest; read only
	Open func(handle string) (io.ReadSeekCloser, error) // an artifact
	Asks bool                                           // Env.Ask will be there: what only a person can say may be left until then
}

// An Action is a call that has been understood but not yet done.
type Action struct {
	// Parts are what it would do; together they are the most that Do may do.
	// A tool declares only what it, or the sandbox that will hold it, can be
	// held to; what nothing bounds is effect.Anything.
	Parts []Part

	Summary     string          // one line for whoever must approve it
	Preview     string          // the change it would make, such as a diff
	Edits       []edit.Intent   // the same as data, where it changes files
	Fingerprint json.RawMessage // what Settle needs after a crash
	Profile     string          // what confines it, where the tool itself does; "" is what confines all
	Timeout     time.Duration   // what the call itself asks for, at most Spec.Timeout; 0 means Spec.Timeout

	// Do acts. An error that is not a *Failure is a fault of ours. When ctx
	// ends it stops, leaves nothing running, and returns what it knows.
	Do func(ctx context.Context, env Env) (Result, error)
}

// Effects returns the effects of all parts.
func (a *Action) Effects() effect.Set { return effects(a.Parts) }

// A Part is one thing that a rule can name: a path, a host, one simple command.
type Part struct {
	Name    string     `json:"name"`
	Effects effect.Set `json:"effects"`
	Held    bool       `json:"held,omitempty"` // a sandbox keeps it to Effects, and from what is secret or trusted below a tree of them
	Why     string     `json:"why,omitempty"`  // the effects are no narrower, for people

	// Unseen says of a command what it runs that its name does not show, so that no
	// rule for commands can be compared with that: "what perl runs".
	Unseen string `json:"unseen,omitempty"`
}

func effects(parts []Part) effect.Set {
	var all effect.Set
	for _, p := range parts {
		all = append(all, p.Effects...)
	}
	return all
}

// An Env is what the runtime lends to a running action.
type Env struct {
	Allowed  effect.Set                                                                              // what was granted; the sandbox is built from it
	Key      string                                                                                  // idempotency key
	Timeout  time.Duration                                                                           // what ctx leaves, for what needs its own clock
	Live     io.Writer                                                                               // progress for a person; the model never sees it
	Approved bool                                                                                    // a person approved exactly this plan: what would differ from it is stale
	Spill    func(name string) (Spill, error)                                                        // keeps what is too large for a Result
	Ask      func(ctx context.Context, schema json.RawMessage, text string) (json.RawMessage, error) // nil without a person
}

// A Spill is an artifact being written. It has a handle once it is closed.
type Spill interface {
	io.WriteCloser
	Handle() string
}
