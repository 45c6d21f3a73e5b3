package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/ui/terminal"
)

// maxGoal bounds the bytes of a goal: more belongs into a file that the goal
// names.
const maxGoal = 256 << 10

// runOptions are the flags of all commands that run a model.
type runOptions struct {
	model, mode, effort, cost, dir string
	fallback                       string
	steps, tokens                  int
	timeout                        time.Duration
	json, quiet, verbose           bool
	schema                         string
}

// register adds the flags that all commands share.
func (o *runOptions) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&o.model, "model", "m", "", "`provider/name`, or script:FILE for a rehearsal")
	f.StringVar(&o.fallback, "fallback", "", "the `provider/name` that goes on with a turn where the model cannot be reached")
	f.StringVar(&o.mode, "mode", "", "what passes without being asked about: plan, ask, auto or full")
	f.StringVar(&o.effort, "effort", "", "how much the model reasons, a `level`: low, medium or high")
	f.IntVar(&o.steps, "max-steps", 0, "end a turn after `N` requests to the model")
	f.IntVar(&o.tokens, "max-tokens", 0, "end a turn after `N` tokens, in and out")
	f.StringVar(&o.cost, "max-cost", "", "end a turn at this cost in `dollars`, where the price of the model is known")
	f.DurationVar(&o.timeout, "timeout", 0, "end a turn after this `time`, such as 10m")
	f.StringVarP(&o.dir, "dir", "C", "", "work in `DIR` instead of here")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "the answer and questions only")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also reasoning and what commands print")
}

func (s System) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   `run [flags] "GOAL"`,
		Short: "Work on one goal, then exit",
		Long: `Work on one goal, then exit: the answer goes to standard output, progress to
standard error. With - the goal is read from standard input. Files of the workspace
that it names by @, as in @a.go, @a.go:10-20, @dir/ or @"a b.txt", are pointed out to
the model.

What the mode leaves to a person is asked about where standard input and standard
error are a terminal; elsewhere it is denied at once, and the exit status is 3.`,
		Example: `  belay run "why does TestParse fail?"
  belay run --mode auto --max-cost 0.50 "make the failing test pass"
  git diff | belay run - --mode plan
  belay run --model openai/qwen3 --json "list the TODOs" | jq .`,
		RunE: func(c *cobra.Command, args []string) error {
			goal, err := s.goal(args)
			if err != nil {
				return err
			}
			return s.once(c.Context(), o, "", goal)
		},
	}
	o.register(c)
	o.registerOutput(c)
	return c
}

func (o *runOptions) registerOutput(c *cobra.Command) {
	c.Flags().BoolVar(&o.json, "json", false, "print events, one JSON object a line, instead of the answer")
	c.Flags().StringVar(&o.schema, "output-schema", "", "the answer is JSON that fits the schema in `FILE`")
}

func (s System) resumeCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   `resume [SESSION] ["GOAL"]`,
		Short: "Go on with a session: with a new goal, or with the turn that was stopped or cut off",
		Long: `Go on with a session, by default the newest of this directory. Without a goal
the turn that was stopped, by you or by a limit, or that was cut off goes on. SESSION
is an id or at least its first 5 characters; it goes on in the directory that it is
about, from wherever it is resumed.
The model is the one that the session had last, unless --model names another.`,
		Example: `  belay resume
  belay resume "now the same for the other parser"
  belay resume 01J8Z3KQ "try again"`,
		RunE: func(c *cobra.Command, args []string) error {
			st := s.store()
			var named []string
			if len(args) > 0 && st.meansID(args[0]) {
				named, args = args[:1], args[1:]
			}
			id, err := s.in(o.dir).session(st, named)
			if err != nil && named != nil {
				return usage("%v; if %s begins the goal, put the whole goal into quotes", err, named[0])
			}
			if err != nil {
				return err
			}
			if err := s.goOn(st, id, &o); err != nil {
				return err
			}
			goal := ""
			if len(args) > 0 {
				if goal, err = s.goal(args); err != nil {
					return err
				}
			}
			return s.once(c.Context(), o, id, goal)
		},
	}
	o.register(c)
	o.registerOutput(c)
	return c
}

// goOn sets what o leaves open to what session id had: its directory and its model.
func (s System) goOn(st store, id string, o *runOptions) (err error) {
	if o.dir, err = s.workplace(st, id, o.dir); err != nil {
		return err
	}
	if o.model == "" {
		o.model = st.modelOf(id)
	}
	return nil
}

// workplace returns the directory that session id is about, in which alone it goes
// on, and says so where that is not this one. It refuses another that was asked
// for.
func (s System) workplace(st store, id, asked string) (string, error) {
	at, err := s.in(asked).root()
	root := st.rootOf(id)
	switch {
	case root == "" || err == nil && at == root:
		return asked, nil
	case asked != "":
		return "", usage("session %s is about %s and cannot go on in %s", id, root, asked)
	}
	_, err = fmt.Fprintln(s.Stderr, terminal.Safe("working in "+root+", which the session is about"))
	return root, err
}

// goal returns what args say, or what standard input does if they are "-".
func (s System) goal(args []string) (string, error) {
	goal := strings.Join(args, " ")
	if goal == "-" {
		b, err := io.ReadAll(io.LimitReader(s.Stdin, maxGoal+1))
		if err != nil {
			return "", usage("read the goal from standard input: %v", err)
		}
		goal = string(b)
	}
	switch {
	case len(goal) > maxGoal:
		return "", usage("the goal is larger than %d KiB: put what is long into a file and name it in the goal", maxGoal>>10)
	case strings.TrimSpace(goal) == "":
		return "", usage(`the goal is empty; say what to do, as in: belay run "make the failing test pass"`)
	}
	return strings.ToValidUTF8(goal, "\uFFFD"), nil
}

// once runs one turn and prints its answer.
func (s System) once(ctx context.Context, o runOptions, session, goal string) error {
	return s.during(ctx, openOptions{runOptions: o, session: session}, func(ctx context.Context, r *rig) error {
		return r.once(ctx, goal)
	})
}

// during opens a rig, has do use it, and closes it. An interrupt ends the context
// that do gets.
func (s System) during(ctx context.Context, o openOptions, do func(context.Context, *rig) error) (err error) {
	o.interrupts = listen()
	defer o.interrupts.close()
	ctx, done := o.interrupts.within(ctx)
	defer done()
	r, err := s.open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return do(ctx, r)
}

// once runs one turn, or goes on with the last if there is no goal, and prints its
// answer.
func (r *rig) once(ctx context.Context, goal string) (err error) {
	said := r.said(goal)
	if r.schema != nil && goal != "" {
		said.Text = r.schema.instruct(goal)
	}
	if goal == "" {
		err = r.again()
	}
	if err == nil {
		r.tellLifting(goal)
		err = r.agent.Turn(ctx, said)
	}
	if err == nil && r.schema != nil { // what it takes to mend the answer are turns of their own
		err = errors.Join(r.reportTurn(), r.schema.insist(ctx, r))
	}
	return r.verified(err)
}
