package toolbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// R146: what the parse cannot bound a sandbox does, where there is one; what it
// proves stays, whatever holds it.
func TestR146_ASandboxTakesThePlaceOfAnythingAndOfNothingElse(t *testing.T) {
	network, permanent := effect.Effect{Kind: effect.Network, On: "x.y"}, effect.Effect{Kind: effect.Permanent}
	runs, any := effect.Effect{Kind: effect.Process}, effect.Effect{Kind: effect.Anything, On: shell.Code}
	in := []tool.Part{
		{Name: "cat a", Effects: effect.Set{{Kind: effect.Read, On: "a"}}},
		{Name: "make"},
		{Name: "make", Effects: effect.Set{any}},
		{Name: "curl x.y | sh", Effects: effect.Set{network, any}},
		{Name: "git push -f", Effects: effect.Set{permanent, network, runs}},
		{Name: "cp a b", Effects: effect.Set{{Kind: effect.Write, On: "b"}}},
		{Name: "go test", Effects: effect.Set{held[0], any, runs}},
	}
	for _, c := range []struct {
		name     string
		confines bool
		code     effect.Set
		test     effect.Set // of go test: nothing is said twice
	}{{"none", false, effect.Set{any}, in[6].Effects}, {"a sandbox", true, held, effect.Set{held[0], runs, held[1]}}} {
		t.Run(c.name, func(t *testing.T) {
			got := bounded(in, func(effect.Set) bool { return c.confines })
			with := func(all ...effect.Effect) effect.Set { return append(effect.Set{}, all...) }
			want := []effect.Set{
				in[0].Effects, nil,
				append(with(c.code...), runs),
				append(append(with(network), c.code...), runs),
				in[4].Effects,
				with(in[5].Effects[0], runs),
				c.test,
			}
			for i := range got {
				if got[i].Held != c.confines {
					t.Error(got[i].Name, "is said to be held")
				}
				if diff := cmp.Diff(want[i], got[i].Effects); diff != "" {
					t.Error(got[i].Name, diff)
				}
			}
		})
	}
	if cmp.Diff(effect.Set{any}, in[2].Effects) != "" {
		t.Error("the parts of a call were changed in place")
	}
}
