package terminal

import (
	"fmt"

	"github.com/belay-agent/belay/internal/contract/event"
)

// compacted says in a line what a compaction came to.
func compacted(b event.Compacted) string {
	text := fmt.Sprintf("compacted: about %s tokens", between(b.Before, b.After))
	if b.GivenUp() {
		return "not compacted: what was asked of the model until then counts"
	}
	if b.After >= b.Before {
		return "not compacted: it would have freed nothing"
	}
	if b.Handoff == "" {
		return text + fmt.Sprintf(", %s shortened; belay log shows all", count(len(b.Pruned), "call"))
	}
	decisions, ruledOut := 0, 0
	for _, n := range b.Notes {
		switch {
		case n.Kind == "attempt", n.Status == "rejected":
			ruledOut++
		case n.Kind == "decision":
			decisions++
		}
	}
	switch {
	case len(b.Notes) > 0:
		text += fmt.Sprintf(", %s, %s, %d ruled out", count(len(b.Notes), "note"), count(decisions, "decision"), ruledOut)
	default:
		text += ", by what the log proves alone"
		if n := len(b.Refused); n > 0 {
			text += " (" + b.Refused[n-1] + ")"
		}
	}
	return text + "; belay log shows all"
}

// between writes two numbers of tokens in one unit.
func between(before, after int) string {
	if before < 10_000 {
		return fmt.Sprintf("%s -> %s", grouped(before), grouped(after))
	}
	return fmt.Sprintf("%s -> %s k", grouped((before+500)/1000), grouped((after+500)/1000))
}
