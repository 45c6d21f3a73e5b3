package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A chunk is one event of a Chat Completions stream. What servers disagree on is
// left raw.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   json.RawMessage `json:"content"`
			Refusal   json.RawMessage `json:"refusal"`
			ToolCalls []chunkCall     `json:"tool_calls"`
			chatThought
		} `json:"delta"`
		FinishReason string            `json:"finish_reason"`
		Usage        loose[chunkUsage] `json:"usage"` // of Moonshot
	} `json:"choices"`
	Usage  loose[chunkUsage] `json:"usage"`
	Error  json.RawMessage   `json:"error"`
	Object string            `json:"object"`
}

type chunkCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	chatExtra
}

type chunkUsage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CachedTokens         int `json:"cached_tokens"`           // of Moonshot
	PromptCacheHitTokens int `json:"prompt_cache_hit_tokens"` // of DeepSeek
}

func (u *chunkUsage) cached() int {
	cached := max(u.PromptTokensDetails.CachedTokens, u.CachedTokens, u.PromptCacheHitTokens, 0)
	return min(cached, u.PromptTokens)
}

// A draft is a call whose arguments still come.
type draft struct {
	index    int // the server's
	id, tool string
	args     strings.Builder
	extra    json.RawMessage
}

// said reports whether there is anything of a call: some servers send the place
// for one, and then nothing.
func (d *draft) said() bool { return d.tool != "" || d.args.Len() > 0 }

// whole reports whether the arguments are complete: what begins anew then is
// another call, though a server gives it the place or the id of this one.
func (d *draft) whole() bool {
	return d.tool != "" && strings.HasPrefix(d.args.String(), "{") && json.Valid([]byte(d.args.String()))
}

// A chatListener makes a reply out of chunks.
type chatListener struct {
	from string
	req  *model.Request

	text     strings.Builder
	thinking thinking
	thought  thought
	refused  bool
	drafts   []*draft
	finish   string
	usage    *chunkUsage
	done     bool
}

func (l *chatListener) hear(f frame) ([]model.Delta, error) {
	switch data := strings.TrimSpace(f.data); data {
	case "":
		return nil, nil
	case "[DONE]":
		l.done = true
		return nil, nil
	}
	var c chunk
	if err := json.Unmarshal([]byte(f.data), &c); err != nil {
		if f.name == "error" {
			return nil, &saidError{[]byte(f.data)}
		}
		return nil, fmt.Errorf("an event of the stream: %w", err)
	}
	if saysError(c.Error) || c.Object == "error" || f.name == "error" {
		return nil, &saidError{[]byte(f.data)}
	}
	if c.Usage.is != nil {
		l.usage = c.Usage.is
	}
	var deltas []model.Delta
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		d := choice.Delta
		if choice.Usage.is != nil {
			l.usage = choice.Usage.is
		}
		deltas = append(deltas, l.think(l.thought.hear(d.chatThought))...)
		deltas = append(deltas, l.think(l.thinking.hear(plainText(d.Content)))...)
		if refusal := plainText(d.Refusal); refusal != "" {
			l.refused = true
			deltas = append(deltas, l.think("", refusal)...)
		}
		for _, call := range d.ToolCalls {
			if len(l.drafts) > maxHeard {
				return deltas, errManyCalls
			}
			deltas = append(deltas, l.hearCall(call))
		}
		if choice.FinishReason != "" {
			l.finish = choice.FinishReason
			deltas = append(deltas, l.think(l.thinking.end())...)
		}
	}
	return deltas, nil
}

// think takes what was thought and said.
func (l *chatListener) think(thought, said string) []model.Delta {
	var deltas []model.Delta
	if thought != "" {
		l.thought.text.WriteString(thought)
		deltas = append(deltas, model.ReasoningDelta{Text: thought})
	}
	if said != "" {
		l.text.WriteString(said)
		deltas = append(deltas, model.TextDelta{Text: said})
	}
	return deltas
}

// hearCall adds a piece to the call it belongs to.
func (l *chatListener) hearCall(c chunkCall) model.Delta {
	piece := plainText(c.Function.Arguments)
	if piece == "" && len(c.Function.Arguments) > 0 && c.Function.Arguments[0] == '{' {
		piece = string(c.Function.Arguments) // some servers send the object itself
	}
	n := l.find(c)
	if n < 0 || c.Function.Name != "" && strings.HasPrefix(piece, "{") && l.drafts[n].whole() {
		d := &draft{index: len(l.drafts), id: c.ID}
		if c.Index != nil {
			d.index = *c.Index
		}
		l.drafts = append(l.drafts, d)
		n = len(l.drafts) - 1
	}
	d := l.drafts[n]
	if d.tool == "" {
		d.tool = c.Function.Name
	}
	if d.id == "" {
		d.id = c.ID
	}
	d.args.WriteString(piece)
	if len(c.ExtraContent) > 0 {
		d.extra = c.ExtraContent
	}
	return model.CallDelta{Index: n, Tool: d.tool, Args: piece}
}

// find returns which draft c goes on with: by its index, but for servers that
// send a new id under an old index, or no index at all. -1 means that it begins
// a call.
func (l *chatListener) find(c chunkCall) int {
	for i := len(l.drafts) - 1; i >= 0; i-- {
		d := l.drafts[i]
		if c.Index != nil && d.index != *c.Index {
			continue
		}
		if c.ID != "" && d.id != "" && c.ID != d.id {
			if c.Index == nil {
				continue
			}
			return -1
		}
		return i
	}
	return -1
}

// plainText is raw where it is a string, the text in it where it is a list of
// blocks, and "" otherwise.
func plainText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
	case '[':
		var blocks []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(raw, &blocks) == nil {
			var b strings.Builder
			for _, block := range blocks {
				b.WriteString(block.Text)
			}
			return b.String()
		}
	}
	return ""
}

// complete implements listener. The reply has ended once the server says why;
// its usage may follow.
func (l *chatListener) complete() (ended, over bool) {
	_, known := l.stop()
	ended = l.finish != "" && known
	return ended, l.done
}

// stop maps why the server says that the reply ended. A reason that nobody
// knows is not a proper end.
func (l *chatListener) stop() (stop model.Stop, known bool) {
	switch l.finish {
	case "stop", "eos", "end_turn", "stop_sequence", "tool_calls", "function_call":
		switch {
		case l.refused:
			return model.Refused, true
		case slices.ContainsFunc(l.drafts, (*draft).said):
			return model.Calls, true
		}
		return model.End, true
	case "length", "max_tokens", "model_context_window_exceeded":
		return model.Length, true
	case "content_filter", "sensitive", "refusal":
		return model.Refused, true
	}
	return model.Cut, false
}

func (l *chatListener) reply() model.Reply {
	m := model.Message{Role: model.Assistant, From: l.from}
	if part := l.thought.part(); part != nil {
		m.Parts = append(m.Parts, part)
	}
	if l.text.Len() > 0 {
		m.Parts = append(m.Parts, model.Text{Text: l.text.String()})
	}
	for _, d := range l.drafts {
		if !d.said() {
			continue
		}
		call := readCall(d.tool, d.args.String())
		if len(d.extra) > 0 {
			call.Raw = json.RawMessage(`{"extra_content":` + string(d.extra) + `}`)
		}
		m.Parts = append(m.Parts, call)
	}
	r := model.Reply{Message: m}
	r.Stop, _ = l.stop()
	var u model.Usage
	if l.usage != nil {
		cached := l.usage.cached()
		u = model.Usage{
			Input: l.usage.PromptTokens - cached, Cached: cached,
			Output: l.usage.CompletionTokens, Reasoning: l.usage.CompletionTokensDetails.ReasoningTokens,
		}
	}
	r.Usage = counted(u, l.req, m.Parts)
	return r
}

// readCall parses a call's arguments strictly. None at all are an empty object:
// so do models call tools that take none.
func readCall(name, args string) model.Call {
	c := model.Call{Call: tool.Call{Tool: name}}
	switch trimmed := strings.TrimSpace(args); {
	case trimmed == "":
		c.Args = json.RawMessage("{}")
	case json.Valid([]byte(trimmed)):
		c.Args = json.RawMessage(trimmed)
	default:
		c.Args, c.Malformed = json.RawMessage("null"), args
	}
	return c
}
