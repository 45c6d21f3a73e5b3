package policy

import (
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// What a rule forbids cannot be had by another tool, nor by another spelling of
// its pattern; what one allows is no more than was written.
func TestARuleThatForbidsIsReadWidely(t *testing.T) {
	reads, writes := []effect.Kind{effect.Read}, []effect.Kind{effect.Read, effect.Write}
	specs := []tool.Spec{
		{Name: "Read", Effects: reads}, {Name: "Grep", Effects: reads}, {Name: "LS", Effects: reads},
		{Name: "Edit", Effects: writes}, {Name: "MultiEdit", Effects: writes}, {Name: "Write", Effects: writes},
		{Name: "Patch", Effects: writes}, {Name: "Rename", Effects: writes},
	}
	tests := []struct {
		rule, path string
		forbids    []string // of specs
		allows     []string
	}{
		{"Edit(vendor/**)", "vendor/a.go", []string{"Edit", "MultiEdit", "Write", "Patch", "Rename"}, []string{"Edit"}},
		{"Write(vendor/)", "vendor/a.go", []string{"Edit", "MultiEdit", "Write", "Patch", "Rename"}, []string{"Write"}},
		{"MultiEdit", "a.go", []string{"Edit", "MultiEdit", "Write", "Patch", "Rename"}, []string{"MultiEdit"}},
		{"Read(secret/**)", "secret/a", []string{"Read", "Grep"}, []string{"Read"}},
		{"Read(secret/**)", "secret", []string{"Read", "Grep"}, []string{"Read"}},
		{"Grep(secret/**)", "secret/a", []string{"Grep"}, []string{"Grep"}},
		{"LS(secret/**)", "secret", []string{"LS"}, []string{"LS"}},
		{"Read(./secret/**)", "secret/a", []string{"Read", "Grep"}, []string{"Read"}},
		{"Read(./secret)", "secret", []string{"Read", "Grep"}, []string{"Read"}},
		{"Read(/w/secret/**)", "secret/a", []string{"Read", "Grep"}, nil},
		{"Read(/**/secret/a)", "secret/a", []string{"Read", "Grep"}, nil},
		{"Read(/w)", ".", []string{"Read", "Grep"}, nil},
		{"Read(/other/secret/**)", "secret/a", nil, nil},
		{"Read(vendor/**)", "secret/a", nil, nil},
	}
	for _, tt := range tests {
		for _, verdict := range []Verdict{Allow, Ask, Deny} {
			r, err := ParseRule(tt.rule, verdict, FromUser)
			if err != nil {
				t.Fatal(err)
			}
			p := Policy{Mode: ModeFull, Rules: []Rule{r}, Root: "/w"}
			want := make(map[string]bool)
			names := tt.forbids
			if verdict == Allow {
				names = tt.allows
			}
			for _, name := range names {
				want[name] = true
			}
			for _, spec := range specs {
				part := tool.Part{Name: tt.path}
				for _, k := range spec.Effects {
					part.Effects = append(part.Effects, effect.Effect{Kind: k, On: tt.path})
				}
				d := p.Decide(spec, []tool.Part{part})
				if got := d.Rule == tt.rule; got != want[spec.Name] || got && d.Verdict != verdict {
					t.Errorf("%s %s: %s of %s is decided by %q: %s", verdict, tt.rule, spec.Name, tt.path, d.Rule, d.Verdict)
				}
			}
		}
	}
}
