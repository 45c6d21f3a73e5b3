package agent_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

func TestApproval(t *testing.T) {
	ask := func(answers ...agent.Answer) func(*agent.Options) {
		return func(o *agent.Options) {
			o.Policy.Mode = policy.ModeAsk
			o.Approve = func(context.Context, agent.Question) (agent.Answer, error) {
				if len(answers) == 0 {
					return agent.Answer{}, io.EOF
				}
				a := answers[0]
				answers = answers[1:]
				return a, nil
			}
		}
	}
	one := `call: Act {"on": "a"}`
	for _, tc := range []struct {
		name   string
		change func(*agent.Options)
		want   []tool.Kind
	}{
		{"no approver", func(o *agent.Options) { o.Policy.Mode = policy.ModeAsk }, []tool.Kind{tool.NeedsApproval, tool.NeedsApproval}},
		{"yes, then the end of input", ask(agent.Answer{Allow: true}), []tool.Kind{"", tool.NeedsApproval}},
		{"no", ask(agent.Answer{Reason: "not that"}, agent.Answer{}), []tool.Kind{tool.Denied, tool.Denied}},
		{"yes, from now on", ask(agent.Answer{Allow: true, Remember: []string{"Act(a)"}}), []tool.Kind{"", ""}},
		{"plan mode", func(o *agent.Options) { o.Policy.Mode = policy.ModePlan }, []tool.Kind{tool.Denied, tool.Denied}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, options{script: steps(one, one), tools: []tool.Tool{act("Act", effect.Write, ok)}, change: tc.change})
			if err := r.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, []tool.Kind{r.kind("c1"), r.kind("c2")}); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestP19_AnApprovalIsForWhatWasShown changes the plan while the person thinks.
func TestPromise_P19_AnApprovalIsForWhatWasShown(t *testing.T) {
	for _, tc := range []struct {
		changes int
		want    tool.Kind
	}{{0, ""}, {1, ""}, {2, ""}, {3, tool.Stale}} {
		t.Run(fmt.Sprint(tc.changes), func(t *testing.T) {
			preview, ran := "v0", ""
			changing := tool.New(tool.Spec{
				Name: "Act", Version: 1, Description: "For the test.", Effects: []effect.Kind{effect.Write},
				Idempotency: tool.None, Risk: tool.Low, Timeout: time.Minute,
			}, func(context.Context, onArgs, tool.Input) (*tool.Action, error) {
				now := preview
				return &tool.Action{
					Parts:   []tool.Part{{Name: "a", Effects: effect.Set{{Kind: effect.Write, On: "a"}}}},
					Preview: now,
					Do: func(ctx context.Context, env tool.Env) (tool.Result, error) {
						ran = now
						return ok(ctx, "", env)
					},
				}, nil
			})
			shown, left := "", tc.changes
			r := newRig(t, options{script: steps(`call: Act {"on": "a"}`), tools: []tool.Tool{changing}, change: func(o *agent.Options) {
				o.Policy.Mode = policy.ModeAsk
				o.Approve = func(_ context.Context, q agent.Question) (agent.Answer, error) {
					shown = q.Plan.Preview
					if left > 0 {
						preview = fmt.Sprint("v", left)
						left--
					}
					return agent.Answer{Allow: true}, nil
				}
			}})
			if err := r.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.kind("c1"); got != tc.want {
				t.Errorf("kind is %q, want %q", got, tc.want)
			}
			if tc.want == "" && ran != shown {
				t.Errorf("%q was shown and %q ran", shown, ran)
			}
		})
	}
}
