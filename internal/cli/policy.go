package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/ui/terminal"
)

func (s System) policyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "policy", Short: "Explain what would be decided about a call, and why", Args: noArgs,
		Example: "  belay policy explain 'git push --force'",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.explainCommand())
	return c
}

func (s System) explainCommand() *cobra.Command {
	var o runOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain COMMAND | NAME ARGUMENTS",
		Short: "Print effects, verdict and the deciding rule of a call, without running it",
		Long: `Print effects, verdict and the deciding rule, without running anything: of a
command line, or of a tool's call by its name and arguments. A file that the call
would change is read.`,
		Example: `  belay policy explain 'git push --force'
  belay policy explain --mode auto 'go test ./...'
  belay policy explain Write '{"path":"a.txt","content":"x"}'`,
		Args: oneCall,
		RunE: func(c *cobra.Command, args []string) error {
			call := tool.Call{ID: "c1", Tool: args[0]}
			if len(args) == 2 {
				call.Args = json.RawMessage(args[1])
			} else {
				quoted, err := json.Marshal(map[string]string{"command": args[0]})
				if err != nil {
					return err
				}
				call = tool.Call{ID: "c1", Tool: "Bash", Args: quoted}
			}
			return s.withTools(c.Context(), o, func(ctx context.Context, r *rig) error { return s.explain(ctx, r, call, asJSON) })
		},
	}
	c.Flags().StringVar(&o.mode, "mode", "", "the mode to decide in: plan, ask, auto or full")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "decide in `DIR` instead of here")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// oneCall refuses what is neither a command in one argument nor a tool's name and
// the object of its arguments, such as a command that was not put in quotes.
func oneCall(c *cobra.Command, args []string) error {
	if len(args) > 2 || len(args) == 2 && !strings.HasPrefix(strings.TrimSpace(args[1]), "{") {
		return usage("a command is one argument; put it in quotes: %s '%s'", c.CommandPath(), strings.Join(args, " "))
	}
	return counted(cobra.RangeArgs(1, 2))(c, args)
}

// An explanation is a decision and what it is about.
type explanation struct {
	Tool    string   `json:"tool"`
	Summary string   `json:"summary"`
	Parts   []judged `json:"parts"`
	Mode    string   `json:"mode"`
	Verdict string   `json:"verdict"`
	Rule    string   `json:"rule"`
	Reason  string   `json:"reason"`
	Profile string   `json:"profile"`
}

// A judged is a part and what would be decided about it alone.
type judged struct {
	tool.Part
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`
}

// judge returns the parts of a call with what would be decided about each.
func (r *rig) judge(plan tool.Plan) (all []judged) {
	i := slices.IndexFunc(r.offered, func(t tool.Spec) bool { return t.Name == plan.Call.Tool })
	if i < 0 {
		return nil
	}
	for _, p := range plan.Parts {
		d := r.settings.Policy().Decide(r.offered[i], []tool.Part{p})
		all = append(all, judged{p, d.Verdict.String(), d.Rule})
	}
	return all
}

// explained reads the file first that a call would change: what would be decided
// about it does not hang on that.
func explained(ctx context.Context, a *agent.Agent, call tool.Call) (tool.Plan, policy.Decision, error) {
	plan, decision, err := a.Explain(ctx, call)
	if f, ok := errors.AsType[*tool.Failure](err); !ok || f.Kind != tool.NotRead {
		return plan, decision, err
	}
	var on struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(call.Args, &on); err != nil {
		return plan, decision, err
	}
	args, err := json.Marshal(on)
	if err != nil {
		return plan, decision, err
	}
	if _, err := a.Do(ctx, tool.Call{Tool: "Read", Args: args}); err != nil {
		return plan, decision, err
	}
	return a.Explain(ctx, call)
}

func (s System) explain(ctx context.Context, r *rig, call tool.Call, asJSON bool) error {
	plan, decision, err := explained(ctx, r.agent, call)
	if f, ok := errors.AsType[*tool.Failure](err); ok && f.Kind == tool.NotFound && f.Hint != "" {
		return usage("%v; %s", err, f.Hint)
	}
	if err != nil {
		return usage("%v", err)
	}
	x := explanation{
		Tool: call.Tool, Summary: plan.Summary, Parts: r.judge(plan), Mode: string(r.settings.Mode),
		Verdict: decision.Verdict.String(), Rule: decision.Rule, Reason: decision.Reason, Profile: plan.Profile,
	}
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(x)
	}
	text := fmt.Sprintf("call     %s\n", oneLine(x.Summary, 0))
	for _, p := range x.Parts {
		text += fmt.Sprintf("part     %s\n", oneLine(p.Name, 0))
		for _, e := range p.Effects {
			text += fmt.Sprintf("  effect %s\n", oneLine(e.String(), 0))
		}
		if p.Why != "" {
			text += fmt.Sprintf("  why    %s\n", oneLine(p.Why, 0))
		}
		text += fmt.Sprintf("  alone  %s, by %s\n", p.Verdict, oneLine(p.Rule, 0))
	}
	text += fmt.Sprintf("held by  %s\nverdict  %s, by %s\nreason   %s\n", x.Profile, x.Verdict, oneLine(x.Rule, 0), terminal.Safe(x.Reason))
	_, err = fmt.Fprint(s.Stdout, text)
	return err
}
