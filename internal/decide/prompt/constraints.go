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

// maxWarned is how many of what was ruled out stand in L2: the newest. Older ones
// stand in the handoff.
const maxWarned = 40

// unenforced returns what of notes no code stops, as far as it stands in L2, and
// how many older ones there are.
func unenforced(notes []event.Note) (shown []event.Note, older int) {
	for _, n := range notes {
		if len(session.Enforced(n.Bans)) == 0 {
			shown = append(shown, n)
		}
	}
	older = max(0, len(shown)-maxWarned)
	return shown[older:], older
}

// warned renders what was ruled out and what no code stops. The rest stands in the
// handoff, and is stopped.
func warned(notes []event.Note) string {
	shown, older := unenforced(notes)
	if len(shown) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# Ruled out earlier\n\nNothing enforces these: keep to them yourself, or ask.\n")
	if older > 0 {
		fmt.Fprintf(&b, "- %d older ones are in the record of the work\n", older)
	}
	for _, n := range shown {
		b.WriteString("- " + noteText(n) + "\n")
	}
	return b.String()
}

// kept says what keeps a constraint.
func kept(stops []string) string {
	if len(stops) == 0 {
		return "nothing enforces it: keep to it yourself"
	}
	return "stopped: " + strings.Join(stops, "; ")
}
