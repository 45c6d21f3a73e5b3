package policy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
)

const rounds = 20_000

func TestDecideAgreesWithTheOracle(t *testing.T) {
	d := newDice(t)
	seen := map[Verdict]int{}
	for range rounds * 3 {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		want := slowDecide(p, spec, ls)
		seen[want]++
		if got := p.Decide(spec, parts(ls)); got.Verdict != want {
			t.Fatalf("%+v\n%s %+v\ngot %+v, want %v", p, spec.Name, parts(ls), got, want)
		}
	}
	for _, v := range []Verdict{Allow, Ask, Deny} {
		if seen[v] < rounds/10 {
			t.Errorf("only %d cases end in %v", seen[v], v)
		}
	}
}

// R048: effects drive policy, and the fewer the milder.
func TestFewerEffectsAreNeverStricter(t *testing.T) {
	d := newDice(t)
	for range rounds {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		if len(ls) == 0 {
			continue
		}
		before := p.Decide(spec, parts(ls))
		i := d.IntN(len(ls))
		if n := len(ls[i].does); n > 0 && d.IntN(4) > 0 {
			j := d.IntN(n)
			ls[i].does = slices.Delete(slices.Clone(ls[i].does), j, j+1)
		} else {
			ls = slices.Delete(ls, i, i+1)
		}
		if after := p.Decide(spec, parts(ls)); after.Verdict > before.Verdict {
			t.Fatalf("%+v\n%s now %+v\ngot %+v, before %+v", p, spec.Name, parts(ls), after, before)
		}
	}
}

func TestStricterModesLetLessPass(t *testing.T) {
	d := newDice(t)
	for range rounds {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		strict, mild := p.Decide(spec, parts(ls)), Decision{}
		for _, m := range []Mode{ModePlan, ModeAsk, ModeAuto, ModeFull} {
			if p.Mode.Stricter(m) {
				q := p
				q.Mode = m
				if mild = q.Decide(spec, parts(ls)); mild.Verdict > strict.Verdict {
					t.Fatalf("%+v\n%s %+v\nmode %s: %+v, but mode %s: %+v", p, spec.Name, parts(ls), p.Mode, strict, m, mild)
				}
			}
		}
	}
}

func TestDenyWins(t *testing.T) {
	d := newDice(t)
	for range rounds {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		deny := Rule{Tool: spec.Name, Verdict: Deny, Source: pick(d, []Source{FromUser, FromProject, FromApproval, FromConstraint})}
		if len(ls) > 0 && d.IntN(2) == 0 {
			deny.Pattern = pick(d, ls).name
		}
		p.Rules = slices.Insert(p.Rules, d.IntN(len(p.Rules)+1), deny)
		if got := p.Decide(spec, parts(ls)); got.Verdict != Deny {
			t.Fatalf("%+v\n%s %+v\ngot %+v", p, spec.Name, parts(ls), got)
		}
	}
}

func TestOrderOfRulesMeansNothing(t *testing.T) {
	d := newDice(t)
	for range rounds {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		before := p.Decide(spec, parts(ls))
		p.Rules = slices.Clone(p.Rules)
		d.Shuffle(len(p.Rules), func(i, j int) { p.Rules[i], p.Rules[j] = p.Rules[j], p.Rules[i] })
		if diff := cmp.Diff(before, p.Decide(spec, parts(ls))); diff != "" {
			t.Fatalf("%+v\n%s %+v\n%s", p, spec.Name, parts(ls), diff)
		}
	}
}

func TestProjectsAndConstraintsOnlyTighten(t *testing.T) {
	d := newDice(t)
	for range rounds {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		before := p.Decide(spec, parts(ls))
		r := d.rule()
		r.Source = pick(d, []Source{FromProject, FromConstraint, "", "elsewhere"})
		p.Rules = append(slices.Clone(p.Rules), r)
		if after := p.Decide(spec, parts(ls)); after.Verdict < before.Verdict {
			t.Fatalf("%+v\n%s %+v\ngot %+v, before %+v", p, spec.Name, parts(ls), after, before)
		}
	}
}

func TestPermanentIsNeverMilderThanAsk(t *testing.T) {
	d := newDice(t)
	for range rounds {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		if len(ls) == 0 {
			continue
		}
		i := d.IntN(len(ls))
		ls[i].does = append(ls[i].does, known{effect: effect.Effect{Kind: effect.Permanent}, permanent: true})
		if got := p.Decide(spec, parts(ls)); got.Verdict < Ask {
			t.Fatalf("%+v\n%s %+v\ngot %+v", p, spec.Name, parts(ls), got)
		}
	}
}
