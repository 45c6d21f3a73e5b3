package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/belay-agent/belay/internal/decide/uptake"
)

func (s System) printReplay(r replayed, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(r)
	}
	out := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	title := "session " + r.Session
	if r.Changed != "" {
		title += ", with " + oneLine(r.Changed, 60)
	}
	fmt.Fprintln(out, title)
	for _, path := range r.NewRules {
		fmt.Fprintln(out, oneLine(path, 0)+" is new: the session had no such rule file")
	}
	fmt.Fprintln(out, "step\ttokens\trequest differs in\tnext")
	for i, step := range r.Steps {
		differs := orNone(strings.Join(step.Request, ", "))
		if step.Was == nil || step.Is == nil { // there are no two requests
			differs = "-"
		}
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\n", i+1, tokensOf(step), differs, nextOf(step))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d → %s, %d → %d tokens of requests\n", r.Was.Steps, count(int64(r.Is.Steps), "step"), r.Was.Tokens, r.Is.Tokens)
	r.printOutcome(&b)
	if r.Left > 0 {
		fmt.Fprintf(&b, "step %d left the path\n", r.Left)
		for _, line := range r.Missing {
			fmt.Fprintln(&b, "  - "+oneLine(line, 100))
		}
		for _, line := range r.Added {
			fmt.Fprintln(&b, "  + "+oneLine(line, 100))
		}
		for _, result := range r.Before {
			fmt.Fprintln(&b, "  before it: "+oneLine(result, 100))
		}
	}
	r.printMisses(&b)
	if r.Ended != "" {
		fmt.Fprintf(&b, "it ended early, after %s: %s\n", count(int64(r.Is.Steps), "step"), indented(r.Ended))
	}
	_, err := fmt.Fprint(s.Stdout, b.String())
	return err
}

// printOutcome says whether the session succeeded, and why not; once, if it is the
// same in both runs.
func (r replayed) printOutcome(w io.Writer) {
	fmt.Fprintln(w, outcomesOf(r))
	for _, why := range r.Was.Why {
		when := "as recorded: "
		if slices.Contains(r.Is.Why, why) {
			when = ""
		}
		fmt.Fprintln(w, "  "+when+oneLine(why, 0))
	}
	for _, why := range r.Is.Why {
		if !slices.Contains(r.Was.Why, why) {
			fmt.Fprintln(w, "  this time: "+oneLine(why, 0))
		}
	}
}

func outcomesOf(r replayed) string {
	if r.Was.Outcome == r.Is.Outcome {
		return string(r.Is.Outcome)
	}
	return fmt.Sprintf("%s → %s", r.Was.Outcome, r.Is.Outcome)
}

// printMisses says which results were not taken up, and in which step that shows.
func (r replayed) printMisses(w io.Writer) {
	its := func(run *replayedRun) []uptake.Miss {
		if run == nil {
			return nil
		}
		return run.Misses
	}
	for i, step := range r.Steps {
		was, is := its(step.Was), its(step.Is)
		for _, m := range was {
			when := ", as recorded"
			if slices.Contains(is, m) {
				when = ""
			}
			fmt.Fprintf(w, "step %d did not take up the result of %s%s: %s\n", i+1, m.Of, when, oneLine(m.What, 0))
		}
		for _, m := range is {
			if !slices.Contains(was, m) {
				fmt.Fprintf(w, "step %d did not take up the result of %s, this time: %s\n", i+1, m.Of, oneLine(m.What, 0))
			}
		}
	}
}

// printReplays compares all sessions, and then what they come to together.
func (s System) printReplays(cases []replayed, asJSON bool) error {
	sum := sumOf(cases)
	if asJSON {
		return json.NewEncoder(tame{s.Stdout}).Encode(sum)
	}
	out := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "session\tsuccess\tsteps\ttokens\tleft the path")
	for _, c := range cases {
		fmt.Fprintf(out, "%s\t%s\t%d → %d\t%d → %d\t%s\n", c.Session, outcomesOf(c), c.Was.Steps, c.Is.Steps, c.Was.Tokens, c.Is.Tokens, pathOf(c))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	early := ""
	if sum.Early > 0 {
		early = fmt.Sprintf(", %d ended early", sum.Early)
	}
	_, err := fmt.Fprintf(s.Stdout, "all %d sessions: %d → %d succeeded (%.0f%% → %.0f%%), %d → %d unproven, %d → %s, %d → %d tokens of requests; %d went another way%s\n",
		sum.Sessions, sum.Was.Succeeded, sum.Is.Succeeded, 100*sum.Was.Rate, 100*sum.Is.Rate, sum.Was.Unproven, sum.Is.Unproven,
		sum.Was.Steps, count(int64(sum.Is.Steps), "step"), sum.Was.Tokens, sum.Is.Tokens, sum.Left, early)
	return err
}

// pathOf says whether a run kept to the path of the record: it did not, and from which
// step on, or as far as it went.
func pathOf(r replayed) string {
	switch {
	case r.Left > 0 && r.Ended != "":
		return fmt.Sprintf("step %d, ended early", r.Left)
	case r.Left > 0:
		return fmt.Sprintf("step %d", r.Left)
	case r.Ended != "":
		return "no, ended early"
	}
	return "no"
}

func tokensOf(s replayedStep) string {
	switch {
	case s.Was == nil:
		return fmt.Sprintf("none → %d", s.Is.Tokens)
	case s.Is == nil:
		return fmt.Sprintf("%d → none", s.Was.Tokens)
	case s.Was.Tokens == s.Is.Tokens:
		return fmt.Sprint(s.Is.Tokens)
	}
	return fmt.Sprintf("%d → %d", s.Was.Tokens, s.Is.Tokens)
}

func nextOf(s replayedStep) string {
	show := func(r *replayedRun) string {
		if r == nil {
			return "nothing"
		}
		return oneLine(strings.Join(r.Next, "; "), 60)
	}
	if s.Same {
		return show(s.Is)
	}
	return show(s.Was) + " → " + show(s.Is)
}
