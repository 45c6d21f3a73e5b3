package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/report"
	"github.com/belay-agent/belay/internal/ui/terminal"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// reportOptions are the flags of report.
type reportOptions struct {
	dir  string
	turn int
	json bool
}

func (s System) reportCommand() *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report [SESSION]",
		Short: "Say what came of a session: what changed, what was verified, what is left open",
		Long: `Say what came of a session, by default the newest of this directory: which files
changed and by which calls, which tests and builds ran after that and how they went,
what no test has seen, which tests prove less than before, what was changed outside of
the paths that were named, and what was left undone. All of it is from the recorded
events; what the model says of its own work comes last and vouches for nothing.

The exit status is 6 if verification found something.`,
		Example: `  belay report
  belay report 01J8Z3KQ --turn 2
  belay report --json | jq .findings`,
		Args: counted(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return s.printReport(o, args) },
	}
	f := c.Flags()
	f.IntVar(&o.turn, "turn", 0, "of turn `N` alone, from 1")
	f.BoolVar(&o.json, "json", false, "print it as JSON (docs/report.md)")
	f.StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	return c
}

func (s System) printReport(o reportOptions, args []string) error {
	st := s.store()
	id, err := s.in(o.dir).session(st, args)
	if err != nil {
		return err
	}
	var log report.Log
	var damage []error
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			damage = append(damage, err)
		}
		if e.Body != nil {
			log.Add(e)
		}
	}
	if o.turn < 0 || o.turn > log.Turn() {
		return usage("there is no turn %d; the session has %s", o.turn, count(int64(log.Turn()), "turn"))
	}
	images, done := st.images(id)
	defer done()
	rep := hidden(log.Of(o.turn, images), s.shown)
	if o.json {
		err = json.NewEncoder(tame{s.Stdout}).Encode(rep)
	} else {
		err = s.printClaims(rep)
	}
	if err == nil && damage != nil {
		fmt.Fprintln(s.Stderr, "belay: "+terminal.Safe(errors.Join(damage...).Error()))
	}
	if err == nil && (rep.Findings != nil || damage != nil) {
		return &statusError{status: exitUnverified}
	}
	return err
}

func (s System) printClaims(rep report.Report) error {
	lines := rep.Lines(true)
	if end, told := endOf(rep); told {
		lines = append(lines, end)
	}
	if quote, ok := rep.Quote(); ok {
		lines = append(lines, quote)
	}
	if len(lines) == 0 {
		lines = []report.Line{{Text: "nothing was changed, run or left open"}}
	}
	for _, l := range lines {
		mark := "· "
		if l.Bad {
			mark = "! "
		}
		if _, err := fmt.Fprintln(s.Stdout, mark+indented(l.Text)); err != nil {
			return err
		}
	}
	return nil
}

// endOf tells how the newest turn of rep ended, where it did not by itself. Whoever
// runs it is told of that at once, whoever asks later is not.
func endOf(rep report.Report) (line report.Line, told bool) {
	which, next := "the newest turn", "; `belay resume "+rep.Session+"` goes on with it"
	if rep.Turn > 0 {
		which, next = fmt.Sprintf("turn %d", rep.Turn), ""
	}
	switch rep.Stop {
	case string(model.End):
		return line, false
	case "":
		return report.Line{Text: which + " was cut off, or runs still" + next, Bad: true}, true
	}
	return report.Line{Text: which + " did not end by itself: " + rep.Stop + next, Bad: true}, true
}

// images returns what session id kept of the files that it changed, until done is
// called; nil if it kept nothing, or the place is gone.
func (st store) images(id string) (images report.Images, done func()) {
	dir := filepath.Join(st.path(id), "undo")
	if _, err := os.Stat(dir); err != nil {
		return nil, func() {}
	}
	w, err := workspace.OpenWith(st.rootOf(id), workspace.Options{Undo: dir})
	if err != nil {
		return nil, func() {}
	}
	return w.Image, func() { _ = w.Close() }
}

// hidden is rep without secrets: names of tests come from files that nothing was
// taken out of.
func hidden(rep report.Report, redact func(string) string) report.Report {
	for i := range rep.Tests {
		rep.Tests[i].What = redact(rep.Tests[i].What)
	}
	for i := range rep.Findings {
		rep.Findings[i] = redact(rep.Findings[i])
	}
	return rep
}

// reportTurn shows what came of the newest turn, and keeps what verification found.
// It does so once a turn.
func (r *rig) reportTurn() error {
	for e, err := range r.journal.Since(r.told.Seq()) {
		if err != nil {
			return err
		}
		r.told.Add(e)
	}
	turn := r.told.Turn()
	if turn == r.reported {
		return nil
	}
	r.reported = turn
	rep := hidden(r.told.Of(turn, r.workspace.Image), r.secrets.Text)
	if rep.Empty() {
		return nil
	}
	var claims []terminal.Claim
	for _, l := range rep.Lines(r.verbose) {
		claims = append(claims, terminal.Claim(l))
	}
	r.ui.Report(claims)
	r.findings = append(r.findings, rep.Findings...)
	return nil
}

// verified ends a run whose last turn ended in err: with what verification found,
// if nothing else is wrong.
func (r *rig) verified(err error) error {
	failed := r.reportTurn()
	if err = r.outcome(err); err != nil {
		return err
	}
	if failed == nil && r.findings != nil {
		return &statusError{exitUnverified, errors.New("done, but verification found something: " + strings.Join(r.findings, "; "))}
	}
	return failed
}
