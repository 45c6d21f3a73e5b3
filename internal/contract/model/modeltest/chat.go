package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// Chat is OpenAI Chat Completions.
func Chat() Dialect {
	return Dialect{
		Name: "chat", Path: "/v1/chat/completions",
		Events: chatEvents,
		Parse:  parseChat,
		Error: func(kind, message string) string {
			return encode(object{"error": object{"message": message, "type": kind, "code": nil}})
		},
		Reasoning: func(r Reply) string {
			if r.Think == "" {
				return ""
			}
			return encode(r.Think)
		},
	}
}

func chatEvents(r Reply) []string {
	var out []string
	add := func(delta object, finish any) {
		out = append(out, encode(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, p := range pieces(r.Think) {
		add(object{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(r.Text) {
		add(object{"content": p}, nil)
	}
	for i, c := range r.Calls {
		add(object{"tool_calls": []any{object{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": object{"name": c.Tool, "arguments": ""}}}}, nil)
		for _, p := range pieces(c.Args) {
			add(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}}, nil)
		}
	}
	finish := map[model.Stop]string{model.End: "stop", model.Calls: "tool_calls", model.Length: "length", model.Refused: "content_filter"}[r.Stop]
	if finish == "" {
		return out
	}
	add(object{}, finish)
	out = append(out, encode(object{"choices": []any{}, "usage": object{
		"prompt_tokens": r.Usage.Input + r.Usage.Cached, "completion_tokens": r.Usage.Output,
		"prompt_tokens_details":     object{"cached_tokens": r.Usage.Cached},
		"completion_tokens_details": object{"reasoning_tokens": r.Usage.Reasoning},
	}}))
	return append(out, "[DONE]")
}

func parseChat(body []byte) (Conversation, error) {
	var in struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
		Tools     []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
		Messages []struct {
			Role       string
			Content    json.RawMessage
			Reasoning  json.RawMessage `json:"reasoning_content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Conversation{}, err
	}
	if !in.Stream || in.Model == "" {
		return Conversation{}, fmt.Errorf("no model, or no stream asked for")
	}
	c := Conversation{Model: in.Model, MaxOutput: in.MaxTokens}
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, Offer{t.Function.Name, t.Function.Parameters})
	}
	for i, m := range in.Messages {
		blocks, err := chatContent(m.Content)
		if err != nil {
			return c, fmt.Errorf("message %d: %w", i, err)
		}
		role := m.Role
		switch role {
		case "system":
			if i != 0 || len(blocks) != 1 {
				return c, fmt.Errorf("message %d: a late or odd system message", i)
			}
			c.System = blocks[0].Text
			continue
		case "tool":
			if len(blocks) != 1 || blocks[0].Kind != "text" {
				return c, fmt.Errorf("message %d: a result is not one text", i)
			}
			blocks[0].Kind, blocks[0].ID = "result", m.ToolCallID
			role = "user"
		case "assistant":
			if len(m.Reasoning) > 0 {
				if len(m.ToolCalls) == 0 {
					return c, fmt.Errorf("message %d: reasoning_content in a message without calls", i)
				}
				blocks = append(blocks, Block{Kind: "reasoning", Raw: string(m.Reasoning)})
			}
			for _, t := range m.ToolCalls {
				blocks = append(blocks, Block{Kind: "call", ID: t.ID, Name: t.Function.Name, Args: t.Function.Arguments})
			}
		case "user":
		default:
			return c, fmt.Errorf("message %d: role %q", i, role)
		}
		// A run of one side's messages is one turn, as calls and results are
		// concerned; an empty message must still be seen as such.
		if n := len(c.Turns); n > 0 && c.Turns[n-1].Role == role && role == "user" && len(blocks) > 0 {
			c.Turns[n-1].Blocks = append(c.Turns[n-1].Blocks, blocks...)
			continue
		}
		c.Turns = append(c.Turns, Turn{Role: role, Blocks: blocks})
	}
	return c, nil
}

func chatContent(raw json.RawMessage) ([]Block, error) {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case json.Unmarshal(raw, &text) == nil:
		return []Block{{Kind: "text", Text: text}}, nil
	}
	var in []struct {
		Type, Text string
		ImageURL   struct{ URL string } `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	var blocks []Block
	for _, b := range in {
		switch b.Type {
		case "text":
			blocks = append(blocks, Block{Kind: "text", Text: b.Text})
		case "image_url":
			_, data, ok := strings.Cut(b.ImageURL.URL, ";base64,")
			if !ok {
				return nil, fmt.Errorf("image %.40q", b.ImageURL.URL)
			}
			blocks = append(blocks, Block{Kind: "image", Text: data})
		default:
			return nil, fmt.Errorf("block of type %q", b.Type)
		}
	}
	return blocks, nil
}
