package cli

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/ui/trace"
	"github.com/belay-agent/belay/internal/world/journal"
)

// traceOptions are the flags of trace.
type traceOptions struct {
	dir, output    string
	redact, follow bool
}

func (s System) traceCommand() *cobra.Command {
	var o traceOptions
	c := &cobra.Command{
		Use:   "trace [SESSION]",
		Short: "Show a session frame by frame in a browser: one HTML file, or live",
		Long: `Write a session, by default the newest of this directory, as one HTML file that needs
nothing else and reaches nothing: what was asked, each request as it was sent, each call
with why it was made, what was decided, what came back and what followed, the changes of
each file, a timeline, and a replay. SESSION is an id or the beginning of one. Only the
path of the file is printed on standard output. Without -o it is in a directory of
Belay's own, and not in the workspace.

With --follow nothing is written: the page is served on this machine alone, at an address
that nobody can guess, and grows while the session runs, until Ctrl-C.

With --redact the file is for others: words, contents and commands are replaced by their
size and a digest; structure, kinds, timings, decisions and names of files stay.`,
		Example: `  belay trace
  xdg-open "$(belay trace)"
  belay trace 01J8Z3KQ -o parser.html
  belay trace --redact -o for-the-issue.html
  belay trace --follow`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if o.follow && o.output != "" {
				return usage("--follow serves the page and writes no file: leave out -o")
			}
			st := s.store()
			id, err := s.in(o.dir).session(st, args)
			if err != nil {
				return err
			}
			if o.follow {
				return s.followTrace(c.Context(), st, id, o)
			}
			return s.writeTrace(st, id, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the `FILE` to write, - for standard output (default: one of Belay's own, whose path is printed)")
	f.BoolVar(&o.redact, "redact", false, "leave out what is not for others")
	f.BoolVar(&o.follow, "follow", false, "serve it on this machine while the session runs")
	f.StringVarP(&o.dir, "dir", "C", "", "the newest session of `DIR` instead of here")
	return c
}

// writeTrace writes the page of session id. Damage in the session is said there
// and here.
func (s System) writeTrace(st store, id string, o traceOptions) error {
	name := o.output
	if name == "" {
		var err error
		if name, err = s.traceFile(id, o.redact); err != nil {
			return err
		}
	}
	source, next := s.traceSource(st, id, o.redact)
	source.Events = next()
	var report trace.Report
	write := func(w io.Writer) (err error) {
		report, err = trace.Write(w, source)
		return err
	}
	if name == "-" && isTerminal(s.Stdout) {
		return usage("a page is not for a terminal: write it to a file, or into a pipe")
	}
	if name == "-" {
		if err := write(s.Stdout); err != nil {
			return err
		}
	} else {
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.dir(), name)
		}
		name, err := filepath.Abs(name)
		if err != nil {
			return usage("%v", err)
		}
		if err := writePage(name, write); err != nil {
			return err
		}
		fmt.Fprintln(s.Stderr, terminal.Safe(fmt.Sprintf("%s of session %s; open it in a browser:", count(int64(report.Events), "event"), id)))
		if _, err := fmt.Fprintln(s.Stdout, terminal.Safe(name)); err != nil {
			return err
		}
	}
	for _, d := range report.Damage {
		fmt.Fprintln(s.Stderr, "belay: "+terminal.Safe(d))
	}
	if report.Damage != nil {
		return &statusError{status: exitUnverified}
	}
	return nil
}

// traceFile returns where the page of session id goes that nobody named a file for: out
// of the workspace, where no command in a sandbox can look. A page for others has a name
// of its own, so that neither takes the place of the other.
func (s System) traceFile(id string, redact bool) (string, error) {
	dir := filepath.Join(s.stateDir(), "traces")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", usage("make %s for traces: %v; -o FILE writes elsewhere", dir, reasonOf(err))
	}
	if redact {
		id += "-redacted"
	}
	return filepath.Join(dir, id+".html"), nil
}

// traceSource is session id as a page shows it, from its beginning, without its
// events: those, and later the ones that came since, are from next.
func (s System) traceSource(st store, id string, redact bool) (_ trace.Source, next func() trace.Events) {
	v := journal.Watch(st.path(id))
	h := newTraceHistory(st.path(id))
	windows, _ := s.catalogue() // without it, sizes are not known
	source := trace.Source{
		Session:  id,
		Artifact: v.Artifact,
		Owners:   h.owners,
		Window: func(model string) int {
			return windows.Models[model].Window
		},
	}
	if redact {
		source.Redact = s.redaction(st.rootOf(id))
	}
	return source, func() trace.Events { return h.watch(v.Next()) }
}

// redaction is what a page for others goes without.
func (s System) redaction(root string) *trace.Redaction {
	key := make([]byte, 32)
	rand.Read(key)
	x := &trace.Redaction{Key: key, Root: root}
	add := func(word, with string) {
		if word != "" && word != "root" {
			x.Names = append(x.Names, trace.Name{Word: word, With: with})
		}
	}
	home := s.getenv("HOME")
	add(home, "~")
	if u, err := user.Current(); err == nil {
		if u.HomeDir != home {
			add(u.HomeDir, "~")
		}
		add(u.Username, "[user]")
	}
	if host, err := os.Hostname(); err == nil {
		add(host, "[host]")
	}
	slices.SortStableFunc(x.Names, func(a, b trace.Name) int { return len(b.Word) - len(a.Word) })
	return x
}
