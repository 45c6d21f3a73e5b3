package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/ui/terminal"
)

// Main runs the program and returns its exit status.
func Main(s System) int {
	root := s.command()
	root.SetArgs(s.Args)
	out := &noted{out: s.Stdout}
	root.SetOut(out)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		err = out.err
	}
	if name, ok := oneDash(root, s.Args); ok && status(err) == exitUsage && !strings.Contains(err.Error(), "did you mean") {
		err = usage("%v\n  -%s is read letter by letter; a name of several letters has two dashes: --%s", err, name, name)
	}
	s.report(err)
	return status(err)
}

// report says on standard error what went wrong and what to do about it.
func (s System) report(err error) {
	if err == nil || err.Error() == "" || errors.Is(err, errDeaf) {
		return
	}
	message := "belay: " + err.Error()
	if next := hint(err); next != "" {
		message += "\n  " + next
	}
	fmt.Fprintln(s.Stderr, terminal.Safe(s.shown(message)))
}

// hint returns what can be done about err, "" if its own words say it.
func hint(err error) string {
	bad, rejected := errors.AsType[*model.BadRequest](err)
	switch {
	case rejected:
		return bad.Hint
	case errors.Is(err, agent.ErrNothing):
		return `say what is next, as in: belay resume "and now the other parser"`
	case is[*agent.Limit](err):
		return `what was done is kept; to go on, with another limit if need be: belay resume`
	case errors.Is(err, model.ErrOverflow):
		return "what was done is kept; a model with a larger window goes on: belay resume --model NAME; belay models lists them"
	case is[*model.Rejection](err):
		return `say something else, as in: belay resume "leave that out", or choose another model: belay resume --model NAME`
	case is[*model.Unavailable](err) && errors.Is(err, syscall.ECONNREFUSED):
		return "nothing answers at that address: is the server running? (Ollama: ollama serve)"
	case is[*model.Unavailable](err):
		return "what was done is kept: belay resume goes on, later or with --model NAME; --fallback NAME does so by itself next time; belay doctor tries the provider"
	}
	return ""
}

func (s System) command() *cobra.Command {
	var o runOptions
	tell := false
	root := &cobra.Command{
		Use:   "belay",
		Short: "A coding agent whose guarantees are kept by the program, not by the prompt",
		Long: `Belay works on a goal in a repository: a model proposes, Belay decides what may
run, runs it, records it, and shows what happened.

Without a command it is an interactive session in this directory.`,
		Example: `  belay demo                                  see the whole loop, without a key
  belay run "make the failing test pass"      one goal, then exit
  belay                                       talk to it
  belay policy explain 'git push --force'     what would be decided, and why`,
		Args:              noArgs,
		PersistentPreRunE: given,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		RunE: func(c *cobra.Command, _ []string) error {
			if tell {
				return s.printVersion()
			}
			return s.talk(c.Context(), o)
		},
	}
	o.register(root)
	// Not by cobra's Version: its templates would add 5 MB to the binary.
	root.Flags().BoolVar(&tell, "version", false, "print the version")
	root.SetErr(s.Stderr)
	root.SetIn(s.Stdin)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%s%s", flagProblem(err), otherFlag(c, err))
	})
	root.AddCommand(
		s.runCommand(),
		s.resumeCommand(),
		s.forkCommand(),
		s.undoCommand(),
		s.redoCommand(),
		s.compactCommand(), s.constraintsCommand(),
		s.sessionsCommand(),
		s.logCommand(),
		s.traceCommand(),
		s.reportCommand(),
		s.statsCommand(), s.learnCommand(),
		s.replayCommand(),
		s.exportCommand(),
		s.doctorCommand(),
		s.modelsCommand(),
		s.toolCommand(),
		s.policyCommand(),
		s.configCommand(),
		s.demoCommand(),
		s.versionCommand(),
	)
	checkTheirs(root)
	s.complete(root)
	return root
}

// flagProblem says what is wrong with a flag, without the function of Go that
// found it.
func flagProblem(err error) string {
	if what, _, isTime := strings.Cut(err.Error(), " flag: time: "); isTime {
		return what + " flag: write a time such as 90s or 10m"
	}
	e, ok := errors.AsType[*strconv.NumError](err)
	if !ok {
		return err.Error()
	}
	want := "it is not a whole number"
	switch {
	case errors.Is(e.Err, strconv.ErrRange):
		want = "it is too large or too small"
	case e.Func == "ParseBool":
		want = "it is neither true nor false"
	case e.Func == "ParseFloat":
		want = "it is not a number"
	}
	return strings.Replace(err.Error(), e.Error(), want, 1)
}

// otherFlag says which flag of c was meant by one that it does not have, and where
// to see them all.
func otherFlag(c *cobra.Command, err error) string {
	see := "; see `" + c.CommandPath() + " --help`"
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return see
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return meant(cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()), "--", names, see)
}

// checkTheirs makes what the library's own commands take, a shell and a command,
// one that there is.
func checkTheirs(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = noArgs
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err == nil && about.HasSubCommands() {
					err = noArgs(about, rest)
				}
				return err
			}
		}
	}
}

// noArgs refuses arguments, with a word on what may have been meant.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !c.HasSubCommands() {
		return usage("`%s` takes no argument, but got %q", c.CommandPath(), args[0])
	}
	hint := fmt.Sprintf("; see `%s --help`", c.CommandPath())
	if strings.Contains(args[0], " ") || len(args) > 1 {
		hint = "; a goal goes after `belay run`"
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usage("there is no command %q%s", strings.TrimPrefix(c.CommandPath()+" "+args[0], "belay "), meant(args[0], c.CommandPath()+" ", names, hint))
}

// counted makes a wrong number of arguments wrong usage.
func counted(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) != nil {
			return usage("wrong number of arguments (%d); usage: %s", len(args), c.UseLine())
		}
		return nil
	}
}

// deaf wraps the standard output so that a write that fails ends what runs: to a
// closed pipe quietly, since nobody listens; to a full disk not.
type deaf struct {
	io.Writer
	in *interrupts
}

func (d deaf) Write(p []byte) (int, error) {
	n, err := d.Writer.Write(p)
	if err == nil || errors.Is(err, os.ErrInvalid) {
		return n, err
	}
	if errors.Is(err, syscall.EPIPE) {
		err = errDeaf
	}
	d.in.abort(err)
	return n, err
}
