package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func (s System) toolCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "tool", Short: "Show the tools' contracts, or call a tool without a model",
		Args:    noArgs,
		Example: "  belay tool list\n  belay tool call LS '{}'",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.toolListCommand(), s.toolShowCommand(), s.toolCallCommand())
	return c
}

func (s System) toolListCommand() *cobra.Command {
	var asJSON bool
	var o runOptions
	c := &cobra.Command{
		Use: "list", Short: "List the tools", Args: noArgs,
		Example: "  belay tool list\n  belay tool list --json | jq -r '.[].name'",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withTools(c.Context(), o, func(_ context.Context, r *rig) error {
				if asJSON {
					var all []contract
					for _, t := range r.offered {
						all = append(all, contract{t, t.Timeout.String()})
					}
					return json.NewEncoder(tame{s.Stdout}).Encode(all)
				}
				w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "TOOL\tVERSION\tEFFECTS\tIDEMPOTENCY\tRISK\tTIMEOUT")
				for _, t := range r.offered {
					fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", t.Name, t.Version, kinds(t), t.Idempotency, t.Risk, t.Timeout)
				}
				return w.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "the whole contracts, as JSON")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "as they are in `DIR` instead of here")
	return c
}

func names(tools []tool.Spec) (all []string) {
	for _, t := range tools {
		all = append(all, t.Name)
	}
	return all
}

// A contract is a Spec as people read it: its times are no counts of nanoseconds.
type contract struct {
	tool.Spec
	Timeout string `json:"timeout"` // instead of that of Spec
}

func kinds(t tool.Spec) string {
	if len(t.Effects) == 0 {
		return "none"
	}
	var names []string
	for _, k := range t.Effects {
		names = append(names, string(k))
	}
	return strings.Join(names, ",")
}

func (s System) toolShowCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use: "show NAME", Short: "Print one tool's contract as JSON", Args: counted(cobra.ExactArgs(1)),
		Example: "  belay tool show Edit",
		RunE: func(c *cobra.Command, args []string) error {
			return s.withTools(c.Context(), o, func(_ context.Context, r *rig) error {
				for _, t := range r.offered {
					if strings.EqualFold(t.Name, args[0]) {
						e := json.NewEncoder(tame{s.Stdout})
						e.SetIndent("", "  ")
						return e.Encode(contract{t, t.Timeout.String()})
					}
				}
				return usage("there is no tool %q%s", args[0], meant(args[0], "belay tool show ", names(r.offered), "; `belay tool list` lists them"))
			})
		},
	}
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "as it is in `DIR` instead of here")
	return c
}

func (s System) toolCallCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "call NAME ARGUMENTS [NAME ARGUMENTS ...]",
		Short: "Call tools without a model, and print each result as a line of JSON",
		Long: `Call tools without a model, one after another as in one session, and print each
result in its envelope. Policy decides as it would for a model. The exit status
is 0 if every call succeeded, 3 if one was denied for want of an approver, else 1.`,
		Example: `  belay tool call Grep '{"pattern":"TODO"}'
  belay tool call Read '{"path":"a.go"}' Edit '{"path":"a.go","old":"x","new":"y"}' --mode auto`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || len(args)%2 != 0 {
				return usage("each tool needs its name and its arguments; see `belay tool call --help`")
			}
			for i := 1; i < len(args); i += 2 { // before any call is made
				if !json.Valid([]byte(args[i])) {
					return usage("the arguments of %s are not JSON: %s", args[i-1], args[i])
				}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return s.withTools(c.Context(), o, func(ctx context.Context, r *rig) error { return s.callTools(ctx, r, args) })
		},
	}
	c.Flags().StringVar(&o.mode, "mode", "", "what passes without being asked about: plan, ask, auto or full")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "work in `DIR` instead of here")
	return c
}

// callTools makes the calls that args name, and prints their results.
func (s System) callTools(ctx context.Context, r *rig, args []string) error {
	out := json.NewEncoder(tame{s.Stdout})
	failed := false
	for i := 0; i < len(args); i += 2 { // results name calls as the session counts them
		r.lastCall = "" // what cannot be prepared gets none
		call := tool.Call{Tool: args[i], Args: json.RawMessage(args[i+1])}
		result, err := r.agent.Do(ctx, call)
		if err != nil {
			return err
		}
		where := tool.Context{Dir: r.workspace.Root(), Args: call.Args, Call: r.lastCall, Version: r.version(call.Tool)}
		if err := out.Encode(envelope(result, where)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return &statusError{status: exitInterrupted} // the result says it
		}
		failed = failed || result.Status != tool.Success && result.Status != tool.Partial
	}
	if err := r.outcome(nil); err != nil {
		return err
	}
	if failed {
		return &statusError{status: exitFault}
	}
	return nil
}

// withTools gives f a session without a model, of which nothing is kept.
func (s System) withTools(ctx context.Context, o runOptions, f func(context.Context, *rig) error) (err error) {
	in := listen()
	defer in.close()
	ctx, done := in.within(ctx)
	defer done()
	o.quiet = true
	o.json = false
	r, err := s.open(ctx, openOptions{runOptions: o, interrupts: in, forgetful: true, provider: noModel{}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return f(ctx, r)
}

func (r *rig) version(name string) int {
	for _, t := range r.offered {
		if t.Name == name {
			return t.Version
		}
	}
	return 0
}

// noModel is the model of sessions in which only a person makes calls.
type noModel struct{}

func (noModel) Stream(context.Context, *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		yield(nil, &model.BadRequest{Reason: "this session has no model"})
	}
}
