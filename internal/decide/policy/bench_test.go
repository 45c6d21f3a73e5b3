package policy

import (
	"fmt"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// BenchmarkDecide judges an edit under 50 rules, most for other paths.
func BenchmarkDecide(b *testing.B) {
	p := Policy{Mode: ModeAuto}
	for i := range 50 {
		p.Rules = append(p.Rules, Rule{Tool: "Edit", Pattern: fmt.Sprintf("dir%d/**", i), Verdict: Ask, Source: FromUser})
	}
	spec := tool.Spec{Name: "Edit", Effects: []effect.Kind{effect.Read, effect.Write}}
	parts := []tool.Part{{Name: "dir7/sub/file.go", Effects: effect.Set{
		{Kind: effect.Read, On: "dir7/sub/file.go"}, {Kind: effect.Write, On: "dir7/sub/file.go"},
	}}}
	b.ReportAllocs()
	for b.Loop() {
		if d := p.Decide(spec, parts); d.Verdict != Ask {
			b.Fatal(d)
		}
	}
}

// BenchmarkDecideCommand judges a line of three commands under 50 rules, of which
// half forbid.
func BenchmarkDecideCommand(b *testing.B) {
	p := Policy{Mode: ModeAuto, Root: "/w"}
	for i := range 50 {
		p.Rules = append(p.Rules, Rule{Tool: "Bash", Pattern: fmt.Sprintf("tool%d run **", i), Verdict: Verdict(i % 2 * 2), Source: FromUser})
	}
	parts := []tool.Part{
		{Name: "cd src", Effects: effect.Set{{Kind: effect.Read, On: "src"}}},
		{Name: "go test -race -run 'TestA|TestB' ./...", Effects: effect.Set{{Kind: effect.Read, On: ".", Tree: true}, {Kind: effect.Anything}}},
		{Name: "tail -n 20", Effects: effect.Set{{Kind: effect.Process}}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if d := p.Decide(bash, parts); d.Verdict != Ask {
			b.Fatal(d)
		}
	}
}
