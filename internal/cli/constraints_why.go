package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/decide/constraint"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/ui/terminal"
)

// whyReasons is how many reasons of a part are shown; --json has all.
const whyReasons = 6

// A heardPart is a part of a text as --json prints it.
type heardPart struct {
	Words   string          `json:"words"`
	Likely  float64         `json:"likely"`
	Binds   bool            `json:"binds"`
	Kind    constraint.Kind `json:"kind,omitempty"`
	Reasons []heardReason   `json:"reasons"`
}

type heardReason struct {
	Feature string `json:"feature"`
	Weight  int32  `json:"weight"`
}

// explainConstraints tells how the parts of text are weighed, and what becomes of
// them.
func (s System) explainConstraints(text string, asJSON bool) error {
	parts := constraint.Why(text)
	if asJSON {
		out := json.NewEncoder(tame{s.Stdout})
		for _, p := range parts {
			line := heardPart{p.Words, p.Likely, p.Binds, p.Kind, []heardReason{}}
			for _, r := range p.Reasons {
				line.Reasons = append(line.Reasons, heardReason{r.Feature, r.Weight})
			}
			if err := out.Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%3.0f%%  %q\n", 100*p.Likely, oneLine(p.Words, 100))
		for _, r := range p.Reasons[:min(whyReasons, len(p.Reasons))] {
			fmt.Fprintf(&b, "      %+.2f  %s\n", float64(r.Weight)/100, r.Feature)
		}
	}
	found := constraint.Find(text)
	if len(found) == 0 {
		b.WriteString("no constraint\n")
	}
	for _, k := range found {
		fmt.Fprintf(&b, "%s: %q, ", k.Kind, oneLine(k.Words, 200))
		if stops := session.Enforced(k.Bans); len(stops) > 0 {
			fmt.Fprintf(&b, "enforced as %s\n", strings.Join(stops, ", "))
		} else {
			b.WriteString("not enforceable: the model is told\n")
		}
	}
	_, err := fmt.Fprint(s.Stdout, terminal.Safe(b.String()))
	return err
}
