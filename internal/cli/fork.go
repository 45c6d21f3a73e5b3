package cli

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/secret"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/journal"
)

func (s System) forkCommand() *cobra.Command {
	var o runOptions
	var at int64
	c := &cobra.Command{
		Use:   "fork [SESSION]",
		Short: "Begin a new session with what another one knew at some point",
		Long: `Begin a new session with the events of another one, by default the newest of this
directory, up to event SEQ, by default all of them. Nothing of the other session
changes, and files in the workspace are left as they are. Where a call was open at
SEQ, the fork begins before that call. This is also how to go on with a session whose
log is damaged: fork it from before the damage.`,
		Example: `  belay fork
  belay fork 01J8Z3KQ --at 120
  belay resume "$(belay fork)" "try it another way"`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			st := s.store()
			id, err := s.in(o.dir).session(st, args)
			if err != nil {
				return err
			}
			return s.fork(st, id, at)
		},
	}
	c.Flags().Int64Var(&at, "at", math.MaxInt64, "the last event, by its number `SEQ` in `belay log`")
	c.Flags().Lookup("at").DefValue = "the end"
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	return c
}

func (s System) fork(st store, parent string, at int64) (err error) {
	last, asked, err := st.restingPoint(parent, at)
	if err != nil {
		return err
	}
	id := newID()
	if err := journal.Fork(st.path(parent), last.seq, st.path(id)); err != nil {
		return err
	}
	j, err := journal.Open(st.path(id), secret.New(secret.Options{})) // it adds nothing that could hold a secret
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	opened := last.opened
	opened.Session, opened.Parent, opened.At, opened.Version = id, parent, last.seq, fullVersion()
	if _, err := j.Append(opened); err != nil {
		return err
	}
	said := fmt.Sprintf("%s has the events of %s up to %d", id, parent, last.seq)
	if asked != last.seq {
		said += fmt.Sprintf(", the last before %d at which no call was open", asked)
	}
	fmt.Fprintln(s.Stderr, terminal.Safe(said))
	_, err = fmt.Fprintln(s.Stdout, id)
	return err
}

// A point is a place in a session at which another can begin.
type point struct {
	seq    int64
	opened event.Opened
}

// restingPoint returns the last point up to event at where no call of session id
// was open, and the last event up to at that there is.
func (st store) restingPoint(id string, at int64) (rest point, last int64, err error) {
	state := new(session.State)
	for e, err := range journal.Read(st.path(id)) {
		if err == nil && e.Seq > at {
			break
		}
		if err == nil {
			err = state.Apply(e)
		}
		if err != nil && at != math.MaxInt64 {
			return rest, last, usage("event %d cannot be reached: %v", at, err)
		}
		if err != nil { // as far as it goes
			break
		}
		if last = e.Seq; len(state.Open()) == 0 && state.Opened().Session != "" {
			rest = point{e.Seq, state.Opened()}
		}
	}
	if rest.seq == 0 {
		return rest, last, usage("session %s has no event up to there that a session could begin with", id)
	}
	return rest, last, nil
}
