package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/constraint"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/journal"
)

func (s System) constraintsCommand() *cobra.Command {
	var o runOptions
	var lift, why string
	var asJSON bool
	c := &cobra.Command{
		Use:   "constraints [SESSION]",
		Short: "List what you forbade or required in a session, or lift one of it",
		Long: `List what you forbade or required in a session, by default the newest of this
directory, as Belay understood it: your words, and what keeps them. With them come the
notes of a compaction that rule something out. With --lift one of them holds no longer;
neither the model nor any words in the conversation can do that. With --why Belay tells what
it would make of a text, part by part, and what spoke for it and against it.`,
		Example: `  belay constraints
  belay constraints --lift k1
  belay constraints 01J8Z3KQ --json
  belay constraints --why "tidy up, but leave vendor/ alone"`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("why") {
				if len(args) > 0 || lift != "" {
					return usage("--why is about a text, not about a session; quote the text")
				}
				return s.explainConstraints(why, asJSON)
			}
			st := s.store()
			id, err := s.in(o.dir).session(st, args)
			if err != nil {
				return err
			}
			if lift != "" {
				return s.lift(c.Context(), st, id, o.dir, lift)
			}
			return s.listConstraints(st, id, asJSON)
		},
	}
	c.Flags().StringVar(&lift, "lift", "", "end the constraint, or the note, called `ID`, such as k1")
	c.Flags().StringVar(&why, "why", "", "tell how `TEXT` is understood, and why")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	if err := c.RegisterFlagCompletionFunc("lift", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return s.liftable(o.dir, args), cobra.ShellCompDirectiveNoFileComp
	}); err != nil {
		panic("cli: " + err.Error()) // there is such a flag
	}
	return c
}

// heldTo returns the constraints and notes of session id that hold.
func (st store) heldTo(id string) ([]event.Constrained, []event.Note, error) {
	state := new(session.State)
	for e, err := range journal.Read(st.path(id)) {
		if err == nil {
			err = state.Apply(e)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("session %s: %w", id, err)
		}
	}
	return state.Constraints(), state.RuledOut(), nil
}

// lifted returns the words of what a person lifted in session id under that name, ""
// if they lifted nothing that was called so.
func (st store) lifted(id, what string) (words string, err error) {
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			return "", fmt.Errorf("session %s: %w", id, err)
		}
		if b, ok := e.Body.(event.Constrained); ok && b.Lifted && b.ID == what {
			words = b.Words
		}
	}
	return words, nil
}

// liftable returns what --lift can be, for completion.
func (s System) liftable(dir string, args []string) (ids []string) {
	st := s.store()
	id, err := s.in(dir).session(st, args)
	if err != nil {
		return nil
	}
	constraints, notes, err := st.heldTo(id)
	if err != nil {
		return nil
	}
	for _, k := range constraints {
		ids = append(ids, k.ID+"\t"+oneLine(k.Words, 60))
	}
	for _, n := range notes {
		ids = append(ids, n.ID+"\t"+oneLine(n.Text, 60))
	}
	return ids
}

// A held is a constraint or a note as --json prints it.
type held struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"` // constraint or note
	Words    string     `json:"words"`
	Seq      int64      `json:"seq,omitempty"`
	By       string     `json:"by,omitempty"`
	Enforced bool       `json:"enforced"`
	Stops    []string   `json:"stops,omitempty"`
	Bans     []tool.Ban `json:"bans,omitempty"`
}

func (s System) listConstraints(st store, id string, asJSON bool) error {
	constraints, notes, err := st.heldTo(id)
	if err != nil {
		return err
	}
	if !asJSON {
		if len(constraints)+len(notes) == 0 {
			fmt.Fprintln(s.Stderr, "nothing you said in session "+id+" was understood as a constraint, or it is lifted")
			return nil
		}
		_, err := fmt.Fprintln(s.Stdout, terminal.Safe(showHeld(constraints, notes)))
		return err
	}
	out := json.NewEncoder(tame{s.Stdout})
	for _, k := range constraints {
		stops := session.Enforced(k.Bans)
		if err := out.Encode(held{k.ID, "constraint", k.Words, k.Seq, k.By, len(stops) > 0, stops, k.Bans}); err != nil {
			return err
		}
	}
	for _, n := range notes {
		stops := session.Enforced(n.Bans)
		if err := out.Encode(held{n.ID, "note", n.Text, 0, "", len(stops) > 0, stops, n.Bans}); err != nil {
			return err
		}
	}
	return nil
}

// showHeld shows what holds, a line for each and one for each ban.
func showHeld(constraints []event.Constrained, notes []event.Note) string {
	var lines []string
	add := func(id, words string, bans []tool.Ban) {
		lines = append(lines, fmt.Sprintf("%-4s %q", id, strings.Join(strings.Fields(words), " ")))
		stops := session.Enforced(bans)
		for _, stop := range stops {
			lines = append(lines, "     stops "+stop)
		}
		if len(stops) == 0 {
			lines = append(lines, "     not enforceable: the model is told")
		}
	}
	for _, k := range constraints {
		add(k.ID, k.Words, k.Bans)
	}
	for _, n := range notes {
		add(n.ID, n.Text, n.Bans)
	}
	return strings.Join(lines, "\n")
}

// tellLifting says how a constraint is lifted, where the user seems to think that
// words do.
func (r *rig) tellLifting(words string) {
	constraints, _ := r.agent.Constraints()
	var held []string
	for _, k := range constraints {
		held = append(held, k.Words)
	}
	if which, ok := constraint.Permits(words, held); ok {
		id := constraints[which].ID
		r.ui.Say("words lift no constraint; /lift " + id + ", or `belay constraints --lift " + id + "`, does. These hold:\n" + showHeld(constraints, nil))
	}
}

// lift ends what is called what in session id.
func (s System) lift(ctx context.Context, st store, id, dir, what string) error {
	constraints, notes, err := st.heldTo(id)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(constraints, func(k event.Constrained) bool { return k.ID == what }) &&
		!slices.ContainsFunc(notes, func(n event.Note) bool { return n.ID == what }) {
		if words, err := st.lifted(id, what); err != nil || words != "" {
			return cmp.Or(err, usage("constraint %s is lifted already: %q", what, oneLine(words, 100)))
		}
		return usage("session %s has no constraint %s; `belay constraints` lists them", id, oneLine(what, 40))
	}
	if dir, err = s.workplace(st, id, dir); err != nil {
		return err
	}
	o := openOptions{
		runOptions: runOptions{dir: dir}, session: id, asked: true,
		provider: noModel{}, info: model.Info{Name: st.modelOf(id)},
	}
	return s.during(ctx, o, func(_ context.Context, r *rig) error {
		_, err := r.agent.Lift(what)
		return err
	})
}
