package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/report"
	"github.com/belay-agent/belay/internal/decide/uptake"
	"github.com/belay-agent/belay/internal/ui/replay"
)

// A studied is a session, recorded or played, and what its log proves.
type studied struct {
	*replay.Recording
	outcome report.Outcome
	why     []string
	misses  map[int][]uptake.Miss // by step of the session, from 1
}

// studied judges r, which was to have so many turns. A turn that rests on what it
// could not know proves nothing, either way, and nor do those after it.
func (s System) studied(r *replay.Recording, turns int, images report.Images) studied {
	var log report.Log
	var fold uptake.Fold
	for _, e := range r.Events() {
		log.Add(e)
		fold.Add(e)
	}
	x := studied{Recording: r, misses: make(map[int][]uptake.Miss)}
	for _, m := range fold.Misses() {
		x.misses[m.Reply] = append(x.misses[m.Reply], m)
	}
	certain := turns // those before anything is in doubt
	for _, d := range r.Doubts() {
		certain = min(certain, d.Turn-1)
	}
	add := func(turn int, outcome report.Outcome, why ...string) {
		x.outcome = report.Worse(x.outcome, outcome)
		for _, w := range why {
			if turns > 1 {
				w = fmt.Sprintf("turn %d: %s", turn, w)
			}
			x.why = append(x.why, w)
		}
	}
	for turn := 1; turn <= min(certain, log.Turn()); turn++ {
		outcome, why := hidden(log.Of(turn, images), s.shown).Outcome()
		add(turn, outcome, why...)
	}
	for _, d := range r.Doubts() {
		add(d.Turn, report.Unproven, d.What)
	}
	if done := r.Turns(); done < turns && certain == turns {
		add(done+1, report.Failed, "it did not begin")
	}
	return x
}

// A replayed is what came of a replay.
type replayed struct {
	Session string `json:"session"`
	Changed string `json:"changed,omitempty"`

	NewRules []string `json:"new_rules,omitempty"` // rule files that only this run had

	Steps   []replayedStep `json:"steps"`
	Was     replayTotals   `json:"was"`
	Is      replayTotals   `json:"is"`
	Left    int            `json:"left_the_path"`  // the step in which what comes next first differs, from 1; 0 is none, also where the run ended before it
	Missing []string       `json:"missing"`        // lines that the request had there, and has no more
	Added   []string       `json:"added"`          // ... and the other way round
	Before  []string       `json:"results_before"` // what the calls before that step came to, this time
	Ended   string         `json:"ended,omitempty"`

	unreached bool // the model: what it would have made of the change is not known
}

type replayTotals struct {
	Steps   int            `json:"steps"`
	Tokens  int            `json:"request_tokens"`
	Bytes   int            `json:"request_bytes"`
	Outcome report.Outcome `json:"outcome"`
	Why     []string       `json:"why"` // it is no success
}

type replayedStep struct {
	Turn    int          `json:"turn"`
	Step    int          `json:"step"`
	Was     *replayedRun `json:"was,omitempty"`
	Is      *replayedRun `json:"is,omitempty"`
	Request []string     `json:"request_differs_in"`
	Same    bool         `json:"same_next"`
}

type replayedRun struct {
	Tokens int           `json:"request_tokens"`
	Bytes  int           `json:"request_bytes"`
	Next   []string      `json:"next"`
	Misses []uptake.Miss `json:"not_taken_up,omitempty"` // results before it, as it shows
}

func newReplayed(id, changed string, was, is studied, ended error) replayed {
	r := replayed{
		Session: id, Changed: changed, Steps: []replayedStep{}, Missing: []string{}, Added: []string{}, Before: []string{},
		Was: was.totals(), Is: is.totals(),
	}
	if ended != nil {
		r.Ended = ended.Error()
		_, r.unreached = errors.AsType[*model.Unavailable](ended)
	}
	for i, p := range replay.Compare(was.Steps(), is.Steps()) {
		step := replayedStep{
			Turn: p.Turn, Step: p.Step, Request: slices.Concat([]string{}, p.Request), Same: p.SameNext,
			Was: was.run(p.Was, &r.Was), Is: is.run(p.Is, &r.Is),
		}
		r.Steps = append(r.Steps, step)
		if p.SameNext || r.Left > 0 || p.Is == nil && ended != nil { // what did not come went no other way
			continue
		}
		r.Left = i + 1
		if p.Was != nil && p.Is != nil {
			missing, added := replay.Context(p.Was.Request, p.Is.Request)
			r.Missing, r.Added = append(r.Missing, missing...), append(r.Added, added...)
			r.Before = append(r.Before, is.Before(r.Is.Steps)...)
		}
	}
	return r
}

func (x studied) totals() replayTotals {
	return replayTotals{Outcome: x.outcome, Why: slices.Concat([]string{}, x.why)}
}

// run describes step s, the next of x, and adds it to sum.
func (x studied) run(s *replay.Step, sum *replayTotals) *replayedRun {
	if s == nil {
		return nil
	}
	sum.Steps++
	sum.Tokens += s.Tokens
	sum.Bytes += s.Bytes
	return &replayedRun{s.Tokens, s.Bytes, replay.Next(s.Reply), x.misses[sum.Steps]}
}

// A replayedSum is what came of several replays.
type replayedSum struct {
	Sessions int        `json:"sessions"`
	Changed  string     `json:"changed,omitempty"`
	Was      replayRate `json:"was"`
	Is       replayRate `json:"is"`
	Left     int        `json:"sessions_that_left_the_path"`
	Early    int        `json:"sessions_that_ended_early"`
}

type replayRate struct {
	Steps     int     `json:"steps"`
	Tokens    int     `json:"request_tokens"`
	Bytes     int     `json:"request_bytes"`
	Succeeded int     `json:"succeeded"`
	Unproven  int     `json:"unproven"`
	Failed    int     `json:"failed"`
	Rate      float64 `json:"success_rate"` // of all sessions, from 0 to 1
}

func sumOf(cases []replayed) (sum replayedSum) {
	sum.Sessions = len(cases)
	for _, c := range cases {
		sum.Changed = c.Changed
		sum.Was.add(c.Was)
		sum.Is.add(c.Is)
		if c.Left > 0 {
			sum.Left++
		}
		if c.Ended != "" {
			sum.Early++
		}
	}
	return sum
}

func (r *replayRate) add(x replayTotals) {
	r.Steps += x.Steps
	r.Tokens += x.Tokens
	r.Bytes += x.Bytes
	switch x.Outcome {
	case report.Succeeded:
		r.Succeeded++
	case report.Unproven:
		r.Unproven++
	case report.Failed:
		r.Failed++
	}
	r.Rate = float64(r.Succeeded) / float64(r.Succeeded+r.Unproven+r.Failed)
}
