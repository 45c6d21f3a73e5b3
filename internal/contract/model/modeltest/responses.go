package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// Responses is OpenAI Responses.
func Responses() Dialect {
	return Dialect{
		Name: "responses", Path: "/v1/responses", Named: true,
		Events: responsesEvents,
		Parse:  parseResponses,
		Error: func(kind, message string) string {
			return encode(object{"error": object{"message": message, "type": kind, "code": nil}})
		},
		Reasoning: func(r Reply) string {
			if r.Think == "" {
				return ""
			}
			return reasoningItem(r.Think)
		},
	}
}

// reasoningItem has its fields in an order, and characters as they are, that no
// encoder would give them.
func reasoningItem(think string) string {
	return `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":` + encode(think) + `}],"encrypted_content":"gAAAA+/8=<&>"}`
}

func responsesEvents(r Reply) []string {
	out := []string{`{"type":"response.created","response":{"id":"resp_1","status":"in_progress","output":[]}}`}
	n := 0
	item := func(added, done string, deltas ...object) {
		out = append(out, fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, n, added))
		for _, d := range deltas {
			d["output_index"] = n
			out = append(out, encode(d))
		}
		if done != "" {
			out = append(out, fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, n, done))
		}
		n++
	}
	deltas := func(kind, text string) []object {
		var all []object
		for _, p := range pieces(text) {
			all = append(all, object{"type": "response." + kind + ".delta", "delta": p})
		}
		return all
	}
	whole := r.Stop != model.Cut
	done := func(text string) string {
		if !whole {
			return ""
		}
		return text
	}
	if r.Think != "" {
		item(`{"id":"rs_1","type":"reasoning","summary":[]}`, done(reasoningItem(r.Think)), deltas("reasoning_summary_text", r.Think)...)
	}
	if r.Text != "" {
		item(`{"id":"msg_1","type":"message","role":"assistant","content":[]}`,
			done(encode(object{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": []any{object{"type": "output_text", "text": r.Text, "annotations": []any{}}}})),
			deltas("output_text", r.Text)...)
	}
	for i, c := range r.Calls {
		id := fmt.Sprintf("fc_%d", i)
		item(encode(object{"id": id, "type": "function_call", "call_id": "call_" + id, "name": c.Tool, "arguments": ""}),
			done(encode(object{"id": id, "type": "function_call", "call_id": "call_" + id, "name": c.Tool, "arguments": c.Args, "status": "completed"})),
			deltas("function_call_arguments", c.Args)...)
	}
	response := object{"id": "resp_1", "status": "completed", "usage": object{
		"input_tokens": r.Usage.Input + r.Usage.Cached, "input_tokens_details": object{"cached_tokens": r.Usage.Cached},
		"output_tokens": r.Usage.Output, "output_tokens_details": object{"reasoning_tokens": r.Usage.Reasoning},
	}}
	kind := "response.completed"
	switch r.Stop {
	case model.Cut:
		return out
	case model.Length, model.Refused:
		kind, response["status"] = "response.incomplete", "incomplete"
		reason := "max_output_tokens"
		if r.Stop == model.Refused {
			reason = "content_filter"
		}
		response["incomplete_details"] = object{"reason": reason}
	}
	return append(out, encode(object{"type": kind, "response": response}))
}

// A responsesItem is one item of a request's input.
type responsesItem struct {
	Type, Role, Name, Arguments string
	Content                     []responsesBlock
	CallID                      string `json:"call_id"`
	ID                          string
	Output                      json.RawMessage
	Encrypted                   string `json:"encrypted_content"`
}

type responsesBlock struct {
	Type, Text string
	ImageURL   string `json:"image_url"`
}

func parseResponses(body []byte) (Conversation, error) {
	var in struct {
		Model, Instructions string
		MaxOutput           int `json:"max_output_tokens"`
		Stream              bool
		Store               *bool
		Include             []string
		Tools               []struct {
			Type, Name string
			Strict     *bool
			Parameters json.RawMessage
		}
		Input []json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Conversation{}, err
	}
	if !in.Stream || in.Model == "" || in.Store == nil || *in.Store {
		return Conversation{}, fmt.Errorf("no model, no stream asked for, or the server is to keep it")
	}
	c := Conversation{Model: in.Model, System: in.Instructions, MaxOutput: in.MaxOutput}
	for _, t := range in.Tools {
		if t.Type != "function" || t.Strict == nil {
			return c, fmt.Errorf("tool %s: not a function, or it does not say whether it is strict", t.Name)
		}
		c.Tools = append(c.Tools, Offer{t.Name, t.Parameters})
	}
	thought := "" // that something must follow
	for i, raw := range in.Input {
		var item responsesItem
		if err := json.Unmarshal(raw, &item); err != nil {
			return c, fmt.Errorf("input %d: %w", i, err)
		}
		role, blocks, err := item.blocks(string(raw))
		if err != nil {
			return c, fmt.Errorf("input %d: %w", i, err)
		}
		if thought != "" && role != "assistant" {
			return c, fmt.Errorf("input %d: reasoning %s was provided without its required following item", i, thought)
		}
		thought = ""
		if item.Type == "reasoning" {
			thought = item.ID
		}
		// Calls in a row, and results in a row, belong together.
		if n := len(c.Turns); n > 0 && c.Turns[n-1].Role == role && len(blocks) > 0 {
			c.Turns[n-1].Blocks = append(c.Turns[n-1].Blocks, blocks...)
			continue
		}
		c.Turns = append(c.Turns, Turn{Role: role, Blocks: blocks})
	}
	if thought != "" {
		return c, fmt.Errorf("reasoning %s was provided without its required following item", thought)
	}
	return c, nil
}

func (item responsesItem) blocks(raw string) (role string, blocks []Block, err error) {
	switch item.Type {
	case "message":
		blocks, err = responsesContent(item.Content, item.Role)
		return item.Role, blocks, err
	case "reasoning":
		if item.Encrypted == "" {
			return "", nil, fmt.Errorf("item with id %s not found: items are not persisted", item.ID)
		}
		return "assistant", []Block{{Kind: "reasoning", Raw: raw}}, nil
	case "function_call":
		return "assistant", []Block{{Kind: "call", ID: item.CallID, Name: item.Name, Args: item.Arguments}}, nil
	case "function_call_output":
		result := Block{Kind: "result", ID: item.CallID}
		if json.Unmarshal(item.Output, &result.Text) == nil {
			return "user", []Block{result}, nil
		}
		var parts []responsesBlock
		if err := json.Unmarshal(item.Output, &parts); err != nil {
			return "", nil, err
		}
		blocks, err := responsesContent(parts, "user")
		if err != nil || len(blocks) == 0 || blocks[0].Kind != "text" {
			return "", nil, fmt.Errorf("the output of %s does not begin with text: %v", item.CallID, err)
		}
		result.Text = blocks[0].Text
		return "user", append([]Block{result}, blocks[1:]...), nil
	}
	return "", nil, fmt.Errorf("item of type %q", item.Type)
}

func responsesContent(in []responsesBlock, role string) ([]Block, error) {
	text := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
	var blocks []Block
	for _, b := range in {
		switch {
		case b.Type == text && text != "":
			blocks = append(blocks, Block{Kind: "text", Text: b.Text})
		case b.Type == "input_image" && role == "user":
			_, data, ok := strings.Cut(b.ImageURL, ";base64,")
			if !ok {
				return nil, fmt.Errorf("image %.40q", b.ImageURL)
			}
			blocks = append(blocks, Block{Kind: "image", Text: data})
		default:
			return nil, fmt.Errorf("a block of type %q by the %q", b.Type, role)
		}
	}
	return blocks, nil
}
