package compaction

import (
	"context"
	"regexp"

	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A View is what the model sees after a compaction of one sort, held against the
// labels, the workspace and the session without a compaction.
type View struct {
	Name           string   `json:"name"`
	Before         int      `json:"before_tokens"` // of the next request without a compaction
	After          int      `json:"after_tokens"`
	Handoff        int      `json:"handoff_tokens"`
	Compactions    int      `json:"compactions"`
	Sent           int      `json:"sent"`         // requests, each over every API
	Asked          int      `json:"asked"`        // of those, for notes
	Cost           int      `json:"cost_tokens"`  // of those, with their replies
	Refused        []string `json:"refused"`      // by a strict server
	Missing        []string `json:"missing"`      // facts that the log proves, of Proven
	Proven         int      `json:"proven"`       //
	Constraints    int      `json:"constraints"`  // among Proven
	Lost           []string `json:"lost"`         // constraints among Missing
	Unnoted        []string `json:"unnoted"`      // facts that take judgement, of Judged
	Judged         int      `json:"judged"`       //
	Contradictions []string `json:"contradicted"` // by the workspace
	Action         string   `json:"action"`       // the next, by a model that acts on what it sees
	Wanted         string   `json:"wanted"`       // the same without a compaction
	Went           string   `json:"went"`         // how its turn ended, "" if well
}

// liftedRE knows the lines that say of a constraint that it holds no more: in them
// it is not kept.
var liftedRE = regexp.MustCompile(`(?mi)^.*\blifted\b.*$`)

// judge holds a look against the labels, the workspace and what was seen without a
// compaction.
func (l look) judge(ctx context.Context, name string, labels labels, full look) (View, error) {
	v := View{
		Name: name, Before: full.tokens, After: l.tokens, Handoff: estimate(l.handoff), Compactions: len(l.made), Sent: l.sent, Asked: l.asked,
		Action: l.action, Wanted: full.action,
	}
	if l.went != nil {
		v.Went = l.went.Error()
	}
	for _, b := range l.made {
		v.Cost += b.Usage.Total()
	}
	for _, err := range l.refused {
		v.Refused = append(v.Refused, err.Error())
	}
	text := liftedRE.ReplaceAllString(rendered(l.request), "")
	for _, f := range labels.Facts {
		seen := f.Near.in(text)
		switch {
		case f.Proof != "log":
			v.Judged++
			if !seen {
				v.Unnoted = append(v.Unnoted, f.ID+": "+f.Says)
			}
			continue
		case f.Kind == "constraint":
			v.Constraints++
			if !seen {
				v.Lost = append(v.Lost, f.ID+": "+f.Says)
			}
		}
		v.Proven++
		if !seen {
			v.Missing = append(v.Missing, f.ID+": "+f.Says)
		}
	}
	var err error
	v.Contradictions, err = contradictions(ctx, l.handoff, l.place.root)
	return v, err
}

// state folds the log of a session.
func (p place) state() (*session.State, error) {
	s := new(session.State)
	for e, err := range journal.Read(p.log) {
		if err == nil {
			err = s.Apply(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}
