package terminal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/session"
)

// constrained says what was taken from the user's words, and what keeps it.
func (v *view) constrained(b event.Constrained) {
	if b.Lifted {
		v.say("constraint " + b.ID + " is lifted: " + strconv.Quote(b.Words))
		return
	}
	lift := "`belay constraints --lift " + b.ID + "`"
	if v.o.Stream { // a talk, where lines with a slash are read
		lift = "/lift " + b.ID
	}
	v.say(Constraint(b) + "; " + lift + " ends it")
}

// Constraint says in a line what a constraint is and what keeps it.
func Constraint(b event.Constrained) string {
	return fmt.Sprintf("constraint %s: %q (%s)", b.ID, strings.Join(strings.Fields(b.Words), " "), keptBy(session.Enforced(b.Bans)))
}

// maxStops is how many bans a line names.
const maxStops = 3

func keptBy(stops []string) string {
	switch n := len(stops); {
	case n == 0:
		return "not enforceable: the model is told"
	case n > maxStops:
		return fmt.Sprintf("enforced as %s and %d more", strings.Join(stops[:maxStops], "; "), n-maxStops)
	}
	return "enforced as " + strings.Join(stops, "; ")
}
