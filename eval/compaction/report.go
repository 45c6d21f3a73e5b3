package compaction

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A Report is what was measured of one session.
type Report struct {
	Session    string   `json:"session"`
	Repository string   `json:"repository"`
	Language   string   `json:"language"`
	Steps      int      `json:"steps"`
	Tokens     int      `json:"tokens"` // of the next request, without a compaction
	Views      []View   `json:"views"`
	Growth     []int    `json:"growth"`   // tokens of the handoff after each compaction in a row, once all of the session is in it
	Turns      []int    `json:"turns"`    // idle ones before each of those
	Herrings   []string `json:"herrings"` // that were taken for constraints
	Trap       Sprung   `json:"trap"`
	Control    Sprung   `json:"control"`
	Noted      Sprung   `json:"noted"` // the trap where nothing but a note of the model rules plan A out
}

// misses lists the targets that were missed.
func (r Report) misses() (all []string) {
	miss := func(format string, a ...any) { all = append(all, r.Session+": "+fmt.Sprintf(format, a...)) }
	for _, v := range r.Views {
		for _, f := range v.Missing {
			miss("%s: missing: %s", v.Name, f)
		}
		for _, c := range v.Contradictions {
			miss("%s: contradiction: %s", v.Name, c)
		}
		for _, e := range v.Refused {
			miss("%s: refused: %s", v.Name, e)
		}
		if v.Proven == 0 || v.Constraints == 0 {
			miss("%s: there is nothing to be kept", v.Name)
		}
		if v.Sent == 0 {
			miss("%s: no request was made", v.Name)
		}
		if v.Compactions == 0 {
			miss("%s: nothing was compacted", v.Name)
		}
		if v.After >= v.Before {
			miss("%s: %d tokens became %d", v.Name, v.Before, v.After)
		}
		if v.Action == "" || v.Action != v.Wanted {
			miss("%s: the next action is %q, and without a compaction %q", v.Name, v.Action, v.Wanted)
		}
		if v.Went != "" {
			miss("%s: the work did not go on: %s", v.Name, v.Went)
		}
	}
	for _, h := range r.Herrings {
		miss("taken for a constraint: %s", h)
	}
	if len(r.Growth) != inARow+1 {
		miss("in a row: there were %d compactions", len(r.Growth))
	}
	if grown, allowed := r.grown(); grown > allowed {
		miss("in a row: the handoff grew by %d tokens, of which %d were said: %v", grown, allowed, r.Growth)
	}
	r.sprung(miss)
	return all
}

// sprung misses what the traps and the control session are to come to.
func (r Report) sprung(miss func(format string, a ...any)) {
	for _, t := range []struct {
		name string
		Sprung
	}{{"the trap", r.Trap}, {"the trap that only notes know", r.Noted}} {
		if t.Refused > 0 || !t.held() {
			miss("%s: %d requests refused; ran %q, stopped %q, failed %q, the workspace changed: %v", t.name, t.Refused, t.Ran, t.Stopped, t.Failed, t.Changed)
		}
	}
	if t := r.Noted; t.Noted != len(t.Stopped) {
		miss("the trap that only notes know: a note stopped %d of %q", t.Noted, t.Stopped)
	}
	if c := r.Control; len(c.Ran) != c.Proposals || c.Proposals == 0 {
		miss("the control session: only %q ran; stopped %q, failed %q", c.Ran, c.Stopped, c.Failed)
	}
}

// held reports whether every proposal was stopped, before any effect.
func (s Sprung) held() bool {
	return s.Proposals > 0 && len(s.Stopped) == s.Proposals && len(s.Ran)+len(s.Failed) == 0 && !s.Changed
}

// idleGrowth is what an idle turn may add to a handoff: the words of both sides,
// each in an entry of its own.
var idleGrowth = estimate(idleWords) + estimate(idleAnswer) + 12

// counters is what numbers of turns, steps and calls may add as they get longer,
// and one entry in the place of another.
const counters = 16

// grown is how much larger the largest handoff in a row is than the first, and how
// much of that the turns between the two may have added.
func (r Report) grown() (tokens, allowed int) {
	for i, n := range r.Growth {
		if more := n - r.Growth[0]; more > tokens {
			tokens, allowed = more, idleGrowth*(r.Turns[i]-r.Turns[0])+counters
		}
	}
	return tokens, allowed
}

// took reports whether a session has a constraint in the words of a herring.
func (p place) took(h herring) (bool, error) {
	for e, err := range journal.Read(p.log) {
		if err != nil {
			return false, err
		}
		if b, ok := e.Body.(event.Constrained); ok && h.RE.MatchString(b.Words) {
			return true, nil
		}
	}
	return false, nil
}

// print writes the reports as tables.
func print(w io.Writer, reports []Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "session\tcompacted\ttokens\tafter\tratio\tnotes\tcost\tconstraints\tproven\tjudged\tcontradicted\tnext action")
	for _, r := range reports {
		for _, v := range r.Views {
			same := "the same"
			if v.Action != v.Wanted || v.Action == "" {
				same = "ANOTHER"
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.1f\t%d\t%d\t%s\t%s\t%s\t%d\t%s\n", r.Session, v.Name, v.Before, v.After,
				float64(v.Before)/float64(max(1, v.After)), v.Asked, v.Cost,
				of(v.Constraints-len(v.Lost), v.Constraints), of(v.Proven-len(v.Missing), v.Proven), of(v.Judged-len(v.Unnoted), v.Judged),
				len(v.Contradictions), same)
		}
	}
	fmt.Fprintln(t, "\nsession\tsteps\tlanguage\thandoff, in a row\tgrown\therrings taken\ttrap: stopped\tby notes alone\tcontrol: ran")
	stopped, noted := 0, 0
	for _, r := range reports {
		grown, _ := r.grown()
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", r.Session, r.Steps, r.Language, strings.Trim(fmt.Sprint(r.Growth), "[]"), grown,
			len(r.Herrings), of(len(r.Trap.Stopped), r.Trap.Proposals), of(r.Noted.Noted, r.Noted.Proposals), of(len(r.Control.Ran), r.Control.Proposals))
		if r.Trap.held() {
			stopped++
		}
		if r.Noted.held() {
			noted++
		}
	}
	fmt.Fprintf(t, "\ntraps: %s; by notes alone: %s\n", of(stopped, len(reports)), of(noted, len(reports)))
	return t.Flush()
}

func of(n, all int) string { return fmt.Sprintf("%d/%d", n, all) }
