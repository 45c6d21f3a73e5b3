package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// maxRemembered is the longest rule that is made of a call, in bytes: a person
// reads it before it counts.
const maxRemembered = 4096

// Remember returns the narrowest rules that would let a call of t pass which p
// asks about, one for each part that needs one; none if no rules can, as for
// what is permanent. The rule for a path is that path. The rule for a command is
// its words; but where all its operands are files of the workspace it is for any
// of those: the program, its subcommand and its options stay.
func (p Policy) Remember(t tool.Spec, parts []tool.Part) []Rule {
	if p.Decide(t, parts).Verdict != Ask {
		return nil
	}
	var rules []Rule
	for _, part := range parts {
		if p.judge(t, part).Verdict == Allow {
			continue
		}
		r, ok := p.narrowest(t, part)
		if !ok {
			return nil
		}
		if !slices.ContainsFunc(rules, func(other Rule) bool { return other.Pattern == r.Pattern }) {
			rules = append(rules, r)
		}
	}
	then := p
	then.Rules = append(slices.Clone(p.Rules), rules...)
	if then.Decide(t, parts).Verdict != Allow {
		return nil
	}
	return rules
}

// narrowest returns the rule for calls of t with such a part.
func (p Policy) narrowest(t tool.Spec, part tool.Part) (Rule, bool) {
	pattern := literal(part.Name)
	if !onlyPaths(t) {
		if checkCommand(part.Name) != nil {
			return Rule{}, false
		}
		if words, _ := split(part.Name); len(words) > 0 {
			if _, open := opens(words); open != "" || len(words) == 1 && assigns(words[0].text) { // it would mean more
				return Rule{}, false
			}
			pattern = p.opened(words, part)
		}
	}
	s := t.Name + "(" + pattern + ")"
	for _, r := range s {
		if !strconv.IsPrint(r) { // a person could not see what it is
			return Rule{}, false
		}
	}
	r, err := ParseRule(s, Allow, FromApproval)
	return r, err == nil && pattern != "" && len(s) <= maxRemembered
}

// removers are never remembered but for what they were asked to remove.
var removers = map[string]bool{"rm": true, "rmdir": true, "unlink": true, "shred": true}

// opened returns the command that part is, without its operands if each is a
// file of the workspace and stands behind all else.
func (p Policy) opened(words []word, part tool.Part) string {
	command := strings.TrimSpace(part.Name)
	first := len(words)
	for first > 1 && p.local(words[first-1], part) {
		first--
	}
	name := base(words[0])
	if first == len(words) || words[0].live || assigns(words[0].text) || runners[name] || removers[name] {
		return command
	}
	for i, w := range words[1:first] {
		if subcommand := i == 0 && !p.local(w, part); w.live || !option(w) && !subcommand {
			return command
		}
	}
	return strings.TrimSpace(part.Name[:words[first-1].end]) + " " + onlyFiles
}

// literal returns a glob that name alone matches.
func literal(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
