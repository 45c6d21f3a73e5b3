package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A Reply is what a provider under test is made to answer.
type Reply struct {
	Think string
	Text  string
	Calls []Call
	Stop  model.Stop
	Usage model.Usage
}

// A Call is one call of a Reply, its arguments exactly as the model writes them.
type Call struct{ Tool, Args string }

// A Dialect is one API on the wire: how a server speaks and understands it.
type Dialect struct {
	Name string
	Path string // of the one call it has

	// Events encodes a reply as the data of its events, in order, as small
	// pieces. One that is cut lacks what ends it.
	Events func(Reply) []string

	// Named tells that events carry the name of their type.
	Named bool

	// Parse understands a request.
	Parse func(body []byte) (Conversation, error)

	// Error is an error as the body of a reply has it, and as a stream has it.
	Error func(kind, message string) string

	// Reasoning is the opaque block that goes back for a reply, or "".
	Reasoning func(Reply) string
}

// Stream returns the bytes of a stream of events: LF, one data line each.
func (d Dialect) Stream(events []string) string {
	var b strings.Builder
	for _, e := range events {
		if d.Named {
			fmt.Fprintf(&b, "event: %s\n", eventType(e))
		}
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

func eventType(data string) string {
	var head struct{ Type string }
	if err := json.Unmarshal([]byte(data), &head); err != nil {
		return "message"
	}
	return head.Type
}

// encode returns v as JSON. What it is given always is.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// pieces cuts text into runs of a few characters.
func pieces(text string) []string {
	var out []string
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(5, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

type object = map[string]any
