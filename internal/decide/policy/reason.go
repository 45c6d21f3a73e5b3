package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// deed says what a part does by one of its effects: "the call writes a.go".
func deed(e effect.Effect, part tool.Part) string {
	on := line(e.On)
	if e.Tree && e.On != "" {
		on += " and all below it"
	}
	if (e.Kind == effect.Read || e.Kind == effect.Write) && !e.Inside() {
		on = strings.TrimSpace(on + " outside the workspace")
	}
	what := ""
	switch e.Kind {
	case effect.Read:
		what = "reads " + on
	case effect.Write:
		what = "writes " + on
	case effect.Process:
		what = "starts a program"
	case effect.Network:
		what = "talks to " + on
		if e.On == "" {
			what = "talks to any host"
		}
	case effect.Git:
		what = "changes the git repository"
	case effect.Resource:
		what = strings.TrimSpace("holds " + on)
	case effect.Permanent:
		what = "does what cannot be undone"
	default:
		what = "may do anything"
	}
	if part.Name != "" && part.Name != e.On {
		what += " (" + line(part.Name) + ")"
	}
	return "the call " + what
}

func (r Rule) decision(part tool.Part) Decision {
	if r.Ban != nil {
		return r.banning(part)
	}
	did := map[Verdict]string{Allow: "allowed", Ask: "asked about"}[r.Verdict]
	if did == "" {
		did = "denied"
	}
	reason := fmt.Sprintf("%s by the rule %s (%s)", did, line(r.String()), r.Source)
	if part.Name != "" && part.Name != r.Pattern {
		reason += ": " + line(part.Name)
	}
	return Decision{Verdict: r.Verdict, Rule: r.String(), Reason: reason}
}

// line makes s fit a line: no line breaks, nothing invisible, not too long.
func line(s string) string {
	const most = 120 // runes
	cut := ""
	if runes := []rune(s); len(runes) > most {
		s, cut = string(runes[:most]), "..."
	}
	for _, r := range s {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.Quote(s) + cut
		}
	}
	return s + cut
}
