package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/journal"
)

func (s System) sessionsCommand() *cobra.Command {
	var o runOptions
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "sessions [WORDS]",
		Short: "List the sessions of this directory, newest first, or those that mention WORDS",
		Example: `  belay sessions
  belay sessions --all parser
  belay sessions --json`,
		RunE: func(c *cobra.Command, words []string) error {
			return s.in(o.dir).listSessions(strings.Join(words, " "), all, asJSON)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "of every directory")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (s System) listSessions(words string, all, asJSON bool) error {
	st := s.store()
	ids, err := st.ids()
	if err != nil {
		return err
	}
	root, err := s.root()
	if err != nil {
		return err
	}
	shown := 0
	for _, id := range ids {
		if !all && st.rootOf(id) != root || words != "" && !st.mentions(id, words) {
			continue
		}
		x := st.summarize(id)
		if x.Turns == 0 && x.Damage == "" {
			continue // nobody said anything there
		}
		shown++
		if err := s.printSession(x, all, asJSON); err != nil {
			return err
		}
	}
	if shown > 0 || asJSON {
		return nil
	}
	if all {
		root = ""
	}
	if words != "" {
		return s.sayNone(noMention(root, words))
	}
	return s.sayNone(noSession(root))
}

// noMention says that no session in root, or none at all, mentions words.
func noMention(root, words string) string {
	if root == "" {
		return fmt.Sprintf("no session mentions %q", words)
	}
	return fmt.Sprintf("no session in %s mentions %q; `belay sessions --all WORDS` looks in those of other directories", root, words)
}

// sayNone says on standard error why a list is empty. That is no fault: a list of
// nothing is one too.
func (s System) sayNone(why string) error {
	_, err := fmt.Fprintln(s.Stderr, terminal.Safe(why))
	return err
}

func (s System) printSession(x summary, all, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(x)
	}
	stop := x.Stop
	switch {
	case x.Damage != "":
		stop = "damaged: " + x.Damage
	case stop == "":
		stop = "cut"
	case stop == string(model.End):
		stop = "done"
	}
	where := ""
	if all {
		where = "  " + x.Root
	}
	goal, more, _ := strings.Cut(x.Goal, "\n")
	if strings.TrimSpace(more) != "" {
		goal += " …"
	}
	line := fmt.Sprintf("%s  %s  %-13s %9s%s  %s", x.ID, x.Began.Local().Format(time.DateTime), stop, count(int64(x.Calls), "call"), where, goal)
	limit := 0
	if isTerminal(s.Stdout) {
		limit = width(s.Stdout)
	}
	_, err := fmt.Fprintln(s.Stdout, oneLine(line, limit))
	return err
}

// count writes n things of a kind: one thing, two things.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// oneLine returns s harmless and on one line, cut to limit cells unless that is
// 0.
func oneLine(s string, limit int) string {
	if limit == 0 {
		limit = 1 << 20
	}
	return terminal.Line(s, limit)
}

// indented returns s harmless, each of its lines but the first as far in as what goes
// on in a message.
func indented(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(terminal.Safe(s)), "\n", "\n  ")
}

// mentions reports whether anything that was said or done in session id
// contains words, in any case.
func (st store) mentions(id, words string) bool {
	words = strings.ToLower(words)
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			continue
		}
		var said string
		switch b := e.Body.(type) {
		case event.Asked:
			said = b.Text
		case event.Replied:
			said = b.Message.Text()
		case event.Planned:
			said = b.Plan.Summary
		}
		if strings.Contains(strings.ToLower(said), words) {
			return true
		}
	}
	return false
}

func (s System) logCommand() *cobra.Command {
	var o runOptions
	var schema bool
	c := &cobra.Command{
		Use:   "log [SESSION]",
		Short: "Print the events of a session, one JSON object a line",
		Long: `Print the events of a session, one JSON object a line: by default of the newest
session of this directory. SESSION is an id or the beginning of one. With --schema
print the JSON Schema of such a line instead.`,
		Example: `  belay log
  belay log 01J8Z3 | jq 'select(.t == "decided")'`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if schema && len(args) > 0 {
				return usage("--schema is of every session: leave out %s", args[0])
			}
			if schema {
				_, err := s.Stdout.Write(event.Schema())
				return err
			}
			st := s.store()
			id, err := s.in(o.dir).session(st, args)
			if err != nil {
				return err
			}
			return s.printLog(st, id)
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of an event, and no events")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	return c
}

// printLog prints every intact event of session id, also behind damage, which is
// said where it is.
func (s System) printLog(st store, id string) error {
	out := newLines(s.Stdout)
	var damage []error
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			damage = append(damage, err)
			fmt.Fprintln(s.Stderr, "belay: "+terminal.Safe(err.Error()))
		}
		if e.Body == nil {
			continue
		}
		if err := out.write(e); err != nil {
			return err
		}
	}
	if damage != nil {
		return &statusError{status: exitUnverified}
	}
	return nil
}

// session returns the session that args name, or the newest of this directory.
func (s System) session(st store, args []string) (string, error) {
	if len(args) > 0 {
		return st.find(args[0])
	}
	root, err := s.root()
	if err != nil {
		return "", err
	}
	return st.newest(root)
}

// root returns the directory to work in as sessions name it: absolute, links
// resolved.
func (s System) root() (string, error) {
	root, err := filepath.Abs(s.dir())
	if err != nil {
		return "", usage("the directory that this is in cannot be told, perhaps it was removed: %v", err)
	}
	real, err := filepath.EvalSymlinks(root)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usage("there is no directory %s", root)
	}
	if err != nil {
		return "", usage("%v", err)
	}
	if info, err := os.Stat(real); err == nil && !info.IsDir() {
		return "", usage("%s is not a directory", root)
	}
	return real, nil
}
