package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A messagesListener makes a reply out of the events of a message.
type messagesListener struct {
	from string
	req  *model.Request

	message anthropic.Message
	args    map[int64]*strings.Builder // of calls, by block
	order   map[int64]int              // of calls, by block
	open    map[int64]bool             // calls that have not ended
	grown   map[int64]*grown           // what blocks say, until they end
	stopped bool
}

// A grown collects what the SDK would join anew with every piece, which takes
// minutes where a reply is long.
type grown struct{ text, thinking strings.Builder }

func newMessagesListener(from string, req *model.Request) *messagesListener {
	return &messagesListener{from: from, req: req, args: map[int64]*strings.Builder{}, order: map[int64]int{}, open: map[int64]bool{}, grown: map[int64]*grown{}}
}

func (l *messagesListener) hear(f frame) ([]model.Delta, error) {
	if strings.TrimSpace(f.data) == "" {
		return nil, nil
	}
	data := []byte(f.data)
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		if f.name == "error" {
			return nil, &saidError{data}
		}
		return nil, fmt.Errorf("an event of the stream: %w", err)
	}
	switch head.Type {
	case "error":
		return nil, &saidError{data}
	case "message_stop":
		l.stopped = true
	case "message_start", "message_delta", "content_block_start", "content_block_delta", "content_block_stop":
	default: // a ping, or what a newer server adds
		if f.name == "error" {
			return nil, &saidError{data}
		}
		return nil, nil
	}
	var e anthropic.MessageStreamEventUnion
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("an event of the stream: %w", err)
	}
	if l.grows(e) {
		return l.deltas(e), nil
	}
	if e.Type == "content_block_stop" || e.Type == "message_stop" {
		l.settle()
	}
	if err := l.message.Accumulate(e); err != nil {
		return nil, fmt.Errorf("an event of the stream: %w", err)
	}
	return l.deltas(e), nil
}

// grows takes a piece of text or of a thought, if e is one of a block that there
// is.
func (l *messagesListener) grows(e anthropic.MessageStreamEventUnion) bool {
	if e.Type != "content_block_delta" || e.Index < 0 || e.Index >= int64(len(l.message.Content)) {
		return false
	}
	if e.Delta.Type != "text_delta" && e.Delta.Type != "thinking_delta" {
		return false
	}
	g := l.grown[e.Index]
	if g == nil {
		g = &grown{}
		l.grown[e.Index] = g
	}
	if e.Delta.Type == "text_delta" {
		g.text.WriteString(e.Delta.Text)
	} else {
		g.thinking.WriteString(e.Delta.Thinking)
	}
	return true
}

// settle gives the blocks what they have said.
func (l *messagesListener) settle() {
	for i, g := range l.grown {
		l.message.Content[i].Text += g.text.String()
		l.message.Content[i].Thinking += g.thinking.String()
	}
	clear(l.grown)
}

// deltas returns what e says to whoever watches, and keeps the arguments of
// calls as they were written.
func (l *messagesListener) deltas(e anthropic.MessageStreamEventUnion) []model.Delta {
	switch e.Type {
	case "message_start": // what came before it is no part of it
		clear(l.args)
		clear(l.order)
		clear(l.open)
		clear(l.grown)
	case "content_block_start":
		switch e.ContentBlock.Type {
		case "text":
			if e.ContentBlock.Text != "" {
				return []model.Delta{model.TextDelta{Text: e.ContentBlock.Text}}
			}
		case "tool_use":
			l.order[e.Index], l.open[e.Index] = len(l.order), true
			l.args[e.Index] = &strings.Builder{}
			return []model.Delta{model.CallDelta{Index: l.order[e.Index], Tool: e.ContentBlock.Name}}
		}
	case "content_block_stop":
		delete(l.open, e.Index)
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			return []model.Delta{model.TextDelta{Text: e.Delta.Text}}
		case "thinking_delta":
			return []model.Delta{model.ReasoningDelta{Text: e.Delta.Thinking}}
		case "input_json_delta":
			if args := l.args[e.Index]; args != nil {
				args.WriteString(e.Delta.PartialJSON)
				return []model.Delta{model.CallDelta{Index: l.order[e.Index], Tool: l.message.Content[e.Index].Name, Args: e.Delta.PartialJSON}}
			}
		}
	}
	return nil
}

// complete implements listener.
func (l *messagesListener) complete() (ended, over bool) {
	_, known := l.stop()
	return l.stopped && known, l.stopped
}

// stop says why the reply ended. One that claims to be done while a call is open
// has not.
func (l *messagesListener) stop() (stop model.Stop, known bool) {
	switch l.message.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonToolUse:
		if len(l.open) > 0 {
			return model.Cut, false
		}
		if len(l.args) > 0 {
			return model.Calls, true
		}
		return model.End, true
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return model.Length, true
	case anthropic.StopReasonRefusal:
		return model.Refused, true
	}
	return model.Cut, false
}

func (l *messagesListener) reply() model.Reply {
	l.settle()
	m := model.Message{Role: model.Assistant, From: l.from}
	for i, b := range l.message.Content {
		switch b.Type {
		case "text":
			if b.Text != "" {
				m.Parts = append(m.Parts, model.Text{Text: b.Text})
			}
		case "tool_use":
			args := string(b.Input) // some servers send it whole
			if written := l.args[int64(i)]; written != nil && written.Len() > 0 {
				args = written.String()
			}
			m.Parts = append(m.Parts, readCall(b.Name, args))
		default: // thinking, and what a newer model adds: opaque
			m.Parts = append(m.Parts, model.Reasoning{Text: b.Thinking, Raw: json.RawMessage(b.RawJSON())})
		}
	}
	r := model.Reply{Message: m}
	r.Stop, _ = l.stop()
	u := l.message.Usage
	r.Usage = counted(model.Usage{
		Input: int(u.InputTokens), Cached: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		Output: int(u.OutputTokens), Reasoning: int(u.OutputTokensDetails.ThinkingTokens),
	}, l.req, m.Parts)
	return r
}
