// Package agent runs turns: it asks the model, does what the model asks for,
// and records both. It imports nothing that does I/O: the world comes in
// through Options.
package agent

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
)

// Options are what an Agent works with. Functions may be nil.
type Options struct {
	Journal  Journal
	Provider model.Provider
	Model    model.Info
	Fallback *Fallback       // nil is none
	Tools    []tool.Tool     // offered to the model, in this order
	Own      []tool.Tool     // for Do only: never offered to the model; a person asks for them, so no mode holds them back, but rules do
	Session  event.Opened    // recorded first, by Open
	Effort   string          // of reasoning
	Schema   json.RawMessage // of the answer
	System   string          // in place of prompt.Static, for experiments; "" is that
	Policy   policy.Policy   // checked: see policy.Policy.Check
	Limits   Limits

	CompactAt int // hundredths of what the model takes: a longer request is made shorter first; 0 means 80

	Breaker Breaker
	Output  tool.Limits // of a result's text, for tools that have none of their own

	Rules   func(ctx context.Context, paths []string) ([]event.Ruled, error)                        // the rule files that hold for the root and for paths, the one that counts most last: read at each turn, and after each step for where its calls were at work
	Recall  func(context.Context, recall.Query) ([]recall.Item, error)                              // what the repository knows that bears on the next request; an error, but for the end of ctx, is recorded; nothing waits for it longer than a second
	Approve func(context.Context, Question) (Answer, error)                                         // runs beside the loop, which goes on recording
	Unknown func(context.Context, session.OpenCall) (event.Settled, error)                          // asks a person about a call that a crash cut off; an error leaves it unknown
	Ask     func(ctx context.Context, schema json.RawMessage, text string) (json.RawMessage, error) // lets a running call ask a person for an answer of that shape
	Before  func(ctx context.Context, call string, e effect.Set) error                              // after Started, before Do
	After   func(call string, e effect.Set) Aftermath                                               // after Do, or when a crash is recovered from: what else the call changed
	News    func() (text string, ended []string)                                                    // what has happened beside the calls since it was last asked, "" if nothing, and which commands in the background have ended: told with the next result
	Keep    func(seq int64, state []byte)                                                           // caches the state, from time to time
	Observe func(Signal)                                                                            // in order, from one goroutine at a time; must not block
}

// A Fallback goes on with a turn whose model cannot be reached.
type Fallback struct {
	Provider model.Provider
	Model    model.Info
}

// Limits end a turn; zero means none.
type Limits struct {
	Steps, Tokens int
	Cost          int64         // micro-cents
	Time          time.Duration // of the turn
	Parallel      int           // calls at once; 0 means 8
}

// A Breaker stops a tool that fails by itself (see tool.Kind.ByTool) too often
// in a row.
type Breaker struct {
	Failures int           // that open it; 0 means 3
	Cooldown time.Duration // for which it stays open; 0 means 300 s
}

// An Aftermath is what a call changed beyond what its tool knows of.
type Aftermath struct {
	Edits []edit.Intent
	Note  string // what the model and the user should know of it
}

// A Journal records events before anything follows from them, and returns them
// as they stand on disk.
type Journal interface {
	Append(bodies ...event.Body) ([]event.Event, error)
	Spill(name string) (tool.Spill, error)
	Artifact(handle string) (io.ReadSeekCloser, error)
}

// A Question asks a person about a plan that policy leaves to them.
type Question struct {
	Plan     tool.Plan
	Action   *tool.Action
	Decision policy.Decision
	Why      []Reason // what the model says for what cannot be undone
	Remember []string // the narrowest rules that would settle such calls, as settings write them; none if none can
}

// An Answer may carry rules that settle such calls for the rest of the session;
// of a plan that holds what is permanent they are dropped. Whoever wants other
// arguments denies with a reason, which the model gets.
type Answer struct {
	Allow    bool
	Reason   string
	Remember []string // rules, as settings write them: "Tool(pattern)"
	Save     bool     // they are for later sessions too, which is for whoever gave Approve to see to
}

// An Input is what a person says. The zero Input goes on with a turn that was
// cut.
type Input struct {
	Text     string
	Mentions []string // files that Text names (see package mention)
	Media    []string // handles
}

// A Signal is a Recorded event, a Typing delta or the Output of a running call.
type Signal interface{ signal() }

type (
	// Recorded is an event that is on disk.
	Recorded struct{ Event event.Event }

	// Typing is a piece of a reply that is still coming.
	Typing struct{ Delta model.Delta }

	// Output is a piece of what a running call prints. It is raw: whoever shows
	// it must make it harmless first.
	Output struct {
		Call string
		Text []byte
	}
)

func (Recorded) signal() {}
func (Typing) signal()   {}
func (Output) signal()   {}
