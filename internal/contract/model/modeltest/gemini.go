package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/model"
)

// Gemini is the Gemini API, as its models since version 3 keep it.
func Gemini() Dialect {
	return Dialect{
		Name: "gemini", Path: "/v1beta/models/m:streamGenerateContent",
		Events: geminiEvents,
		Parse:  parseGemini,
		Error: func(kind, message string) string {
			return encode(object{"error": object{"message": message, "code": kind, "status": kind}})
		},
		Reasoning: func(r Reply) string {
			if r.Think == "" {
				return ""
			}
			return geminiSignature
		},
	}
}

const (
	geminiSignature = "CqEBAdHtim9+/w8="
	unsigned        = "skip_thought_signature_validator" // for a call that another model made
)

func geminiEvents(r Reply) []string {
	var out []string
	add := func(finish string, parts ...any) {
		candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		out = append(out, encode(object{"candidates": []any{candidate}, "modelVersion": "m", "usageMetadata": object{
			"promptTokenCount": r.Usage.Input + r.Usage.Cached, "cachedContentTokenCount": r.Usage.Cached,
			"candidatesTokenCount": r.Usage.Output - r.Usage.Reasoning, "thoughtsTokenCount": r.Usage.Reasoning,
		}}))
	}
	for _, p := range pieces(r.Think) {
		add("", object{"text": p, "thought": true})
	}
	for _, p := range pieces(r.Text) {
		add("", object{"text": p})
	}
	sign := r.Think != ""
	for _, c := range r.Calls {
		args := json.RawMessage(c.Args)
		if !json.Valid(args) {
			args = json.RawMessage(encode(c.Args))
		}
		part := object{"functionCall": object{"name": c.Tool, "args": args}}
		if sign {
			part["thoughtSignature"] = geminiSignature
			sign = false
		}
		add("", part)
	}
	finish := map[model.Stop]string{model.End: "STOP", model.Calls: "STOP", model.Length: "MAX_TOKENS", model.Refused: "SAFETY"}[r.Stop]
	switch {
	case finish == "":
	case sign:
		add(finish, object{"text": "", "thoughtSignature": geminiSignature})
	default:
		add(finish, object{"text": ""})
	}
	return out
}

type geminiPart struct {
	Text             *string
	Thought          bool
	ThoughtSignature string
	InlineData       *struct{ MimeType, Data string }
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID, Name string
		Response struct{ Output, Error string }
	}
}

func parseGemini(body []byte) (Conversation, error) {
	type content struct {
		Role  string
		Parts []json.RawMessage
	}
	var in struct {
		SystemInstruction *content
		GenerationConfig  struct{ MaxOutputTokens int }
		Tools             []struct {
			FunctionDeclarations []struct {
				Name                 string
				ParametersJSONSchema json.RawMessage
			}
		}
		Contents []content
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&in); err != nil {
		return Conversation{}, err
	}
	c := Conversation{Model: "m", MaxOutput: in.GenerationConfig.MaxOutputTokens}
	if in.SystemInstruction != nil {
		for _, raw := range in.SystemInstruction.Parts {
			var p geminiPart
			if err := json.Unmarshal(raw, &p); err != nil || p.Text == nil {
				return c, fmt.Errorf("the system instruction has a part that is not text: %s", raw)
			}
			c.System += *p.Text
		}
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			c.Tools = append(c.Tools, Offer{f.Name, f.ParametersJSONSchema})
		}
	}
	names := map[string]string{} // by id of a call
	calls := 0                   // of the content before
	for i, from := range in.Contents {
		role := map[string]string{"user": "user", "model": "assistant"}[from.Role]
		t := Turn{Role: role}
		made, results, signed := 0, 0, false
		for j, raw := range from.Parts {
			var p geminiPart
			if err := json.Unmarshal(raw, &p); err != nil {
				return c, fmt.Errorf("content %d, part %d: %w", i, j, err)
			}
			switch {
			case p.FunctionCall != nil:
				if made == 0 && p.ThoughtSignature == "" {
					return c, fmt.Errorf("content %d, part %d: Function call is missing a thought_signature in functionCall parts", i, j)
				}
				made++
				names[p.FunctionCall.ID] = p.FunctionCall.Name
			case p.FunctionResponse != nil:
				results++
				if names[p.FunctionResponse.ID] != p.FunctionResponse.Name {
					return c, fmt.Errorf("content %d, part %d: a response of %q to a call of %q", i, j, p.FunctionResponse.Name, names[p.FunctionResponse.ID])
				}
			}
			if p.ThoughtSignature != "" && p.ThoughtSignature != unsigned {
				signed = true
				t.Blocks = append(t.Blocks, Block{Kind: "reasoning", Raw: p.ThoughtSignature})
			}
			block, err := p.block()
			if err != nil {
				return c, fmt.Errorf("content %d, part %d: %w", i, j, err)
			}
			if block.Kind == "text" && block.Text == "" && signed {
				continue // where a signature is, no words need be
			}
			t.Blocks = append(t.Blocks, block)
		}
		if results != calls && (results > 0 || calls > 0) || results > 0 && results != len(from.Parts) {
			return c, fmt.Errorf("content %d: Please ensure that the number of function response parts is equal to the number of function call parts (%d, %d)", i, results, calls)
		}
		calls = made
		if n := len(c.Turns); n > 0 && c.Turns[n-1].Role == role && role == "user" && len(t.Blocks) > 0 {
			c.Turns[n-1].Blocks = append(c.Turns[n-1].Blocks, t.Blocks...)
			continue
		}
		c.Turns = append(c.Turns, t)
	}
	return c, nil
}

func (p geminiPart) block() (Block, error) {
	switch {
	case p.FunctionCall != nil:
		return Block{Kind: "call", ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: string(p.FunctionCall.Args)}, nil
	case p.FunctionResponse != nil:
		r := p.FunctionResponse.Response
		return Block{Kind: "result", ID: p.FunctionResponse.ID, Text: r.Output + r.Error}, nil
	case p.InlineData != nil:
		return Block{Kind: "image", Text: p.InlineData.Data}, nil
	case p.Text != nil && !p.Thought:
		return Block{Kind: "text", Text: *p.Text}, nil
	}
	return Block{}, fmt.Errorf("neither text, call, response nor image")
}
