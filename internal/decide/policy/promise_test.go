package policy

import (
	"slices"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// TestPromise_P18_DenyBeatsAskBeatsAllow: of random rules from anywhere and in any
// order the strictest that is about a part decides, as the oracle says, and what
// a project adds lets nothing more pass.
func TestPromise_P18_DenyBeatsAskBeatsAllow(t *testing.T) {
	d := newDice(t)
	seen := map[Verdict]int{}
	tightened := 0
	for range p18Sets {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		for range d.IntN(12) {
			p.Rules = append(p.Rules, d.rule())
		}
		want := slowDecide(p, spec, ls)
		seen[want]++
		got := p.Decide(spec, parts(ls))
		if got.Verdict != want {
			t.Fatalf("%+v\n%s %+v\ngot %+v, want %v", p, spec.Name, parts(ls), got, want)
		}
		d.Shuffle(len(p.Rules), func(i, j int) { p.Rules[i], p.Rules[j] = p.Rules[j], p.Rules[i] })
		if again := p.Decide(spec, parts(ls)); again != got {
			t.Fatalf("%+v\n%s %+v\n%+v in one order, %+v in another", p, spec.Name, parts(ls), got, again)
		}
		for range 1 + d.IntN(3) {
			r := d.rule()
			r.Source = FromProject
			p.Rules = slices.Insert(p.Rules, d.IntN(len(p.Rules)+1), r)
		}
		after := p.Decide(spec, parts(ls))
		if after.Verdict < got.Verdict {
			t.Fatalf("%+v\n%s %+v\na project loosens %+v to %+v", p, spec.Name, parts(ls), got, after)
		}
		if after.Verdict > got.Verdict {
			tightened++
		}
	}
	for _, v := range []Verdict{Allow, Ask, Deny} {
		if seen[v] < p18Sets/20 {
			t.Errorf("only %d of %d cases end in %v", seen[v], p18Sets, v)
		}
	}
	if tightened < p18Sets/20 {
		t.Errorf("only %d of %d projects tighten anything", tightened, p18Sets)
	}
	t.Logf("%d sets of rules", p18Sets)
}

// TestR307_NothingSkipsTheConfirmationOfWhatIsPermanent: no mode, no rule of
// whoever it is, no approval, alone or together, and no name that a model gives.
func TestR307_NothingSkipsTheConfirmationOfWhatIsPermanent(t *testing.T) {
	d := newDice(t)
	for range rounds / 10 {
		p, ls := d.policy(), d.parts()
		for _, tool := range []string{"", "*", "Bash"} {
			for _, src := range []Source{FromUser, FromApproval, FromProject, FromConstraint} {
				p.Rules = append(p.Rules, Rule{Tool: tool, Verdict: Allow, Source: src})
				for _, l := range ls {
					p.Rules = append(p.Rules, Rule{Tool: tool, Pattern: l.name, Verdict: Allow, Source: src})
				}
			}
		}
		ls = append(ls, labelled{name: pick(d, names), does: []known{{effect: effect.Effect{Kind: effect.Permanent}, permanent: true}}})
		if got := p.Decide(commandTool, parts(ls)); got.Verdict < Ask {
			t.Fatalf("%+v\n%+v\ngot %+v", p, parts(ls), got)
		}
		if rules := p.Remember(commandTool, parts(ls)); rules != nil {
			t.Fatalf("%+v\n%+v\nwould be remembered as %v", p, parts(ls), rules)
		}
	}
}
