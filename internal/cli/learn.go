package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/decide/stats"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// lessonsHeading is above the lessons in a rule file.
const lessonsHeading = "## Lessons from failed calls"

type learnOptions struct {
	dir, text        string
	all, yes, asJSON bool
}

func (s System) learnCommand() *cobra.Command {
	var o learnOptions
	c := &cobra.Command{
		Use:   "learn [LESSON]",
		Short: "List what mended calls that failed, or make one of it a rule of the project",
		Long: `List the lessons of this directory's sessions: what mended the calls that failed in the
same way in most cases (see ` + "`belay stats --failures`" + `). With the id of one, or the beginning
of it, make it a rule of the project: a line in AGENTS.md, which sessions that begin have in
their system prompt, and those that go on are told.

What would change is shown first and asked about, unless --yes says so. A file that changed
meanwhile is left as it is.`,
		Example: `  belay learn
  belay learn 3fa9c1d2
  belay learn 3fa9 --text "Read a file again before you try an edit of it again."`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return s.in(o.dir).printLessons(o)
			}
			return s.in(o.dir).learn(o, args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&o.text, "text", "", "the rule in words of your own, one line")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.all, "all", false, "lessons of the sessions of every directory")
	f.BoolVar(&o.asJSON, "json", false, "list them as JSON")
	f.StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here, and for its rules")
	return c
}

// A lesson is what mends failures of one kind, in words for a rule file.
type lesson struct {
	ID        string `json:"id"`
	Rule      string `json:"rule"`
	Signature string `json:"signature"` // of the failures
	Mended    int    `json:"mended"`    // of them, in this way
	Count     int    `json:"count"`
	Sessions  int    `json:"sessions"`
	IsRule    bool   `json:"is_rule"` // of this directory, in these words
}

// lessons returns what sessions teach, the most frequent first.
func (s System) lessons(all bool) (found []lesson, err error) {
	st := s.store()
	ids, err := s.counted(st, all, nil)
	if err != nil {
		return nil, err
	}
	var failures []stats.Failure
	for _, id := range ids {
		_, failed, err := countSession(st, id)
		if err != nil {
			fmt.Fprintln(s.Stderr, "belay: "+oneLine(id+": "+err.Error(), 0)+"; what is intact is counted")
		}
		failures = append(failures, failed...)
	}
	isRule, done := s.rulesHere()
	defer done()
	for _, g := range stats.Grouped(failures) {
		rule, ok := g.Rule()
		if !ok {
			continue
		}
		way, _ := g.Lesson()
		rule = s.shown(rule)
		found = append(found, lesson{g.ID(), rule, g.Signature, way.Mended, g.Count, g.Sessions, isRule(rule)})
	}
	return found, nil
}

// rulesHere tells, until done is called, whether learn would find words to be a rule of
// this directory already. Where that cannot be told they are none.
func (s System) rulesHere() (isRule func(words string) bool, done func()) {
	w, err := workspace.Open(s.dir())
	if err != nil {
		return func(string) bool { return false }, func() {}
	}
	return func(words string) bool {
		_, isNew, err := w.NewRule(lessonsHeading, words)
		return err == nil && !isNew
	}, func() { _ = w.Close() }
}

func (s System) printLessons(o learnOptions) error {
	if o.text != "" || o.yes {
		return usage("which lesson? `belay learn` lists them")
	}
	found, err := s.lessons(o.all)
	if err != nil {
		return err
	}
	if o.asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(append([]lesson{}, found...))
	}
	if len(found) == 0 {
		if ids, err := s.counted(s.store(), o.all, nil); err != nil || len(ids) == 0 {
			return errors.Join(err, s.sayNoSession(o.all))
		}
		return s.sayNone("no lesson yet: it takes three calls that failed in the same way and were mended in the same way; `belay stats --failures` shows what there is")
	}
	out := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	for _, l := range found {
		already := ""
		if l.IsRule {
			already = "(a rule already) "
		}
		fmt.Fprintf(out, "%s\t%d of %d in %s\t%s%s\n", l.ID, l.Mended, l.Count, count(int64(l.Sessions), "session"), already, oneLine(l.Rule, 0))
	}
	return out.Flush()
}

// learn makes the lesson that id begins a rule of the project.
func (s System) learn(o learnOptions, id string) error {
	if o.asJSON {
		return usage("--json lists lessons; a rule is shown as what it changes")
	}
	rule, err := s.rule(o, id)
	if err != nil {
		return err
	}
	root, err := s.root()
	if err != nil {
		return err
	}
	w, err := workspace.Open(root)
	if err != nil {
		return err
	}
	err = s.addRule(w, rule, o.yes)
	return errors.Join(err, w.Close())
}

// rule returns the words of the lesson that id begins, or those that the person has
// for it.
func (s System) rule(o learnOptions, id string) (string, error) {
	found, err := s.lessons(o.all)
	if err != nil {
		return "", err
	}
	var its []lesson
	for _, l := range found {
		if strings.HasPrefix(l.ID, strings.ToLower(id)) {
			its = append(its, l)
		}
	}
	switch {
	case len(its) == 0:
		ids := make([]string, len(found))
		for i, l := range found {
			ids[i] = l.ID
		}
		near, ok := closestBeginning(id, ids)
		if ok {
			return "", usage("no lesson begins with %q; did you mean %s?", id, near)
		}
		return "", usage("no lesson begins with %q; `belay learn` lists them", id)
	case len(its) > 1:
		return "", usage("%d lessons begin with %q: write more of the id", len(its), id)
	}
	if o.text == "" {
		return its[0].Rule, nil
	}
	text := strings.TrimSpace(o.text)
	if text == "" || strings.ContainsAny(text, "\n\r") {
		return "", usage("--text: a rule is one line of words")
	}
	return text, nil
}

func (s System) addRule(w *workspace.Workspace, rule string, yes bool) error {
	e, ok, err := w.NewRule(lessonsHeading, rule)
	if err != nil {
		return ruleError(err)
	}
	if !ok {
		_, err := fmt.Fprintln(s.Stderr, "it is a rule already: "+oneLine(rule, 0))
		return err
	}
	edits := []edit.Intent{e}
	diff, err := w.Diff(edits)
	if err != nil {
		return ruleError(err)
	}
	if _, err := fmt.Fprint(s.Stderr, terminal.Safe(diff.Unified)); err != nil {
		return err
	}
	if !yes {
		if err := s.confirm("add this rule to " + e.Path + "?"); err != nil {
			return err
		}
	}
	if _, err := w.Write(edits); err != nil {
		return ruleError(err)
	}
	_, err = fmt.Fprintf(s.Stderr, "%s has the rule; new sessions have it in their system prompt, and those that go on are told\n", e.Path)
	return err
}

// ruleError is err as a person reads it.
func ruleError(err error) error {
	if errors.Is(err, workspace.ErrStale) {
		return usage("%v; nothing was written: run it again to see it as it is now", err)
	}
	return usage("%v; nothing was written", err)
}

// confirm asks a person, who must say y or yes. Anything else is an error that says
// that nothing was written.
func (s System) confirm(question string) error {
	if !isTerminal(s.Stdin) || !isTerminal(s.Stderr) {
		return &statusError{exitDenied, errors.New("nothing was written: there is nobody to ask; --yes writes it")}
	}
	if _, err := fmt.Fprintf(s.Stderr, "%s [y/N] ", terminal.Safe(question)); err != nil {
		return err
	}
	line, err := bufio.NewReader(s.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &statusError{exitDenied, errors.New("nothing was written")}
}
