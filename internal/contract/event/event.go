// Package event holds the facts a session is made of, and their encoding.
package event

import (
	"encoding/json"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// An Event is one recorded fact. Events are never changed, only followed.
type Event struct {
	Seq  int64     // 1, 2, 3, ... within a session
	Time time.Time // stamped by the journal, in UTC and milliseconds; never goes back
	Body Body
}

// A Body is one of the types below, or Opaque. Every version of each that was
// ever written stays readable.
type Body interface {
	kind() string

	// Waits reports whether it need not be on stable storage before what
	// follows it.
	Waits() bool
}

type (
	// Opened starts or resumes a session.
	Opened struct {
		Session string      `json:"session"`
		Root    string      `json:"root"` // absolute
		Commit  string      `json:"commit,omitempty"`
		Version string      `json:"version"` // of Belay
		Model   string      `json:"model"`
		Mode    string      `json:"mode"`
		Tools   []tool.Spec `json:"tools"`
		Parent  string      `json:"parent,omitempty"` // the session it was forked from ...
		At      int64       `json:"at,omitempty"`     // ... and where
	}

	// Ruled is a rule file, as it stands from now on. One with neither Text nor
	// Left is gone.
	Ruled struct {
		Path   string `json:"path"` // from the root of the workspace, also where it is above that
		Digest string `json:"digest"`
		Text   string `json:"text"`
		Left   string `json:"left,omitempty"` // why what it says is left out; Text is then what holds from before, if any does
	}

	// Asked is what the user said.
	Asked struct {
		Text     string   `json:"text"`
		Mentions []string `json:"mentions,omitempty"`
		Media    []string `json:"media,omitempty"` // handles
	}

	// Packed is what was put into the next request, and what was not.
	Packed struct {
		Kept    []recall.Item `json:"kept"`
		Dropped []recall.Item `json:"dropped,omitempty"`
		Missing string        `json:"missing,omitempty"` // why not all was looked for; "" if it was
	}

	// Sent is a request that went to the model. Its JSON is the first Repeats
	// bytes of the request sent before it, then the artifact's.
	Sent struct {
		Request string `json:"request"` // handle
		Repeats int    `json:"repeats"`
		Bytes   int    `json:"bytes"`         // of the whole request
		For     string `json:"for,omitempty"` // a model.Purpose; "" is a step
		Model   string `json:"model,omitempty"`
		Tokens  int    `json:"tokens,omitempty"` // as estimated, before any calibration
	}

	// Replied is the model's answer, calls included. A cut reply keeps only its
	// text.
	Replied struct {
		Message model.Message `json:"message"`
		Usage   model.Usage   `json:"usage"`
		Cost    int64         `json:"cost,omitempty"` // micro-cents, by the prices of that day
		Stop    model.Stop    `json:"stop"`
	}

	// Planned is exactly what a call would do.
	Planned struct {
		Plan   tool.Plan `json:"plan"`
		Digest string    `json:"digest,omitempty"` // of the plan that will run; here it may have lost its secrets
	}

	// Decided is the verdict on a plan.
	Decided struct {
		Call     string `json:"call"`
		Plan     string `json:"plan"`    // its digest
		Verdict  string `json:"verdict"` // allow or deny; who was asked is in By
		By       string `json:"by"`      // the rule, as it was written, or "person"
		Reason   string `json:"reason"`
		Remember string `json:"remember,omitempty"` // the rule that settles such calls from now on

		Also []string `json:"also,omitempty"` // further rules, where it takes several
	}

	// Started is on disk before the first side effect.
	Started struct {
		Call        string          `json:"call"`
		Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
		Reads       bool            `json:"reads,omitempty"` // nothing but reads
		Waited      []Wait          `json:"waited,omitempty"`
	}

	// A Wait says why a call waited for an earlier one: an effect of each, which
	// conflict.
	Wait struct {
		Call   string        `json:"call"`   // that it waited for
		Effect effect.Effect `json:"effect"` // of the one that waited
		Held   effect.Effect `json:"held"`   // of the one it waited for
	}

	// Finished ends a call. There is exactly one for each.
	Finished struct {
		Call   string      `json:"call"`
		Result tool.Result `json:"result"`
	}

	// Settled is a person's word on an unknown call: retry, done or skip.
	Settled struct {
		Call string `json:"call"`
		As   string `json:"as"`
		By   string `json:"by"`
		Note string `json:"note,omitempty"`
	}

	// Constrained is what the user forbade or required. Without Bans nothing but
	// the model's good will keeps it. One that is Lifted, which only a person does,
	// ends what ID names: a constraint, or a note of a compaction that bans.
	Constrained struct {
		ID     string     `json:"id"`            // "k1", "k2", ...
		Words  string     `json:"words"`         // the user's own
		Seq    int64      `json:"seq,omitempty"` // of the Asked that they are from
		Bans   []tool.Ban `json:"bans,omitempty"`
		By     string     `json:"by"` // what found it: "reader" ("pattern" before there was one), "model" or "person"
		Lifted bool       `json:"lifted,omitempty"`
	}

	// Quarantined keeps a part of an earlier event out of requests: what a model's
	// API does not take. A call goes with its result.
	Quarantined struct {
		Seq    int64  `json:"seq"`
		Part   int    `json:"part"`
		Media  bool   `json:"media,omitempty"` // not the call, but what its result holds beside words
		Reason string `json:"reason"`
	}

	// Switched says that another model goes on with the turn.
	Switched struct {
		To  string `json:"to"`
		Why string `json:"why"`
	}

	// Compacted takes the place of all events up to Through in what the model
	// sees. Where Through is that of the compaction before, or 0, results are only
	// Pruned.
	Compacted struct {
		Through int64       `json:"through"`
		Trigger string      `json:"trigger,omitempty"` // "threshold", "person" or "overflow"
		Hint    string      `json:"hint,omitempty"`    // of a person: what to keep in mind
		Notes   []Note      `json:"notes,omitempty"`   // on what happened since the compaction before
		By      string      `json:"by,omitempty"`      // of Notes: the model, or "code"; "" where none was needed
		Refused []string    `json:"refused,omitempty"` // what was wrong with what the model wrote, or why it was not asked
		Usage   model.Usage `json:"usage,omitzero"`    // of asking the model
		Cost    int64       `json:"cost,omitempty"`    // of that, in micro-cents
		Handoff string      `json:"handoff,omitempty"` // as the model will see it; "" leaves the one there was
		Whole   string      `json:"whole,omitempty"`   // handle of the handoff with what did not fit
		Pruned  []Pruned    `json:"pruned,omitempty"`  // calls that stay, shorter
		Before  int         `json:"before,omitempty"`  // estimated tokens of the next request without this ...
		After   int         `json:"after,omitempty"`   // ... and with it
		Room    int         `json:"room,omitempty"`    // tokens of input that the model took, as far as was known; 0 if nothing was
	}

	// A Note is one judgement on a stretch of a session, made once and never
	// rewritten.
	Note struct {
		ID       string     `json:"id"`   // "n1", "n2", ...
		Kind     string     `json:"kind"` // goal, acceptance, context, milestone, decision, attempt, learning, question or next
		Text     string     `json:"text"`
		Status   string     `json:"status,omitempty"`   // of a decision: accepted, rejected or tentative
		Evidence []string   `json:"evidence,omitempty"` // calls, such as "c7"
		Files    []string   `json:"files,omitempty"`    // that it is about
		Error    string     `json:"error,omitempty"`    // of a failed attempt: its signature
		Bans     []tool.Ban `json:"bans,omitempty"`     // what is not to be done again
	}

	// Pruned is the shorter form of a call in the talk: of its result, or of its
	// arguments.
	Pruned struct {
		Call string          `json:"call"`
		Text string          `json:"text,omitempty"` // in place of the result's, which loses its media; "" leaves it
		Args json.RawMessage `json:"args,omitempty"` // in place of the arguments
		Why  string          `json:"why"`            // repeated, noise, tests or stored
	}

	// Stopped ends a turn.
	Stopped struct {
		Reason string `json:"reason"` // a model.Stop, "limit: " and which, "interrupted" or "error"
		Detail string `json:"detail,omitempty"`

		// Refused is the digest of a request that the model will never take as it
		// is, where that ended the turn. It is not sent again.
		Refused string `json:"refused,omitempty"`
		TooLong bool   `json:"too_long,omitempty"` // ... for the model: that is why
	}

	// Opaque was written by a newer version, or is the journal's own record; it
	// is kept as it is. It is also what any body is written as (see Seal).
	Opaque struct {
		Type     string
		Version  int
		Critical bool            // whoever does not know Type must not go on with the session
		JSON     json.RawMessage // an object
	}
)

// Gone reports whether there is no such rule file any more.
func (r Ruled) Gone() bool { return r.Text == "" && r.Left == "" }

func (Opened) kind() string      { return "opened" }
func (Ruled) kind() string       { return "ruled" }
func (Asked) kind() string       { return "asked" }
func (Packed) kind() string      { return "packed" }
func (Sent) kind() string        { return "sent" }
func (Replied) kind() string     { return "replied" }
func (Planned) kind() string     { return "planned" }
func (Decided) kind() string     { return "decided" }
func (Started) kind() string     { return "started" }
func (Finished) kind() string    { return "finished" }
func (Settled) kind() string     { return "settled" }
func (Constrained) kind() string { return "constrained" }
func (Quarantined) kind() string { return "quarantined" }
func (Switched) kind() string    { return "switched" }
func (Compacted) kind() string   { return "compacted" }
func (Stopped) kind() string     { return "stopped" }
func (o Opaque) kind() string    { return o.Type }

// What a crash may lose without harm waits: a request that will be built again,
// a plan that will be made again, the start of a call that only reads.
func (Opened) Waits() bool      { return false }
func (Ruled) Waits() bool       { return true }
func (Asked) Waits() bool       { return false }
func (Packed) Waits() bool      { return true }
func (Sent) Waits() bool        { return true }
func (Replied) Waits() bool     { return false }
func (Planned) Waits() bool     { return true }
func (d Decided) Waits() bool   { return d.By != ByPerson }
func (s Started) Waits() bool   { return s.Reads }
func (Finished) Waits() bool    { return false }
func (Settled) Waits() bool     { return false }
func (Constrained) Waits() bool { return false }
func (Quarantined) Waits() bool { return false }
func (Switched) Waits() bool    { return true }
func (Compacted) Waits() bool   { return false }
func (Stopped) Waits() bool     { return false }
func (Opaque) Waits() bool      { return false }

// GivenUp reports whether c only says what was paid for a compaction that was not
// made: nobody knows what it would have come to.
func (c Compacted) GivenUp() bool { return c.After == 0 && c.Handoff == "" && len(c.Pruned) == 0 }

// ByPerson is the By of a Decided that a person gave.
const ByPerson = "person"

// Kind returns the name of e's type in the log, such as "replied".
func (e Event) Kind() string { return e.Body.kind() }
