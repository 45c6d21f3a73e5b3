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
	UsageMetadata loose[geminiUsage] `json:"usageMetadata"`
	Error         json.RawMessage    `json:"error"`
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
	growing strings.Builder // what the last part says, while it is not signed and may go on
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
	if saysError(c.Error) || f.name == "error" {
		return nil, &saidError{[]byte(data)}
	}
	if c.UsageMetadata.is != nil {
		l.usage = c.UsageMetadata.is
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
		l.put(call)
		l.calls++
		return []model.Delta{model.CallDelta{Index: l.calls - 1, Tool: call.Tool, Args: args}}, nil
	case p.Text == nil:
		l.put(model.Reasoning{Raw: raw}) // of tomorrow: opaque
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
	var last model.Part
	if len(l.parts) > 0 {
		last = l.parts[len(l.parts)-1]
	}
	switch p := p.(type) {
	case model.Text:
		before, same := last.(model.Text)
		if p.Raw != nil || !same || before.Raw != nil {
			l.put(p)
		}
		l.growing.WriteString(p.Text)
	case model.Reasoning:
		if p.Text == "" && p.Raw == nil {
			return
		}
		before, same := last.(model.Reasoning)
		if p.Raw != nil || !same || before.Raw != nil {
			l.put(p)
		}
		l.growing.WriteString(p.Text)
	}
}

// put appends a part, which ends the one before it.
func (l *geminiListener) put(p model.Part) {
	l.settle()
	l.growing.Reset()
	l.parts = append(l.parts, p)
}

// settle gives the last part all that it has said.
func (l *geminiListener) settle() {
	if l.growing.Len() == 0 {
		return
	}
	switch p := l.parts[len(l.parts)-1].(type) {
	case model.Text:
		p.Text = l.growing.String()
		l.parts[len(l.parts)-1] = p
	case model.Reasoning:
		p.Text = l.growing.String()
		l.parts[len(l.parts)-1] = p
	}
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
	l.settle()
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
