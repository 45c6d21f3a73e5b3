package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// A Call is the model's request to use a tool. ID is ours: c1, c2, ... in order
// of appearance in the session; the provider's own id stays in the message.
type Call struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"` // a JSON value; null where the model sent none that parses
}

// Signature is equal for two calls of one tool whose arguments say the same,
// however they are written: the SHA-256, in hex, of the tool's name and the
// arguments with their keys in order and without white space. Arguments that are
// not JSON count as they are.
func (c Call) Signature() string {
	args := c.Args
	var value any
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber() // 1e400 and 2^53+1 stay themselves
	if d.Decode(&value) == nil && !d.More() {
		if b, err := json.Marshal(value); err == nil {
			args = b
		}
	}
	h := sha256.New()
	h.Write([]byte(c.Tool + " "))
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil))
}

// A Plan is exactly what will run. A decision, and a person's approval, is
// about a plan, by its Digest.
type Plan struct {
	Call    Call          `json:"call"`
	Version int           `json:"version"` // of the Spec
	Parts   []Part        `json:"parts"`
	Summary string        `json:"summary"`
	Preview string        `json:"preview,omitempty"` // a handle when long
	Profile string        `json:"profile"`           // what will confine it
	Timeout time.Duration `json:"timeout"`
	Key     string        `json:"key"` // idempotency key, the same on each attempt
}

// Effects returns the effects of all parts.
func (p Plan) Effects() effect.Set { return effects(p.Parts) }

// Digest identifies the plan: the SHA-256, in hex, of its JSON.
func (p Plan) Digest() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("tool: a plan is always JSON: " + err.Error()) // its fields were JSON when it was made
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
