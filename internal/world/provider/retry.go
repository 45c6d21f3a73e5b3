package provider

import (
	"bytes"
	"slices"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// interruption matches the result of a call that was interrupted: its last line
// says so, in the words of every result that is no success.
var interruption = pattern(`(^|\n)\[interrupted: [^\n]*\]$`)

func isInterrupted(p model.Part) bool {
	r, ok := p.(model.CallResult)
	return ok && r.Error && interruption().MatchString(r.Text)
}

// retries reports whether the step that was played last asks again for what was
// interrupted.
func (r *Rehearsed) retries() bool {
	n := r.next
	return n > 0 && n <= len(r.script.steps) && (r.script.retry || r.script.steps[n-1].retry)
}

// interrupted returns those calls of the last reply whose result says that they
// were interrupted, as they were made, without their ids.
func interrupted(messages []model.Message) []model.Part {
	results := sinceReply(messages)
	if len(results) == len(messages) {
		return nil // there is no reply
	}
	cut := make(map[string]bool)
	for _, m := range results {
		for _, p := range m.Parts {
			if isInterrupted(p) {
				cut[p.(model.CallResult).Call] = true
			}
		}
	}
	var calls []model.Part
	for _, p := range messages[len(messages)-len(results)-1].Parts {
		if c, ok := p.(model.Call); ok && cut[c.ID] {
			calls = append(calls, model.Call{Call: tool.Call{Tool: c.Tool, Args: c.Args}, Malformed: c.Malformed})
		}
	}
	return calls
}

// asksAgain reports whether the last of messages is a reply for nothing but what
// was interrupted before it.
func asksAgain(messages []model.Message) bool {
	last := len(messages) - 1
	calls := interrupted(messages[:last])
	return calls != nil && slices.EqualFunc(calls, messages[last].Parts, sameCall)
}

// sameCall reports whether two parts are calls for the same, whatever their ids.
func sameCall(a, b model.Part) bool {
	c, ok := a.(model.Call)
	d, also := b.(model.Call)
	return ok && also && c.Tool == d.Tool && c.Malformed == d.Malformed && bytes.Equal(c.Args, d.Args)
}

// uncut returns messages as if nothing of the last step had been interrupted:
// without the replies that asked again, and without the results that these
// replaced.
func (r *Rehearsed) uncut(messages []model.Message) []model.Message {
	var results []model.Message
	for {
		since := sinceReply(messages)
		before := messages[:len(messages)-len(since)] // it ends with a reply, if there is one
		if len(before) == 0 || !r.retries() || !asksAgain(before) {
			return slices.Concat(before, since, results)
		}
		results = slices.Concat(since, results)
		messages = finished(before[:len(before)-1])
	}
}

// finished returns messages without the results since the last reply that are
// of interrupted calls.
func finished(messages []model.Message) []model.Message {
	since := sinceReply(messages)
	kept := slices.Clone(messages[:len(messages)-len(since)])
	for _, m := range since {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), isInterrupted)
		if len(m.Parts) > 0 {
			kept = append(kept, m)
		}
	}
	return kept
}
