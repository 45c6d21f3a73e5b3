package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A geminiChunk is one event of a stream. Each is a whole answer of its own, of
// which the parts add up.
type geminiChunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *geminiUsage    `json:"usageMetadata"`
	Error         json.RawMessage `json:"error"`
}

type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"` // with what was cached
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
	ToolUse    int `json:"toolUsePromptTokenCount"`
}

// A geminiPiece is one part of a chunk.
type geminiPiece struct {
	Text         *string `json:"text"`
	Thought      bool    `json:"thought"`
	Signature    string  `json:"thoughtSignature"`
	FunctionCall *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// A geminiListener makes a reply out of chunks.
type geminiListener struct {
	from string
	req  *model.Request

	parts   []model.Part
	calls   int
	finish  string
	blocked bool
	usage   *geminiUsage
}

// A garbledCall reports that the model wrote what its own API cannot read.
type garbledCall struct{ reason, said string }

func (g *garbledCall) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("the model made a call that its API could not read (%s): %s", g.reason, clip(g.said, 200)), ": ")
}

func (l *geminiListener) hear(f frame) ([]model.Delta, error) {
	data := strings.TrimSpace(f.data)
	if data == "" || data == "[DONE]" {
		return nil, nil
	}
	var c geminiChunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		if f.name == "error" {
			return nil, &saidError{[]byte(data)}
		}
		return nil, fmt.Errorf("an event of the stream: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" || f.name == "error" {
		return nil, &saidError{[]byte(data)}
	}
	if c.UsageMetadata != nil {
		l.usage = c.UsageMetadata
	}
	l.blocked = l.blocked || c.PromptFeedback.BlockReason != ""
	var deltas []model.Delta
	for _, candidate := range c.Candidates {
		if candidate.Index != 0 {
			continue
		}
		for _, raw := range candidate.Content.Parts {
			said, err := l.hearPart(raw)
			if err != nil {
				return deltas, err
			}
			deltas = append(deltas, said...)
		}
		switch candidate.FinishReason {
		case "", "FINISH_REASON_UNSPECIFIED":
		case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS":
			return deltas, &garbledCall{candidate.FinishReason, candidate.FinishMessage}
		default:
			l.finish = candidate.FinishReason
		}
	}
	return deltas, nil
}

func (l *geminiListener) hearPart(raw json.RawMessage) ([]model.Delta, error) {
	var p geminiPiece
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("a part of the stream: %w", err)
	}
	var signed json.RawMessage
	if p.Signature != "" {
		signed = raw
	}
	switch {
	case p.FunctionCall != nil:
		args := string(p.FunctionCall.Args)
		if strings.HasPrefix(args, `"`) || args == "null" { // some gateways send it as text
			args = plainText(p.FunctionCall.Args)
		}
		call := readCall(p.FunctionCall.Name, args)
		call.Raw = signed
		l.parts = append(l.parts, call)
		l.calls++
		return []model.Delta{model.CallDelta{Index: l.calls - 1, Tool: call.Tool, Args: args}}, nil
	case p.Text == nil:
		l.parts = append(l.parts, model.Reasoning{Raw: raw}) // of tomorrow: opaque
		return nil, nil
	case p.Thought || *p.Text == "":
		l.add(model.Reasoning{Text: *p.Text, Raw: signed})
		if *p.Text == "" {
			return nil, nil
		}
		return []model.Delta{model.ReasoningDelta{Text: *p.Text}}, nil
	}
	l.add(model.Text{Text: *p.Text, Raw: signed})
	return []model.Delta{model.TextDelta{Text: *p.Text}}, nil
}

// add appends a text or a thought, to the one before it where neither is signed.
func (l *geminiListener) add(p model.Part) {
	n := len(l.parts) - 1
	switch p := p.(type) {
	case model.Text:
		if n >= 0 && p.Raw == nil {
			if last, ok := l.parts[n].(model.Text); ok && last.Raw == nil {
				l.parts[n] = model.Text{Text: last.Text + p.Text}
				return
			}
		}
	case model.Reasoning:
		if p.Text == "" && p.Raw == nil {
			return
		}
		if n >= 0 && p.Raw == nil {
			if last, ok := l.parts[n].(model.Reasoning); ok && last.Raw == nil {
				l.parts[n] = model.Reasoning{Text: last.Text + p.Text}
				return
			}
		}
	}
	l.parts = append(l.parts, p)
}

// complete implements listener. Nothing in the stream says that it is over, but
// its end.
func (l *geminiListener) complete() (ended, over bool) {
	_, known := l.stop()
	return known, false
}

func (l *geminiListener) stop() (stop model.Stop, known bool) {
	switch l.finish {
	case "STOP":
		if l.calls > 0 {
			return model.Calls, true
		}
		return model.End, true
	case "MAX_TOKENS":
		return model.Length, true
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT":
		return model.Refused, true
	}
	if l.blocked {
		return model.Refused, true
	}
	return model.Cut, false
}

func (l *geminiListener) reply() model.Reply {
	r := model.Reply{Message: model.Message{Role: model.Assistant, From: l.from, Parts: l.parts}}
	r.Stop, _ = l.stop()
	var u model.Usage
	if l.usage != nil {
		cached := min(max(l.usage.Cached, 0), l.usage.Prompt)
		u = model.Usage{
			Input: l.usage.Prompt - cached + l.usage.ToolUse, Cached: cached,
			Output: l.usage.Candidates + l.usage.Thoughts, Reasoning: l.usage.Thoughts,
		}
	}
	r.Usage = counted(u, l.req, l.parts)
	return r
}
