package cli

import (
	"context"

	"github.com/belay-agent/belay/internal/agent"
)

// approver asks the person at the terminal, and keeps in the user's file what
// they want kept. What cannot be kept holds for the session, and that is said.
func (r *rig) approver(file string) func(context.Context, agent.Question) (agent.Answer, error) {
	return func(ctx context.Context, q agent.Question) (agent.Answer, error) {
		a, err := r.ui.Approve(ctx, q)
		if err != nil || !a.Allow || !a.Save {
			return a, err
		}
		for _, rule := range a.Remember {
			if err := AddConfig(file, "rules.allow", rule); err != nil {
				r.ui.Say("it holds in this session only: " + err.Error())
				break
			}
			r.ui.Say(rule + " is in " + file + "; `belay config remove rules.allow` and the rule takes it out again")
		}
		return a, nil
	}
}
