package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A responsesEvent is one event of a Responses stream, as far as any matters.
type responsesEvent struct {
	Type        string          `json:"type"`
	OutputIndex int             `json:"output_index"`
	Delta       json.RawMessage `json:"delta"` // a string where it matters
	Item        json.RawMessage `json:"item"`
	Response    *responsesWhole `json:"response"`
	Error       json.RawMessage `json:"error"`
}

// A responsesWhole is the response that the last event repeats.
type responsesWhole struct {
	Status            string            `json:"status"`
	Error             json.RawMessage   `json:"error"`
	Output            []json.RawMessage `json:"output"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage loose[responsesUsage] `json:"usage"`
}

type responsesUsage struct {
	InputTokens        int `json:"input_tokens"`
	OutputTokens       int `json:"output_tokens"`
	InputTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// A responsesOutput is one item of a reply.
type responsesOutput struct {
	Type    string `json:"type"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`

	raw json.RawMessage
}

// text is what an item says to the reader, or what it thought.
func (o *responsesOutput) text() string {
	var parts []string
	for _, s := range o.Summary {
		parts = append(parts, s.Text)
	}
	said := strings.Join(parts, "\n\n")
	for _, c := range o.Content {
		said += c.Text + c.Refusal
	}
	return said
}

func (o *responsesOutput) refused() bool {
	for _, c := range o.Content {
		if c.Refusal != "" {
			return true
		}
	}
	return false
}

// args are the arguments of a call, as the model wrote them.
func (o *responsesOutput) args() string {
	if len(o.Arguments) > 0 && o.Arguments[0] == '{' {
		return string(o.Arguments)
	}
	return plainText(o.Arguments)
}

// A responsesSlot is an item on its way.
type responsesSlot struct {
	index int // the server's
	kind  string
	call  int // of calls, from 0
	tool  string
	said  strings.Builder
	done  *responsesOutput // once it is whole
}

// A responsesListener makes a reply out of the events of a response.
type responsesListener struct {
	from  string
	req   *model.Request
	slots []*responsesSlot
	calls int
	whole *responsesWhole // at the end
	done  bool
}

func newResponsesListener(from string, req *model.Request) *responsesListener {
	return &responsesListener{from: from, req: req}
}

func (l *responsesListener) hear(f frame) ([]model.Delta, error) {
	if len(l.slots) > maxHeard {
		return nil, errManyCalls
	}
	switch strings.TrimSpace(f.data) {
	case "":
		return nil, nil
	case "[DONE]":
		l.done = true
		return nil, nil
	}
	var e responsesEvent
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		if f.name == "error" {
			return nil, &saidError{[]byte(f.data)}
		}
		return nil, fmt.Errorf("an event of the stream: %w", err)
	}
	if e.Type == "" || f.name == "error" { // whose data may have a type of its own
		e.Type = f.name
	}
	switch e.Type {
	case "error":
		return nil, &saidError{[]byte(f.data)}
	case "response.failed":
		if e.Response != nil && len(e.Response.Error) > 0 {
			return nil, &saidError{[]byte(`{"error":` + string(e.Response.Error) + `}`)}
		}
		return nil, &saidError{[]byte(f.data)}
	case "response.output_item.added":
		return l.added(e)
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_summary_text.delta",
		"response.reasoning_text.delta", "response.function_call_arguments.delta":
		return l.grown(e), nil
	case "response.reasoning_summary_part.added":
		if s := l.slot(e.OutputIndex); s != nil && s.said.Len() > 0 {
			return l.say(s, "\n\n"), nil
		}
	case "response.output_item.done":
		return l.finished(e.OutputIndex, e.Item)
	case "response.completed", "response.incomplete", "response.cancelled":
		return l.ended(e)
	default:
		if saysError(e.Error) {
			return nil, &saidError{[]byte(f.data)}
		}
	}
	return nil, nil
}

func (l *responsesListener) slot(index int) *responsesSlot {
	for _, s := range l.slots {
		if s.index == index {
			return s
		}
	}
	return nil
}

// open begins the item at index, unless it has begun.
func (l *responsesListener) open(index int, kind, tool string) *responsesSlot {
	if s := l.slot(index); s != nil {
		if s.tool == "" {
			s.tool = tool
		}
		return s
	}
	s := &responsesSlot{index: index, kind: kind, tool: tool, call: l.calls}
	if kind == "function_call" {
		l.calls++
	}
	l.slots = append(l.slots, s)
	return s
}

func (l *responsesListener) added(e responsesEvent) ([]model.Delta, error) {
	item, err := readOutput(e.Item)
	if err != nil {
		return nil, err
	}
	s := l.open(e.OutputIndex, item.Type, item.Name)
	if s.kind == "function_call" {
		return []model.Delta{model.CallDelta{Index: s.call, Tool: s.tool}}, nil
	}
	return nil, nil
}

func readOutput(raw json.RawMessage) (*responsesOutput, error) {
	var item responsesOutput
	if err := json.Unmarshal(raw, &item); err != nil {
		return nil, fmt.Errorf("an item of the stream: %w", err)
	}
	item.raw = raw
	return &item, nil
}

// grown adds a piece to the item it belongs to.
func (l *responsesListener) grown(e responsesEvent) []model.Delta {
	s := l.slot(e.OutputIndex)
	if s == nil {
		kind := "message"
		switch {
		case strings.HasPrefix(e.Type, "response.reasoning"):
			kind = "reasoning"
		case strings.HasPrefix(e.Type, "response.function_call"):
			kind = "function_call"
		}
		s = l.open(e.OutputIndex, kind, "")
	}
	return l.say(s, plainText(e.Delta))
}

func (l *responsesListener) say(s *responsesSlot, piece string) []model.Delta {
	if piece == "" || s.done != nil {
		return nil
	}
	s.said.WriteString(piece)
	switch s.kind {
	case "message":
		return []model.Delta{model.TextDelta{Text: piece}}
	case "reasoning":
		return []model.Delta{model.ReasoningDelta{Text: piece}}
	case "function_call":
		return []model.Delta{model.CallDelta{Index: s.call, Tool: s.tool, Args: piece}}
	}
	return nil
}

// finished takes an item as it ended, and says what no delta has said.
func (l *responsesListener) finished(index int, raw json.RawMessage) ([]model.Delta, error) {
	item, err := readOutput(raw)
	if err != nil {
		return nil, err
	}
	s := l.open(index, item.Type, item.Name)
	if s.done != nil {
		return nil, nil
	}
	whole := item.text()
	if item.Type == "function_call" {
		whole = item.args()
	}
	rest, _ := strings.CutPrefix(whole, s.said.String())
	var deltas []model.Delta
	if len(rest) < len(whole) || s.said.Len() == 0 {
		deltas = l.say(s, rest)
	}
	s.done = item
	return deltas, nil
}

// ended takes the last event. Where no item came by itself, they come with it.
func (l *responsesListener) ended(e responsesEvent) ([]model.Delta, error) {
	l.done = true
	if e.Response == nil {
		return nil, nil
	}
	l.whole = e.Response
	l.whole.Status = strings.TrimPrefix(e.Type, "response.")
	if len(l.slots) > 0 {
		return nil, nil
	}
	var deltas []model.Delta
	for i, raw := range e.Response.Output {
		more, err := l.finished(i, raw)
		if err != nil {
			return nil, err
		}
		deltas = append(deltas, more...)
	}
	return deltas, nil
}

// complete implements listener.
func (l *responsesListener) complete() (ended, over bool) {
	_, known := l.stop()
	return known, l.done
}

// stop says why the reply ended. One that claims to be complete while an item is
// not has not.
func (l *responsesListener) stop() (stop model.Stop, known bool) {
	if l.whole == nil {
		return model.Cut, false
	}
	switch l.whole.Status {
	case "completed":
		refused := false
		for _, s := range l.slots {
			if s.done == nil {
				return model.Cut, false
			}
			refused = refused || s.done.refused()
		}
		switch {
		case refused:
			return model.Refused, true
		case l.calls > 0:
			return model.Calls, true
		}
		return model.End, true
	case "incomplete":
		switch l.whole.IncompleteDetails.Reason {
		case "max_output_tokens", "max_tokens":
			return model.Length, true
		case "content_filter":
			return model.Refused, true
		}
	}
	return model.Cut, false
}

func (l *responsesListener) reply() model.Reply {
	m := model.Message{Role: model.Assistant, From: l.from}
	for _, s := range l.slots {
		if part := s.part(); part != nil {
			m.Parts = append(m.Parts, part)
		}
	}
	r := model.Reply{Message: m}
	r.Stop, _ = l.stop()
	var u model.Usage
	if l.whole != nil && l.whole.Usage.is != nil {
		said := l.whole.Usage.is
		cached := min(max(said.InputTokensDetails.CachedTokens, 0), said.InputTokens)
		u = model.Usage{
			Input: said.InputTokens - cached, Cached: cached,
			Output: said.OutputTokens, Reasoning: said.OutputTokensDetails.ReasoningTokens,
		}
	}
	r.Usage = counted(u, l.req, m.Parts)
	return r
}

// part is what an item comes to, nil if that is nothing. Reasoning goes back
// only if it carries itself: what the server did not store it does not find.
func (s *responsesSlot) part() model.Part {
	said := s.said.String()
	switch s.kind {
	case "message":
		if said == "" {
			return nil
		}
		t := model.Text{Text: said}
		if s.done != nil && phase(s.done.raw) != "" {
			t.Raw = s.done.raw
		}
		return t
	case "function_call":
		if s.done != nil {
			return readCall(s.done.Name, s.done.args())
		}
		return readCall(s.tool, said)
	}
	r := model.Reasoning{Text: said}
	if s.done != nil && (s.kind != "reasoning" || s.done.Encrypted != "" || len(s.done.Content) > 0) {
		r.Raw = s.done.raw
	}
	if r.Text == "" && r.Raw == nil {
		return nil
	}
	return r
}
