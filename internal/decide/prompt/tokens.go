package prompt

import (
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// marginShare is the part of a window, one in so many, that stays free: tokens
// are counted by someone else's tokenizer.
const marginShare = 10

// Tokens returns how many tokens of input r is to its model: the estimate,
// calibrated by what that model reported in this session.
func Tokens(s *session.State, r *model.Request) int { return s.Calibrated(r.Model, r.Estimate()) }

// Limit returns how many tokens a whole request to m may have: its window without
// what is kept for the reply and without the margin. It is 0 where the window is
// not known at all.
func Limit(m model.Info) int {
	return max(0, m.Window-m.Reserve()-m.Window/marginShare)
}

// Usable returns how many tokens the messages of a request to m may have: the
// Limit without the system prompt, the project's rules and the tools.
func Usable(s *session.State, m model.Info, tools []tool.Spec) int {
	head := model.Request{Model: m.Name, System: system + rules(s.Ruled()), Tools: tools}
	return max(0, Limit(m)-s.Calibrated(m.Name, head.HeadEstimate()))
}

// RuleTokens returns how many tokens the project's rules in L2 are to a model.
func RuleTokens(s *session.State, model string) int {
	return s.Calibrated(model, tool.EstimateTokens(rules(s.Ruled())))
}

// Fill returns how many tokens m has before it, and how many it may have: the
// newest request with its reply, and Limit. What results have added since is not
// in it.
func Fill(s *session.State, m model.Info) (used, limit int) { return s.Load(), Limit(m) }
