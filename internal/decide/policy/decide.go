package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Decide judges each part of a call of t and returns the strictest decision, of
// equals the first, or one about what is permanent. It depends on nothing but its arguments and p. Fewer effects
// never meet a stricter verdict; a part with effect.Permanent is never milder
// than Ask. A call without parts is judged as one that touches nothing and that
// only a rule without a pattern names.
func (p Policy) Decide(t tool.Spec, parts []tool.Part) Decision {
	if len(parts) == 0 {
		return p.judge(t, tool.Part{})
	}
	strictest := p.judge(t, parts[0])
	for _, part := range parts[1:] {
		strictest = stricter(strictest, p.judge(t, part))
	}
	return strictest
}

func (p Policy) judge(t tool.Spec, part tool.Part) Decision {
	mode, byMode := p.Mode.known(), p.Mode.judge(part)
	matching := p.matching(t, part)
	d := byMode
	if len(matching) > 0 {
		d = matching[0].decision(part)
	}
	if mode == ModePlan {
		d = stricter(d, byMode)
	}
	byName := !onlyPaths(t) && slices.ContainsFunc(matching, func(r Rule) bool { return r.Verdict == Allow && r.Pattern != "" })
	for _, e := range part.Effects {
		if f := floor(mode, e, part, matching); f.Rule != protectedPath || !byName || !workaday(e) {
			d = stricter(d, f)
		}
	}
	if part.Unseen != "" && d.Verdict == Allow && !byName {
		d = stricter(d, p.hidden(t, part))
	}
	return d
}

// hidden asks about a part that runs what its name does not show, if there is a rule
// that forbids a command or asks about one: it may be that one. A rule that allows
// the part by its name goes before.
func (p Policy) hidden(t tool.Spec, part tool.Part) (d Decision) {
	for _, r := range p.Rules {
		if r.Verdict == Allow || !r.binds() || !r.isFor(t) || onlyPaths(t) || !namesCommand(r.Pattern) {
			continue
		}
		if d.Rule == "" || r.String() < d.Rule {
			did := map[Verdict]string{Ask: "asks about", Deny: "denies"}[r.Verdict]
			d = Decision{Verdict: Ask, Rule: r.String(), Reason: fmt.Sprintf("the rule %s (%s) %s a command, and nobody can tell that %s is not that: %s",
				line(r.String()), r.Source, did, part.Unseen, line(part.Name))}
		}
	}
	return d
}

// namesCommand reports whether a pattern is about commands, not hosts or paths.
func namesCommand(pattern string) bool {
	words, _ := split(pattern)
	if len(words) == 0 || words[0].text == "network" {
		return false
	}
	return !words[0].live && !strings.HasSuffix(words[0].text, "/")
}

// matching returns the rules that name part, with those that decide first.
func (p Policy) matching(t tool.Spec, part tool.Part) (rules []Rule) {
	var c command
	if !onlyPaths(t) {
		c = readCommand(part.Name)
		c.known(part)
	}
	for _, r := range p.Rules {
		if r.binds() && p.about(r, t, part, c) {
			rules = append(rules, r)
		}
	}
	slices.SortFunc(rules, func(a, b Rule) int {
		return cmp.Or(
			cmp.Compare(b.Verdict, a.Verdict),
			cmp.Compare(a.String(), b.String()), // so that their order in settings means nothing
			cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.banned(), b.banned()),
		)
	})
	return rules
}

// What decides where no rule and no mode does.
const (
	permanent     = "permanent"
	protectedPath = "protected path"
)

// floor is what neither a mode nor, but for a secret, a rule makes milder.
func floor(mode Mode, e effect.Effect, part tool.Part, matching []Rule) Decision {
	switch {
	case e.Kind == effect.Permanent:
		return Decision{Verdict: Ask, Rule: permanent, Reason: "asked about in every mode: " + deed(e, part)}
	case e.Kind == effect.Read && secret(e) && !slices.ContainsFunc(matching, Rule.revealing):
		return Decision{Verdict: Ask, Rule: "secret", Reason: "known secrets are asked about in every mode: " + deed(e, part)}
	case e.Kind == effect.Write && protected(e) && mode != ModeFull && (!part.Held || among(guarded, e.On)):
		return Decision{Verdict: Ask, Rule: protectedPath, Reason: "other programs or later sessions trust what is there: " + deed(e, part)}
	}
	return Decision{}
}

// judge returns what m alone says of part.
func (m Mode) judge(part tool.Part) Decision {
	m = m.known()
	d := Decision{Verdict: Allow, Rule: "mode " + string(m), Reason: "mode " + string(m) + " lets it pass"}
	for _, e := range part.Effects {
		v := m.verdict(e, part.Held)
		if v <= d.Verdict {
			continue
		}
		verb := "asks first"
		if v == Deny {
			verb = "only reads the workspace"
		}
		d.Verdict, d.Reason = v, fmt.Sprintf("mode %s %s: %s", m, verb, deed(e, part))
	}
	return d
}

func (m Mode) verdict(e effect.Effect, held bool) Verdict {
	reads := e.Kind == effect.Read && e.Inside()
	runs := held && (e.Kind == effect.Process || e.Kind == effect.Resource || e.Kind == effect.Read)
	switch {
	case m == ModeFull, reads, m == ModeAuto && (e.Inside() || runs):
		return Allow
	case m == ModePlan:
		return Deny
	}
	return Ask
}

// stricter returns the stricter of two decisions, of equals the first; but that
// something cannot be undone is what a person must hear of, beside what they said
// themselves.
func stricter(d, than Decision) Decision {
	switch {
	case than.Verdict > d.Verdict:
		return than
	case than.Verdict == d.Verdict && than.Rule == permanent && d.Rule != permanent:
		if d.Ban != "" {
			than.Reason += "; " + d.Reason
			than.Ban = d.Ban
		}
		return than
	}
	return d
}
