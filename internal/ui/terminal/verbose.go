package terminal

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// sent says how large a request is.
func sent(b event.Sent) string {
	text := "request of " + grouped(b.Bytes) + " bytes"
	if b.Tokens > 0 {
		text += ", about " + grouped(b.Tokens) + " tokens"
	}
	if b.Model != "" {
		text += ", to " + b.Model
	}
	return text
}

// plan says what a call may do, part by part.
func plan(p tool.Plan) string {
	var parts []string
	for _, part := range p.Parts {
		parts = append(parts, strings.TrimSpace(describe(part)))
	}
	text := "plan: " + label(p.Call.Tool, p.Summary)
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, "; ")
	}
	if p.Timeout > 0 {
		text += fmt.Sprintf("; at most %s", p.Timeout)
	}
	return text
}

// size is how many bytes of a reply d is.
func size(d model.Delta) int {
	switch d := d.(type) {
	case model.TextDelta:
		return len(d.Text)
	case model.ReasoningDelta:
		return len(d.Text)
	case model.CallDelta:
		return len(d.Args)
	}
	return 0
}
