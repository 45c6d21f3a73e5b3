package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
)

// A settled is Bash, which finds out how a call ended from what its host has
// recorded. What a command printed is not recorded.
type settled struct {
	tool.Tool
	host    *process.Host
	silence time.Duration
}

// Settle returns the result that the call would have had, but for the output. It
// fails where the command was started and nobody saw its end: then it may have
// done anything, and is not to be run again unasked.
func (s settled) Settle(_ context.Context, p tool.Plan, _ json.RawMessage) (*tool.Result, error) {
	left, err := s.host.Left(p.Call.ID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it may have happened, in whole or in part: %w", err)
	case !left.Started:
		return nil, nil
	case left.Exit == nil:
		when := ""
		if !left.At.IsZero() {
			when = left.At.UTC().Format(" at 2006-01-02 15:04:05 UTC")
		}
		return nil, fmt.Errorf("the command (%s) was started%s, and it may have happened, in whole or in part; what was left of it has been ended", p.Summary, when)
	}
	e := *left.Exit
	body := "(no output)\n[the command had ended when Belay was stopped]\n"
	if e.Dropped > 0 {
		body = fmt.Sprintf("[the command had ended when Belay was stopped; its output of %d bytes is lost]\n", e.Dropped)
	}
	if e.Held {
		body += "[what it left running has been ended]\n"
	}
	r := exited(e, process.Command{Timeout: p.Timeout, Silence: s.silence}, body, bashFacts{
		Bytes: e.Dropped, Dropped: e.Dropped, Truncated: e.Dropped > 0,
	})
	return &r, nil
}
