// Package model is the runtime's view of a language model.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Provider reaches language models over some API.
type Provider interface {
	// Stream checks req against what the API accepts, sends it and yields the
	// reply as it arrives. The last value is a Reply, unless ctx is done or
	// nothing came; a stream that broke off ends in a Reply that is cut, then
	// the error. Errors: ErrOverflow, *Rejection, *Unavailable,
	// *BadRequest.
	//
	// Calls of the reply carry no ID of ours: the loop numbers them.
	Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error]
}

// ErrOverflow reports a request that is too long for the model.
var ErrOverflow = errors.New("request exceeds the context window")

// A Request is everything the model sees.
type Request struct {
	Model     string          `json:"model"`
	Purpose   Purpose         `json:"purpose,omitempty"`
	Effort    string          `json:"effort,omitempty"` // of reasoning: "", low, medium, high
	Schema    json.RawMessage `json:"schema,omitempty"` // the answer's shape, if one is asked for
	MaxOutput int             `json:"max_output,omitempty"`
	System    string          `json:"system"`
	Tools     []tool.Spec     `json:"tools"`
	Messages  []Message       `json:"messages"` // the last, since what is recorded of a request repeats what is before

	Before int                                            `json:"-"` // replies of the session that are not among Messages any more
	Stable int                                            `json:"-"` // leading messages that the next request repeats: where a cache mark goes
	Tokens int                                            `json:"-"` // how many it has by Estimate; 0 where that was not counted
	Open   func(handle string) (io.ReadSeekCloser, error) `json:"-"` // an image's bytes
}

// A Purpose is what a request is for, where it is not the next step.
type Purpose string

// Handoff asks for what only judgement can say of what Messages quote.
const Handoff Purpose = "handoff"

// A Delta is a TextDelta, ReasoningDelta, CallDelta, Waiting or, last, a Reply.
type Delta interface{ delta() }

type (
	// A TextDelta is a piece of the answer. It ends between characters.
	TextDelta struct{ Text string }

	// A ReasoningDelta is a piece of reasoning in plain words.
	ReasoningDelta struct{ Text string }

	// A CallDelta says that the model is writing the arguments of its Index-th
	// call (from 0). Nothing may be done on the strength of it.
	CallDelta struct {
		Index int
		Tool  string
		Args  string // the next piece of the arguments
	}

	// Waiting says that nothing will arrive before Until, and why.
	Waiting struct {
		Until time.Time
		Why   string
	}

	// A Reply is a complete answer.
	Reply struct {
		Message Message
		Usage   Usage
		Stop    Stop
	}
)

func (TextDelta) delta()      {}
func (ReasoningDelta) delta() {}
func (CallDelta) delta()      {}
func (Waiting) delta()        {}
func (Reply) delta()          {}

// A Stop is why a reply ended. Calls of a reply that ended in anything but End
// or Calls never run.
type Stop string

// The closed list of stops.
const (
	End     Stop = "end"     // the model had no more to say
	Calls   Stop = "calls"   // it waits for results
	Length  Stop = "length"  // the output limit cut it
	Refused Stop = "refused" // the model or its filter declined
	Cut     Stop = "cut"     // the stream broke off
)

// Usage is counted in tokens. Input is without what was Cached or written to
// the cache; Reasoning is part of Output.
type Usage struct {
	Input      int `json:"input"`
	Cached     int `json:"cached,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning,omitempty"`

	Estimated bool `json:"estimated,omitempty"` // some of it was not reported but counted here, roughly
}

// Total returns all tokens of u.
func (u Usage) Total() int { return u.Input + u.Cached + u.CacheWrite + u.Output }

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Cached: u.Cached + v.Cached, CacheWrite: u.CacheWrite + v.CacheWrite,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
		Estimated: u.Estimated || v.Estimated,
	}
}

// A Rejection names the part of a request that the API does not, or would not,
// accept. The loop quarantines it and never sends the same bytes again.
type Rejection struct {
	Message, Part int
	Reason        string
}

func (r *Rejection) Error() string {
	return fmt.Sprintf("message %d, part %d of the request is not accepted: %s", r.Message, r.Part, r.Reason)
}

// Unavailable reports a provider that cannot answer now: it was overloaded,
// unreachable, or broke off.
type Unavailable struct {
	After time.Duration // how long to wait; 0 if it did not say
	Busy  bool          // it is there, and has too much to do
	Err   error
}

func (u *Unavailable) Error() string { return u.Err.Error() }
func (u *Unavailable) Unwrap() error { return u.Err }

// Final reports whether err means that the bytes of a request will never be taken:
// sending them again is in vain.
func Final(err error) bool {
	bad, ok := errors.AsType[*BadRequest](err)
	_, rejected := errors.AsType[*Rejection](err)
	return rejected || ok && bad.Final || errors.Is(err, ErrOverflow)
}

// BadRequest reports a request that the provider will not answer, now or later:
// a wrong key, an unknown model, fields it does not know, a rehearsal left.
type BadRequest struct {
	Status int    // of HTTP
	Reason string // in the provider's words
	Hint   string // what the user can do about it
	Final  bool   // it is about the bytes of the request: they will never be taken
}

func (r *BadRequest) Error() string {
	if r.Status == 0 {
		return r.Reason
	}
	return fmt.Sprintf("%s (HTTP %d)", r.Reason, r.Status)
}
