package model

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Message is one turn of speech.
type Message struct {
	Role  Role   `json:"role"`
	From  string `json:"from,omitempty"` // the API and model that made it, such as "anthropic/claude-sonnet-4-6"
	Seq   int64  `json:"seq,omitempty"`  // the event it is from; 0 if the builder made it
	Parts []Part `json:"parts"`
}

// A Role is who speaks.
type Role string

// The closed list of roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Calls returns the calls that m asks for, in order.
func (m Message) Calls() []tool.Call {
	var calls []tool.Call
	for _, p := range m.Parts {
		if c, ok := p.(Call); ok {
			calls = append(calls, c.Call)
		}
	}
	return calls
}

// Text returns the text parts of m, joined.
func (m Message) Text() string {
	var s string
	for _, p := range m.Parts {
		if t, ok := p.(Text); ok {
			s += t.Text
		}
	}
	return s
}

// A Part is a Text, Reasoning, Image, Call or CallResult. What comes from a
// provider can carry the provider's own JSON, which goes back untouched to the
// API and model that made it and is left out for any other.
type Part interface{ part() }

type (
	// Text is plain text.
	Text struct {
		Text string          `json:"text"`
		Raw  json.RawMessage `json:"raw,omitempty"`
	}

	// Reasoning is what the model thought. Text may be empty where the provider
	// keeps it to itself.
	Reasoning struct {
		Text string          `json:"text,omitempty"`
		Raw  json.RawMessage `json:"raw,omitempty"`
	}

	// An Image is an artifact that the model looks at.
	Image struct {
		Artifact tool.Artifact `json:"artifact"`
	}

	// A Call asks for a tool. Where the model's arguments are not JSON, Args is
	// null and Malformed is what it wrote.
	Call struct {
		tool.Call
		Malformed string          `json:"malformed,omitempty"`
		Raw       json.RawMessage `json:"raw,omitempty"`
	}

	// A CallResult answers the call of that ID.
	CallResult struct {
		Call  string          `json:"call"`
		Text  string          `json:"text"`
		Error bool            `json:"error,omitempty"`
		Media []tool.Artifact `json:"media,omitempty"`
	}
)

func (Text) part()       {}
func (Reasoning) part()  {}
func (Image) part()      {}
func (Call) part()       {}
func (CallResult) part() {}

// MarshalJSON encodes m with the type of each part beside its fields.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	type encoded struct {
		plain
		Parts []json.RawMessage `json:"parts"`
	}
	parts := make([]json.RawMessage, len(m.Parts))
	for i, p := range m.Parts {
		b, err := marshalPart(p)
		if err != nil {
			return nil, fmt.Errorf("encode part %d of a message: %w", i, err)
		}
		parts[i] = b
	}
	return encode(encoded{plain(m), parts})
}

func marshalPart(p Part) ([]byte, error) {
	switch p := p.(type) {
	case Text:
		return encode(struct {
			Type string `json:"type"`
			Text
		}{"text", p})
	case Reasoning:
		return encode(struct {
			Type string `json:"type"`
			Reasoning
		}{"reasoning", p})
	case Image:
		return encode(struct {
			Type string `json:"type"`
			Image
		}{"image", p})
	case Call:
		return encode(struct {
			Type string `json:"type"`
			Call
		}{"call", p})
	case CallResult:
		return encode(struct {
			Type string `json:"type"`
			CallResult
		}{"result", p})
	}
	return nil, fmt.Errorf("unknown part %T", p)
}

// encode leaves raw JSON as it came: json.Marshal would write "<" in it as an
// escape.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// UnmarshalJSON decodes what MarshalJSON wrote.
func (m *Message) UnmarshalJSON(b []byte) error {
	type plain Message
	var in struct {
		plain
		Parts []json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	parts := make([]Part, len(in.Parts))
	for i, raw := range in.Parts {
		p, err := unmarshalPart(raw)
		if err != nil {
			return fmt.Errorf("decode part %d of a message: %w", i, err)
		}
		parts[i] = p
	}
	*m = Message(in.plain)
	m.Parts = parts
	return nil
}

func unmarshalPart(b []byte) (Part, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "text":
		return decode[Text](b)
	case "reasoning":
		return decode[Reasoning](b)
	case "image":
		return decode[Image](b)
	case "call":
		return decode[Call](b)
	case "result":
		return decode[CallResult](b)
	}
	return nil, fmt.Errorf("unknown part type %q", head.Type)
}

func decode[P Part](b []byte) (Part, error) {
	var p P
	err := json.Unmarshal(b, &p)
	return p, err
}
