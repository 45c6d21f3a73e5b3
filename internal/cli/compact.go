package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/ui/terminal"
)

func (s System) compactCommand() *cobra.Command {
	var o runOptions
	var hint string
	c := &cobra.Command{
		Use:   "compact [SESSION]",
		Short: "Make a session shorter for the model; its log stays whole",
		Long: `Make a session shorter for the model, by default the newest of this directory: what
was said and done long ago becomes a record of facts from the log and of notes that the
model writes once. It happens by itself before a request would be too long for the
model. Nothing leaves the log.`,
		Example: `  belay compact
  belay compact 01J8Z3KQ --hint "the parser matters, the docs do not"`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return s.compact(c.Context(), o, hint, args) },
	}
	o.register(c)
	c.Flags().BoolVar(&o.json, "json", false, "print events, one JSON object a line")
	c.Flags().StringVar(&hint, "hint", "", "what to keep in mind, in `WORDS`")
	return c
}

// compact makes the session that args name shorter.
func (s System) compact(ctx context.Context, o runOptions, hint string, args []string) error {
	st := s.store()
	id, err := s.in(o.dir).session(st, args)
	if err != nil {
		return err
	}
	if err := s.goOn(st, id, &o); err != nil {
		return err
	}
	return s.during(ctx, openOptions{runOptions: o, session: id}, func(ctx context.Context, r *rig) error {
		return r.outcome(r.compact(ctx, hint))
	})
}

// compact makes the session shorter, and says if there was nothing to leave out.
func (r *rig) compact(ctx context.Context, hint string) error {
	err := r.agent.Compact(ctx, hint)
	if errors.Is(err, agent.ErrNothingToCompact) {
		r.ui.Say(err.Error())
		return nil
	}
	return err
}

// compactNow does so between two turns.
func (t *talking) compactNow(ctx context.Context, hint string) error {
	ctx, done := t.in.within(ctx)
	defer done()
	err := t.compact(ctx, hint)
	if err == nil || fatal(err) {
		return err
	}
	t.ui.Say("not compacted: " + terminal.Safe(err.Error()))
	return nil
}
