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
	stopped bool
}

func newMessagesListener(from string, req *model.Request) *messagesListener {
	return &messagesListener{from: from, req: req, args: map[int64]*strings.Builder{}, order: map[int64]int{}, open: map[int64]bool{}}
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
	if err := l.message.Accumulate(e); err != nil {
		return nil, fmt.Errorf("an event of the stream: %w", err)
	}
	return l.deltas(e), nil
}

// deltas returns what e says to whoever watches, and keeps the arguments of
// calls as they were written.
func (l *messagesListener) deltas(e anthropic.MessageStreamEventUnion) []model.Delta {
	switch e.Type {
	case "message_start": // what came before it is no part of it
		clear(l.args)
		clear(l.order)
		clear(l.open)
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
