package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/belay-agent/belay/internal/decide/stats"
	"github.com/belay-agent/belay/internal/world/journal"
)

// maxGroups is how many groups of failures are printed for people.
const maxGroups = 20

type statsOptions struct {
	runOptions
	all, failures, asJSON bool
}

func (s System) statsCommand() *cobra.Command {
	var o statsOptions
	c := &cobra.Command{
		Use:   "stats [SESSION...]",
		Short: "Count what sessions did: calls, failures, tokens, cost, and what came of them",
		Long: `Count what sessions did: those named, or all of this directory. SESSION is an id or
the beginning of one.

A task is a turn. A call has the wrong tool if the tool is not there, or if the answer
was to use another one. A change is one file that one call changed; it is accepted
unless it was undone.`,
		Example: `  belay stats
  belay stats --all --failures        what fails most, and what helped
  belay stats --json 01J8Z3 | jq .shell_share`,
		RunE: func(c *cobra.Command, ids []string) error { return s.in(o.dir).stats(o, ids) },
	}
	c.Flags().BoolVar(&o.all, "all", false, "of every directory")
	c.Flags().BoolVar(&o.failures, "failures", false, "group the failed calls by what failed, and show what followed")
	c.Flags().BoolVar(&o.asJSON, "json", false, "one JSON object; with --failures a list")
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "of `DIR` instead of here")
	return c
}

func (s System) stats(o statsOptions, ids []string) error {
	st := s.store()
	ids, err := s.counted(st, o.all, ids)
	if err != nil {
		return err
	}
	var sum stats.Stats
	var failures []stats.Failure
	damaged := false
	for _, id := range ids {
		figures, failed, err := countSession(st, id)
		if err != nil {
			damaged = true
			fmt.Fprintln(s.Stderr, "belay: "+oneLine(id+": "+err.Error(), 0)+"; what is intact is counted")
		}
		sum = sum.Plus(figures)
		failures = append(failures, failed...)
	}
	switch {
	case o.asJSON && o.failures:
		err = json.NewEncoder(tame{s.Stdout}).Encode(append([]stats.Group{}, stats.Grouped(failures)...)) // [] where nothing failed
	case o.asJSON:
		err = json.NewEncoder(tame{s.Stdout}).Encode(sum)
	case sum.Sessions == 0:
		err = s.sayNoSession(o.all)
	case o.failures:
		err = s.printGroups(stats.Grouped(failures))
	default:
		err = s.printStats(sum)
	}
	if err == nil && damaged {
		err = &statusError{status: exitUnverified}
	}
	return err
}

// sayNoSession says that there is no session in this directory, or none at all.
func (s System) sayNoSession(all bool) error {
	if all {
		return s.sayNone(noSession(""))
	}
	root, err := s.root()
	if err != nil {
		return err
	}
	return s.sayNone(noSession(root))
}

// counted returns the sessions that are named, or all of this directory, or all.
func (s System) counted(st store, all bool, names []string) (ids []string, err error) {
	if all && len(names) > 0 {
		return nil, usage("--all is every session there is: name none beside it")
	}
	for _, name := range names {
		id, err := st.find(name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if len(names) > 0 {
		return ids, nil
	}
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	found, err := st.ids()
	if err != nil {
		return nil, err
	}
	for _, id := range found {
		if all || st.rootOf(id) == root {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// countSession counts session id. An error is of what is damaged; the figures are
// of the rest.
func countSession(st store, id string) (stats.Stats, []stats.Failure, error) {
	var fold stats.Fold
	var damage error
	for e, err := range journal.Read(st.path(id)) {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
				break
			}
			damage = err
			continue
		}
		fold.Add(e)
	}
	failures := fold.Failures()
	for i := range failures {
		failures[i].Session = id
	}
	return fold.Stats(), failures, damage
}

func (s System) printStats(x stats.Stats) error {
	out := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
	row := func(name, format string, a ...any) {
		fmt.Fprintf(out, "%s\t%s\n", name, oneLine(fmt.Sprintf(format, a...), 0))
	}
	row("sessions", "%d", x.Sessions)
	row("tasks", "%d%s", x.Tasks, tally(x.Ends, ": "))
	row("calls", "%d, %s a task; %s", x.Calls, ratio(x.Calls, x.Tasks), count(int64(x.Steps), "step"))
	row("by tool", "%s", perTool(x))
	row("shell", "%.1f%% of the calls", 100*x.Shell())
	row("wrong tool", "%.1f%% of the calls (%d)", 100*x.WrongRate(), x.Wrong)
	row("failed", "%s", orNone(tally(x.Kinds, "")))
	row("breaker", "opened %d times", x.Trips)
	row("asked", "%s by a person; %d denied", count(int64(x.Asked), "call"), x.Denied)
	if x.Rejected+x.Switched+x.Compactions+x.Unsure > 0 {
		row("unusual", "%s, %s, %s, %s", count(int64(x.Compactions), "compaction"), count(int64(x.Switched), "change")+" of model",
			count(int64(x.Rejected), "part")+" kept from a model", count(int64(x.Unsure), "unknown outcome"))
	}
	estimated := ""
	if x.Usage.Estimated {
		estimated = ", some of them estimated"
	}
	row("tokens", "%d%s: %d in, %d read from the cache, %d out", x.Usage.Total(), estimated, x.Usage.Input+x.Usage.CacheWrite, x.Usage.Cached, x.Usage.Output)
	row("cost", "%s", price(x.Cost))
	row("changes", "%d accepted, %d undone", x.Accepted(), x.Back)
	if n := x.Accepted(); n > 0 {
		each := fmt.Sprintf("%d tokens", x.Usage.Total()/n)
		if x.Cost > 0 {
			each += ", " + price(x.Cost/int64(n))
		}
		row("per accepted change", "%s", each)
	}
	return out.Flush()
}

func perTool(x stats.Stats) string {
	calls := make(map[string]int)
	for name, t := range x.Tools {
		calls[name] = t.Calls
	}
	return orNone(tally(calls, ""))
}

// tally writes counts, the highest first, after lead.
func tally[K ~string](counts map[K]int, lead string) string {
	var parts []string
	for _, k := range stats.Names(counts) {
		parts = append(parts, fmt.Sprintf("%s %d", k, counts[k]))
	}
	if parts == nil {
		return ""
	}
	return lead + strings.Join(parts, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func price(microCents int64) string {
	if microCents == 0 {
		return "none, or not known"
	}
	return "$" + showDollars(microCents)
}

func ratio(part, whole int) string {
	if whole == 0 {
		return "0"
	}
	return fmt.Sprintf("%.1f", float64(part)/float64(whole))
}

// printGroups prints what failed, what was done about it and what that teaches.
func (s System) printGroups(groups []stats.Group) error {
	var b strings.Builder
	isRule, done := s.rulesHere()
	defer done()
	for i, g := range groups {
		if i == maxGroups {
			fmt.Fprintf(&b, "and %s more; --json has all\n", count(int64(len(groups)-i), "group"))
			break
		}
		fmt.Fprintf(&b, "%d× %s\n", g.Count, oneLine(g.Signature, 0))
		for _, w := range g.Ways[:min(3, len(g.Ways))] {
			fmt.Fprintf(&b, "    then %s: %d×, mended %d\n", oneLine(w.Calls, 0), w.Count, w.Mended)
		}
		if w, ok := g.Lesson(); ok {
			next := "`belay learn " + g.ID() + "` makes it a rule"
			if rule, _ := g.Rule(); isRule(s.shown(rule)) {
				next = "it is a rule already"
			}
			fmt.Fprintf(&b, "    what helps: %s (%d of %d); %s\n", oneLine(w.Calls, 0), w.Mended, g.Count, next)
		}
		fmt.Fprintf(&b, "    newest: belay log %s, event %d\n", g.Newest.Session, g.Newest.Seq)
	}
	if len(groups) == 0 {
		b.WriteString("no call failed\n")
	}
	_, err := fmt.Fprint(s.Stdout, b.String())
	return err
}
