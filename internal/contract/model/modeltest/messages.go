package modeltest

import (
	"encoding/json"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/model"
)

// Messages is Anthropic Messages.
func Messages() Dialect {
	return Dialect{
		Name: "messages", Path: "/v1/messages", Named: true,
		Events: messagesEvents,
		Parse:  parseMessages,
		Error: func(kind, message string) string {
			return encode(object{"type": "error", "error": object{"type": kind, "message": message}})
		},
		Reasoning: func(r Reply) string {
			if r.Think == "" {
				return ""
			}
			return `{"type":"thinking","thinking":` + encode(r.Think) + `,"signature":"` + signature + `"}`
		},
	}
}

const signature = "EqQBCkgIARABGAIiQL+8/0="

func messagesEvents(r Reply) []string {
	out := []string{encode(object{"type": "message_start", "message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": r.Usage.Input, "cache_read_input_tokens": r.Usage.Cached, "cache_creation_input_tokens": r.Usage.CacheWrite, "output_tokens": 1},
	}}), `{"type":"ping"}`}
	n := 0
	block := func(start string, deltas ...any) {
		out = append(out, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, n, start))
		for _, d := range deltas {
			out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, n, encode(d)))
		}
		out = append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, n))
		n++
	}
	deltas := func(kind, field, text string) []any {
		var all []any
		for _, p := range pieces(text) {
			all = append(all, object{"type": kind, field: p})
		}
		return all
	}
	if r.Think != "" {
		all := append(deltas("thinking_delta", "thinking", r.Think), object{"type": "signature_delta", "signature": signature})
		block(`{"type":"thinking","thinking":"","signature":""}`, all...)
	}
	if r.Text != "" {
		block(`{"type":"text","text":""}`, deltas("text_delta", "text", r.Text)...)
	}
	for i, c := range r.Calls {
		block(encode(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": c.Tool, "input": object{}}), deltas("input_json_delta", "partial_json", c.Args)...)
	}
	stop := map[model.Stop]string{model.End: "end_turn", model.Calls: "tool_use", model.Length: "max_tokens", model.Refused: "refusal"}[r.Stop]
	if stop == "" {
		return out
	}
	usage := object{"output_tokens": r.Usage.Output}
	if r.Usage.Reasoning > 0 {
		usage["output_tokens_details"] = object{"thinking_tokens": r.Usage.Reasoning}
	}
	return append(out,
		encode(object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage}),
		`{"type":"message_stop"}`)
}

func parseMessages(body []byte) (Conversation, error) {
	var in struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
		System    []messagesBlock
		Tools     []struct {
			Name         string
			InputSchema  json.RawMessage `json:"input_schema"`
			CacheControl json.RawMessage `json:"cache_control"`
		}
		Messages []struct {
			Role    string
			Content []json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Conversation{}, err
	}
	if !in.Stream || in.Model == "" || in.MaxTokens < 1 {
		return Conversation{}, fmt.Errorf("no model, no max_tokens, or no stream asked for")
	}
	c := Conversation{Model: in.Model, MaxOutput: in.MaxTokens}
	for _, b := range in.System {
		c.System += b.Text
		c.Marks += b.marks()
	}
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, Offer{t.Name, t.InputSchema})
		c.Marks += messagesBlock{CacheControl: t.CacheControl}.marks()
	}
	for i, m := range in.Messages {
		if n := len(c.Turns); n > 0 && c.Turns[n-1].Role == m.Role || i == 0 && m.Role != "user" {
			return c, fmt.Errorf("message %d: roles do not alternate", i)
		}
		t := Turn{Role: m.Role}
		for j, raw := range m.Content {
			var b messagesBlock
			if err := json.Unmarshal(raw, &b); err != nil {
				return c, fmt.Errorf("message %d, block %d: %w", i, j, err)
			}
			c.Marks += b.marks()
			blocks, err := b.blocks(string(raw))
			if err != nil {
				return c, fmt.Errorf("message %d, block %d: %w", i, j, err)
			}
			if blocks[0].Kind == "result" && j > 0 && t.Blocks[0].Kind != "result" {
				return c, fmt.Errorf("message %d, block %d: a result after something else", i, j)
			}
			t.Blocks = append(t.Blocks, blocks...)
		}
		c.Turns = append(c.Turns, t)
	}
	if c.Marks > 4 {
		return c, fmt.Errorf("%d cache marks", c.Marks)
	}
	return c, nil
}

type messagesBlock struct {
	Type, Text, ID, Name string
	ToolUseID            string `json:"tool_use_id"`
	Input                json.RawMessage
	Content              []messagesBlock
	Source               struct{ Type, Data string }
	CacheControl         json.RawMessage `json:"cache_control"`
}

func (b messagesBlock) marks() int {
	if len(b.CacheControl) > 0 {
		return 1
	}
	return 0
}

func (b messagesBlock) blocks(raw string) ([]Block, error) {
	switch b.Type {
	case "text":
		return []Block{{Kind: "text", Text: b.Text}}, nil
	case "tool_use":
		return []Block{{Kind: "call", ID: b.ID, Name: b.Name, Args: string(b.Input)}}, nil
	case "image":
		return []Block{{Kind: "image", Text: b.Source.Data}}, nil
	case "thinking", "redacted_thinking":
		return []Block{{Kind: "reasoning", Raw: raw}}, nil
	case "tool_result":
		out := []Block{{Kind: "result", ID: b.ToolUseID}}
		for _, c := range b.Content {
			switch c.Type {
			case "text":
				out[0].Text += c.Text
			case "image":
				out = append(out, Block{Kind: "image", Text: c.Source.Data})
			default:
				return nil, fmt.Errorf("a result holds a %q", c.Type)
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("block of type %q", b.Type)
}
