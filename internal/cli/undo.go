package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/undo"
	"github.com/belay-agent/belay/internal/ui/terminal"
)

// undoOptions are the flags of undo and redo.
type undoOptions struct {
	dir           string
	scope         undo.Scope
	preview, json bool
}

func (s System) undoCommand() *cobra.Command {
	var o undoOptions
	c := &cobra.Command{
		Use:   "undo [SESSION]",
		Short: "Take back what the agent changed, and only that",
		Long: `Take back what the agent changed in a session, by default the newest of this
directory: by its file tools and by its commands, in the newest turn of which anything
is left. Only what it put there goes: what you changed in the same files before, between
and since stays. A file in which you changed the same lines since is left as it is and
named, and the exit status is 6.`,
		Example: `  belay undo --preview
  belay undo
  belay undo 01J8Z3KQ --turn 2
  belay undo --file internal/parser.go
  belay redo`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return s.undo(c.Context(), o, args) },
	}
	f := c.Flags()
	f.IntVar(&o.scope.Turn, "turn", 0, "what turn `N` changed, from 1")
	f.StringVar(&o.scope.Call, "call", "", "what call `ID` changed, such as c12 (see `belay log`)")
	f.StringVar(&o.scope.File, "file", "", "what the session changed in the file at `PATH`")
	o.register(c)
	return c
}

func (s System) redoCommand() *cobra.Command {
	o := undoOptions{scope: undo.Scope{Redo: true}}
	c := &cobra.Command{
		Use:   "redo [SESSION]",
		Short: "Do again what undo took back",
		Long: `Do again what the newest undo of a session took back, by default the newest session of
this directory. What you changed since stays, as with undo.`,
		Example: `  belay redo --preview
  belay redo`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return s.undo(c.Context(), o, args) },
	}
	o.register(c)
	return c
}

func (o *undoOptions) register(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.preview, "preview", false, "show what would change, and change nothing")
	f.BoolVar(&o.json, "json", false, "print the result, or with --preview the plan, as JSON")
	f.StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
}

// undo takes back what o says in the session that args name.
func (s System) undo(ctx context.Context, o undoOptions, args []string) (err error) {
	st := s.store()
	id, err := s.in(o.dir).session(st, args)
	if err != nil {
		return err
	}
	if o.dir, err = s.workplace(st, id, o.dir); err != nil {
		return err
	}
	in := listen()
	defer in.close()
	ctx, done := in.within(ctx)
	defer done()
	r, err := s.open(ctx, openOptions{
		runOptions: runOptions{dir: o.dir, quiet: true}, session: id, interrupts: in, asked: true,
		provider: noModel{}, info: model.Info{Name: st.modelOf(id)},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	b, err := json.Marshal(o.scope)
	if err != nil {
		return err
	}
	call := tool.Call{Tool: undo.Tool, Args: b}
	if o.preview {
		return s.previewUndo(ctx, r, call, o.json)
	}
	result, err := r.agent.Do(ctx, call)
	if err != nil {
		return err
	}
	if o.json {
		err = json.NewEncoder(tame{s.Stdout}).Encode(envelope(result, tool.Context{Dir: r.workspace.Root(), Args: call.Args, Call: r.lastCall, Version: 1}))
	} else if result.Failure == nil {
		_, err = fmt.Fprintln(s.Stdout, terminal.Safe(result.Text))
	}
	return errors.Join(err, undone(result))
}

// previewUndo shows what call would do.
func (s System) previewUndo(ctx context.Context, r *rig, call tool.Call, asJSON bool) error {
	plan, _, err := r.agent.Explain(ctx, call)
	if failure, ok := errors.AsType[*tool.Failure](err); ok {
		return undone(tool.Failed(failure))
	}
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(plan)
	}
	_, err = fmt.Fprintf(s.Stdout, "%s\n%s", terminal.Safe(plan.Summary), terminal.Safe(plan.Preview))
	return err
}

// undone is what the program ends with after an undo.
func undone(r tool.Result) error {
	switch {
	case r.Failure == nil && r.Status == tool.Success:
		return nil
	case r.Failure == nil:
		return &statusError{status: exitUnverified} // the text says it
	case r.Failure.Kind == tool.NoChange, r.Failure.Kind == tool.Invalid:
		return usage("%s", r.Failure.Message)
	case r.Failure.Kind == tool.Stale:
		return &statusError{exitUnverified, errors.New(r.Failure.Message)}
	}
	return errors.New(r.Failure.Message)
}

// byCommand answers a question about a call that the command line itself asks
// for.
func byCommand(context.Context, agent.Question) (agent.Answer, error) {
	return agent.Answer{Allow: true, Reason: "asked for on the command line"}, nil
}
