package toolbox

import (
	"slices"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// held is what a sandbox lets through of a command that nothing else bounds: all
// of the workspace, and nothing outside but programs and what they need to run.
var held = effect.Set{
	{Kind: effect.Read, On: ".", Tree: true},
	{Kind: effect.Write, On: ".", Tree: true},
}

// bounded returns parts with the effects that a command can be held to. What
// its parse proves stays, whatever holds it; where that is not all, confines says
// whether a sandbox takes the place of effect.Anything. What does more than read
// has a program that does it, and effect.Process.
func bounded(parts []tool.Part, confines func(effect.Set) bool) []tool.Part {
	out := slices.Clone(parts)
	for i, p := range parts {
		if p.Effects.OnlyReads() {
			out[i].Held = confines(p.Effects)
			continue
		}
		proven := shell.Proven(p.Effects)
		out[i].Effects = slices.Clip(p.Effects)
		all := proven
		if len(proven) < len(p.Effects) {
			all = slices.Clip(proven)
			for _, e := range held {
				if !slices.Contains(proven, e) {
					all = append(all, e)
				}
			}
		}
		if out[i].Held = confines(all); out[i].Held {
			out[i].Effects = all
		}
		if !slices.ContainsFunc(out[i].Effects, func(e effect.Effect) bool { return e.Kind == effect.Process }) {
			out[i].Effects = append(out[i].Effects, effect.Effect{Kind: effect.Process})
		}
	}
	return out
}

// together returns the effects of all parts.
func together(parts []tool.Part) (set effect.Set) {
	for _, p := range parts {
		set = append(set, p.Effects...)
	}
	return set
}
