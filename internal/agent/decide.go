package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// maxAsked is how often a person is asked about a call whose plan changes while
// they think.
const maxAsked = 3

// judge applies the rules of settings and of this session to p, which action was
// prepared for.
func (a *Agent) judge(p tool.Plan, action *tool.Action) policy.Decision {
	d := a.policyFor(p, action).Decide(a.tools[p.Call.Tool].Spec(), p.Parts)
	if a.owns(p) && d.Verdict == policy.Allow {
		d.Rule, d.Reason = "own tool", "only a person can ask for it"
	}
	return d
}

func (a *Agent) owns(p tool.Plan) bool {
	return slices.ContainsFunc(a.Own, func(t tool.Tool) bool { return t.Spec().Name == p.Call.Tool })
}

// policyFor returns what holds for p. What a person asks for is not held to what
// they said to the model.
func (a *Agent) policyFor(p tool.Plan, action *tool.Action) policy.Policy {
	all := a.Policy
	rules := a.state.Rules()
	if a.owns(p) {
		all.Mode = policy.ModeFull
		rules = slices.DeleteFunc(rules, func(r policy.Rule) bool { return r.Ban != nil })
	}
	all.Rules = append(rules, all.Rules...)
	return all.About(p.Call, action)
}

// Remembered returns the rules that were allowed for the rest of the session, as
// settings write them.
func (a *Agent) Remembered() (rules []string) {
	for _, r := range a.state.Rules() {
		if r.Source == policy.FromApproval {
			rules = append(rules, r.String())
		}
	}
	return rules
}

// remembered returns the rules that would settle calls such as p.
func (a *Agent) remembered(p tool.Plan, action *tool.Action) (rules []string) {
	for _, r := range a.policyFor(p, action).Remember(a.tools[p.Call.Tool].Spec(), p.Parts) {
		rules = append(rules, r.String())
	}
	return rules
}

// banned reports whether t, which cannot be prepared, would do what the user or a note
// forbids. It is taken for prepared then: to mend what it failed by would be in vain.
func (r *round) banned(t *task) bool {
	if len(t.failure.Parts) == 0 {
		return false
	}
	t.action = &tool.Action{Parts: t.failure.Parts, Summary: t.call.Tool + " " + t.failure.Parts[0].Name}
	if d := r.judge(r.planned(t), t.action); d.Verdict != policy.Deny || d.Ban == "" {
		t.action = nil
	}
	return t.action != nil
}

// decide applies policy to t's plan. What needs no person is one append.
func (r *round) decide(t *task) error {
	d := r.judge(t.plan, t.action)
	plan := event.Planned{Plan: t.plan, Digest: t.digest}
	decided := event.Decided{
		Call: t.call.ID, Plan: t.digest, Verdict: d.Verdict.String(), By: d.Rule, Reason: d.Reason,
	}
	if failure := r.dependency(t); failure != nil && d.Verdict != policy.Deny {
		return r.finish(t, tool.Failed(failure), plan)
	}
	switch {
	case d.Verdict != policy.Deny && t.owes && permanent(t.plan.Effects()) && reasons(t.call) == nil:
		return r.finish(t, tool.Failed(unreasoned(t.action)))
	case d.Verdict == policy.Allow:
		return r.start(t, plan, decided)
	case d.Verdict == policy.Ask && r.Approve != nil:
		return r.ask(t, d)
	}
	failure := &tool.Failure{Kind: tool.Denied, Message: "denied: " + d.Reason, Hint: "leave this effect alone, or ask for it"}
	if d.Ban != "" {
		failure.Hint = "go on without it; only the user can lift " + d.Ban + ", by /lift " + d.Ban
	}
	if d.Verdict == policy.Ask {
		failure = &tool.Failure{
			Kind: tool.NeedsApproval, Message: "no approver is present: " + d.Reason,
			Hint: "go on without it, and say what was left undone",
		}
	}
	decided.Verdict = policy.Deny.String()
	return r.finish(t, tool.Failed(failure), plan, decided)
}

// ask puts t before a person, who answers while the loop goes on. There is one
// question at a time: what is remembered of its answer may settle the next.
func (r *round) ask(t *task, d policy.Decision) error {
	switch {
	case r.count(asking) > 0:
		return nil
	case t.asked == maxAsked:
		return r.finish(t, tool.Failed(&tool.Failure{
			Kind: tool.Stale, Message: "what the call would do kept changing while it was asked about",
			Hint: "read again what it depends on",
		}))
	case t.asked > 0:
		d.Reason = "the plan changed since it was shown: " + d.Reason
	}
	if err := r.record(event.Planned{Plan: t.plan, Digest: t.digest}); err != nil {
		return err
	}
	t.stage = asking
	t.asked++
	q := Question{Plan: t.plan, Action: t.action, Decision: d, Why: reasons(t.call), Remember: r.remembered(t.plan, t.action)}
	r.workers.Go(func() {
		answer, err := r.Approve(r.ctx, q)
		r.news <- news{task: t, answer: &answer, err: err}
	})
	return nil
}

// answered takes a person's answer. It holds for the plan they were shown: one
// that has changed since is decided about anew.
func (r *round) answered(n news) error {
	t := n.task
	if r.ctx.Err() != nil {
		return r.finish(t, r.interrupted("not started"))
	}
	if n.err != nil {
		return r.finish(t, tool.Failed(&tool.Failure{
			Kind: tool.NeedsApproval, Message: "nobody answered: " + n.err.Error(),
		}))
	}
	decided := event.Decided{
		Call: t.call.ID, Plan: t.digest, Verdict: policy.Deny.String(), By: event.ByPerson, Reason: n.answer.Reason,
	}
	if !n.answer.Allow {
		failure := &tool.Failure{Kind: tool.Denied, Message: "denied by the user"}
		if n.answer.Reason != "" {
			failure.Message += ": " + n.answer.Reason
		}
		return r.finish(t, tool.Failed(failure), decided)
	}
	if r.prepare(r.ctx, t); t.failure != nil {
		return r.finish(t, tool.Failed(t.failure))
	}
	if r.planned(t).Digest() != t.digest {
		t.stage = waiting
		return nil
	}
	decided.Verdict = policy.Allow.String()
	if rules := n.answer.Remember; len(rules) > 0 && !permanent(t.plan.Effects()) {
		decided.Remember, decided.Also = rules[0], rules[1:]
	}
	t.approved = true
	return r.start(t, decided)
}

// start records that t starts, and then starts it.
func (r *round) start(t *task, before ...event.Body) error {
	started := event.Started{
		Call: t.call.ID, Fingerprint: t.action.Fingerprint, Reads: t.plan.Effects().OnlyReads(),
		Waited: r.waited(t),
	}
	if err := r.record(append(before, started)...); err != nil {
		return err
	}
	t.stage, t.started = running, true
	do := r.worker(t)
	r.workers.Go(func() { r.news <- news{task: t, result: do()} })
	return nil
}

// interrupted is the result of a call that the end of the round's context kept
// from its end.
func (r *round) interrupted(how string) tool.Result {
	cause := context.Cause(r.ctx)
	why := how + ": "
	if errors.Is(cause, context.Canceled) {
		why += "interrupted by the user"
	} else {
		why += cause.Error()
	}
	return tool.Result{
		Status: tool.Interrupted, Text: why,
		Failure: &tool.Failure{Kind: tool.Cancelled, Message: why, Retry: true},
	}
}
