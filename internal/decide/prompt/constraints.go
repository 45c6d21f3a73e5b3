package prompt

import (
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/session"
)

// layer renders L2: the project's rules, and what must not be done whatever the
// talk has come to since.
func layer(s *session.State) string {
	constraints, ruledOut := s.Pinned()
	return rules(s.Ruled()) + pinned(constraints) + warned(ruledOut)
}

func pinned(constraints []event.Constrained) string {
	if len(constraints) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# Constraints\n\nThe person's own words. Each holds until they lift it.\n")
	for _, k := range constraints {
		fmt.Fprintf(&b, "- %s: %q (%s)\n", k.ID, k.Words, kept(session.Enforced(k.Bans)))
	}
	return b.String()
}

// warned renders what was ruled out and what no code stops. The rest stands in the
// handoff, and is stopped.
func warned(notes []event.Note) string {
	var b strings.Builder
	for _, n := range notes {
		if len(session.Enforced(n.Bans)) == 0 {
			fmt.Fprintf(&b, "- %s: %s\n", n.ID, strings.Join(strings.Fields(n.Text), " "))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n# Ruled out earlier\n\nNothing enforces these: keep to them yourself, or ask.\n" + b.String()
}

// kept says what keeps a constraint.
func kept(stops []string) string {
	if len(stops) == 0 {
		return "nothing enforces it: keep to it yourself"
	}
	return "stopped: " + strings.Join(stops, "; ")
}
