package policy

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// The oracle knows a handful of effects, names and patterns, and what is true
// of each is written down here by hand.

type known struct {
	effect                                    effect.Effect
	paths, inside, secret, guarded, permanent bool
}

var effects = []known{
	{effect: effect.Effect{Kind: effect.Read, On: "src/a.go"}, paths: true, inside: true},
	{effect: effect.Effect{Kind: effect.Read, On: ".", Tree: true}, paths: true, inside: true},
	{effect: effect.Effect{Kind: effect.Read, On: "src/.env"}, paths: true, inside: true, secret: true},
	{effect: effect.Effect{Kind: effect.Read, On: "/etc/hosts"}, paths: true},
	{effect: effect.Effect{Kind: effect.Read, On: "/home/u/.ssh/id_rsa"}, paths: true, secret: true},
	{effect: effect.Effect{Kind: effect.Write, On: "src/a.go"}, paths: true, inside: true},
	{effect: effect.Effect{Kind: effect.Write, On: ".git/hooks/pre-commit"}, paths: true, inside: true, guarded: true},
	{effect: effect.Effect{Kind: effect.Write, On: ".", Tree: true}, paths: true, inside: true, guarded: true},
	{effect: effect.Effect{Kind: effect.Write, On: "/etc/hosts"}, paths: true},
	{effect: effect.Effect{Kind: effect.Git}, paths: true},
	{effect: effect.Effect{Kind: effect.Process, On: "go"}},
	{effect: effect.Effect{Kind: effect.Network, On: "x.test"}},
	{effect: effect.Effect{Kind: effect.Resource, On: "port:80"}},
	{effect: effect.Effect{Kind: effect.Permanent}, permanent: true},
	{effect: effect.Effect{Kind: effect.Anything}},
}

var (
	pathTool    = tool.Spec{Name: "Edit", Effects: []effect.Kind{effect.Read, effect.Write, effect.Git}}
	commandTool = tool.Spec{Name: "Bash", Effects: []effect.Kind{effect.Anything, effect.Permanent}}

	names = []string{"src/a.go", "src/.env", "/etc/hosts", "rm -r src", "*"}
	globs = map[string][]string{ // what each pattern matches as a glob
		"":           {"src/a.go", "src/.env", "/etc/hosts", "rm -r src", "*"},
		"src/a.go":   {"src/a.go"},
		"src/":       {"src/a.go", "src/.env"},
		"**":         {"src/a.go", "src/.env", "/etc/hosts", "rm -r src", "*"},
		"*":          {"rm -r src", "*"},
		"**/.env*":   {"src/.env"},
		"/etc/**":    {"/etc/hosts"},
		"rm -r src":  {"rm -r src"},
		"**/*.{go,}": {"src/a.go"},
	}
	allowed = map[string][]string{ // what each allows as the pattern of a command
		"":          {"src/a.go", "src/.env", "/etc/hosts", "rm -r src", "*"},
		"src/a.go":  {"src/a.go"},
		"*":         {"*"},
		"rm -r src": {"rm -r src"},
	}
	forbidden = map[string][]string{ // and what it forbids: what the shell makes of "*" could be anything
		"":           {"src/a.go", "src/.env", "/etc/hosts", "rm -r src", "*"},
		"src/a.go":   {"src/a.go", "*"},
		"src/":       {"*"},
		"**":         {"src/a.go", "src/.env", "/etc/hosts", "rm -r src", "*"},
		"*":          {"src/a.go", "src/.env", "/etc/hosts", "rm -r src", "*"},
		"**/.env*":   {"src/.env", "*"},
		"/etc/**":    {"/etc/hosts", "*"},
		"rm -r src":  {"rm -r src", "*"},
		"**/*.{go,}": {"src/a.go", "*"},
	}
	kept = map[string][]string{ // the files that a rule of files keeps from commands
		"src/a.go":   {"src/a.go"},
		"src/":       {"src/a.go", "src/.env"},
		"**":         {"src/a.go", "src/.env", "/etc/hosts", "/home/u/.ssh/id_rsa", ".git/hooks/pre-commit", "."},
		"*":          {"."},
		"**/.env*":   {"src/.env"},
		"/etc/**":    {"/etc/hosts"},
		"**/*.{go,}": {"src/a.go", "."},
	}
)

var patterns = slices.Sorted(maps.Keys(globs))

// A labelled part knows its effects as the oracle does.
type labelled struct {
	name string
	does []known
	held bool
}

func (l labelled) part() tool.Part {
	p := tool.Part{Name: l.name, Held: l.held}
	for _, k := range l.does {
		p.Effects = append(p.Effects, k.effect)
	}
	return p
}

func parts(ls []labelled) (out []tool.Part) {
	for _, l := range ls {
		out = append(out, l.part())
	}
	return out
}

func slowDecide(p Policy, t tool.Spec, ls []labelled) Verdict {
	if len(ls) == 0 {
		ls = []labelled{{}}
	}
	worst := Allow
	for _, l := range ls {
		v, reveals := slowRules(p, t, l)
		named := t.Name == "Bash" && slices.ContainsFunc(p.Rules, func(r Rule) bool {
			return r.Verdict == Allow && r.Pattern != "" && (r.Source == FromUser || r.Source == FromApproval) && slowMatch(r, t, l)
		})
		for _, k := range l.does {
			v = max(v, slowFloor(p.Mode, k, reveals, l.held || named))
		}
		worst = max(worst, v)
	}
	return worst
}

// slowRules returns the verdict of the rules or, failing those, of the mode.
func slowRules(p Policy, t tool.Spec, l labelled) (v Verdict, reveals bool) {
	v = -1
	for _, r := range p.Rules {
		if !slowMatch(r, t, l) {
			continue
		}
		if r.Verdict == Allow && (r.Source == FromProject || r.Source == FromConstraint) {
			continue
		}
		v = max(v, r.Verdict)
		reveals = reveals || r.Verdict == Allow && r.Pattern == "**/.env*"
	}
	if v >= 0 {
		return v, reveals
	}
	v = Allow
	for _, k := range l.does {
		reads := k.inside && k.effect.Kind == effect.Read
		switch {
		case p.Mode == ModePlan && !reads:
			v = max(v, Deny)
		case p.Mode == ModeAsk && !reads, p.Mode == ModeAuto && !k.inside && !(l.held && slices.Contains([]effect.Kind{effect.Process, effect.Resource, effect.Read}, k.effect.Kind)):
			v = max(v, Ask)
		}
	}
	return v, false
}

func slowMatch(r Rule, t tool.Spec, l labelled) bool {
	if t.Name == "Bash" {
		return slowCommand(r, l)
	}
	if r.Tool == "Bash" {
		return false
	}
	if r.Pattern == "" {
		return true
	}
	hit := slices.Contains(globs[r.Pattern], l.name)
	if r.Verdict != Allow {
		return hit
	}
	for _, k := range l.does {
		if !k.paths || !k.inside && k.effect.Kind != effect.Git && r.Pattern != "/etc/**" {
			return false
		}
	}
	return hit
}

func slowCommand(r Rule, l labelled) bool {
	if r.Pattern == "" {
		return r.Tool != "Edit"
	}
	if r.Verdict == Allow {
		return r.Tool != "Edit" && slices.Contains(allowed[r.Pattern], l.name)
	}
	for _, k := range l.does {
		touches := k.effect.Kind == effect.Write && r.Tool != "Bash" || k.effect.Kind == effect.Read && r.Tool == "*"
		if touches && slices.Contains(kept[r.Pattern], k.effect.On) {
			return true
		}
	}
	return r.Tool != "Edit" && slices.Contains(forbidden[r.Pattern], l.name)
}

func slowFloor(m Mode, k known, reveals, milder bool) Verdict {
	reads := k.effect.Kind == effect.Read
	switch {
	case m == ModePlan && (!reads || !k.inside):
		return Deny
	case k.permanent, reads && k.secret && !reveals, k.guarded && m != ModeFull && !(milder && k.effect.Tree):
		return Ask
	}
	return Allow
}

// A dice makes random cases.
type dice struct{ *rand.Rand }

// newDice returns dice whose seed a failing test shows.
func newDice(t *testing.T) dice {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return dice{rand.New(rand.NewPCG(seed, 0))}
}

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

func (d dice) rule() Rule {
	return Rule{
		Tool:    pick(d, []string{"*", "Edit", "Bash"}),
		Pattern: pick(d, patterns),
		Verdict: pick(d, []Verdict{Allow, Allow, Ask, Deny}),
		Source:  pick(d, []Source{FromUser, FromProject, FromApproval, FromConstraint}),
	}
}

func (d dice) policy() Policy {
	p := Policy{Mode: pick(d, []Mode{ModePlan, ModeAsk, ModeAuto, ModeFull})}
	for range d.IntN(4) {
		p.Rules = append(p.Rules, d.rule())
	}
	return p
}

func (d dice) tool() tool.Spec { return pick(d, []tool.Spec{pathTool, commandTool}) }

func (d dice) parts() (ls []labelled) {
	for range d.IntN(3) {
		l := labelled{name: pick(d, names), held: d.IntN(2) == 0}
		for range d.IntN(3) {
			l.does = append(l.does, pick(d, effects))
		}
		ls = append(ls, l)
	}
	return ls
}
