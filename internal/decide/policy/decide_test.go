package policy

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func on(k effect.Kind, o string) effect.Set { return effect.Set{{Kind: k, On: o}} }

func tree(k effect.Kind, o string) effect.Set { return effect.Set{{Kind: k, On: o, Tree: true}} }

// decide judges one part that does s, of a tool that may do that.
func decide(p Policy, name string, s effect.Set) Decision {
	spec := tool.Spec{Name: "Tool"}
	for _, e := range s {
		spec.Effects = append(spec.Effects, e.Kind)
	}
	return p.Decide(spec, []tool.Part{{Name: name, Effects: s}})
}

// R056: the same call meets another verdict in another mode.
func TestModes(t *testing.T) {
	tests := []struct {
		name string
		does effect.Set
		want [4]Verdict // plan, ask, auto, full
	}{
		{"nothing", nil, [4]Verdict{Allow, Allow, Allow, Allow}},
		{"read", on(effect.Read, "a/b"), [4]Verdict{Allow, Allow, Allow, Allow}},
		{"read of everything", tree(effect.Read, "."), [4]Verdict{Allow, Allow, Allow, Allow}},
		{"read outside", on(effect.Read, "/etc/hosts"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"read of a path that leaves", on(effect.Read, "../a"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"read of who knows what", on(effect.Read, ""), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"read of a secret", on(effect.Read, "a/.env"), [4]Verdict{Ask, Ask, Ask, Ask}},
		{"read of a secret outside", on(effect.Read, "/home/u/.aws/config"), [4]Verdict{Deny, Ask, Ask, Ask}},
		{"write", on(effect.Write, "a/b"), [4]Verdict{Deny, Ask, Allow, Allow}},
		{"write of a protected path", on(effect.Write, ".git/config"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"write of the whole workspace", tree(effect.Write, "."), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"write of a directory", tree(effect.Write, "build"), [4]Verdict{Deny, Ask, Allow, Allow}},
		{"write outside", on(effect.Write, "/tmp/x"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"process", on(effect.Process, "go"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"network", on(effect.Network, "x.test"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"git", on(effect.Git, ""), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"resource", on(effect.Resource, "port:80"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"permanent", on(effect.Permanent, ""), [4]Verdict{Deny, Ask, Ask, Ask}},
		{"anything", on(effect.Anything, ""), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"a kind of a later version", on("later", ""), [4]Verdict{Deny, Ask, Ask, Allow}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got [4]Verdict
			for i, m := range []Mode{ModePlan, ModeAsk, ModeAuto, ModeFull} {
				got[i] = decide(Policy{Mode: m}, "part", tt.does).Verdict
			}
			if got != tt.want {
				t.Errorf("plan, ask, auto, full: %v, want %v", got, tt.want)
			}
			if d := cmp.Diff(decide(Policy{Mode: ModeAsk}, "part", tt.does).Verdict, decide(Policy{}, "part", tt.does).Verdict); d != "" {
				t.Errorf("the zero mode is not ask: %s", d)
			}
			if got := decide(Policy{Mode: "yolo"}, "part", tt.does).Verdict; got != tt.want[0] {
				t.Errorf("in an unknown mode: %v, want %v as in plan", got, tt.want[0])
			}
		})
	}
}

// R056: what a sandbox holds passes in auto mode: it runs programs, and of the
// workspace it cannot reach what other programs trust.
func TestModesOfWhatASandboxHolds(t *testing.T) {
	for _, tt := range []struct {
		name string
		does effect.Set
		want [4]Verdict // plan, ask, auto, full
	}{
		{"what the sandbox lets through", append(tree(effect.Write, "."), effect.Effect{Kind: effect.Process}), [4]Verdict{Deny, Ask, Allow, Allow}},
		{"process", on(effect.Process, "go"), [4]Verdict{Deny, Ask, Allow, Allow}},
		{"resource", on(effect.Resource, "port:80"), [4]Verdict{Deny, Ask, Allow, Allow}},
		{"write of a protected path", on(effect.Write, ".git/hooks/x"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"write of a protected tree", tree(effect.Write, ".github/workflows"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"write outside", tree(effect.Write, "/srv"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"read outside", on(effect.Read, "/etc/os-release"), [4]Verdict{Deny, Ask, Allow, Allow}},
		{"read of a secret", on(effect.Read, "a/.env"), [4]Verdict{Ask, Ask, Ask, Ask}},
		{"read of a secret outside", on(effect.Read, "/home/u/.ssh/id_rsa"), [4]Verdict{Deny, Ask, Ask, Ask}},
		{"network", on(effect.Network, "x.test"), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"git", on(effect.Git, ""), [4]Verdict{Deny, Ask, Ask, Allow}},
		{"permanent", on(effect.Permanent, ""), [4]Verdict{Deny, Ask, Ask, Ask}},
		{"anything", on(effect.Anything, ""), [4]Verdict{Deny, Ask, Ask, Allow}},
	} {
		for i, m := range []Mode{ModePlan, ModeAsk, ModeAuto, ModeFull} {
			part := tool.Part{Name: "part", Effects: tt.does, Held: true}
			if got := (Policy{Mode: m}).Decide(tool.Spec{Name: "Bash", Effects: []effect.Kind{effect.Anything}}, []tool.Part{part}).Verdict; got != tt.want[i] {
				t.Errorf("%s in %s: %v, want %v", tt.name, m, got, tt.want[i])
			}
		}
	}
}

func TestDecisions(t *testing.T) {
	read, write := []effect.Kind{effect.Read}, []effect.Kind{effect.Read, effect.Write}
	bash := tool.Spec{Name: "Bash", Effects: []effect.Kind{effect.Anything}}
	rule := func(s string, v Verdict, src Source) Rule {
		r, err := ParseRule(s, v, src)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	tests := []struct {
		name string
		mode Mode
		rule Rule
		tool tool.Spec
		part tool.Part
		want Decision
	}{
		{
			"a command line is allowed byte for byte", ModeAsk, rule("Bash(go test ./...)", Allow, FromUser), bash,
			tool.Part{Name: "go test ./...", Effects: on(effect.Anything, "")},
			Decision{Verdict: Allow, Rule: "Bash(go test ./...)", Reason: "allowed by the rule Bash(go test ./...) (user)"},
		}, {
			"a command line that only looks like the rule", ModeAuto, rule("Bash(go test *)", Allow, FromUser), bash,
			tool.Part{Name: "go test ./...", Effects: on(effect.Anything, "")},
			Decision{Verdict: Ask, Rule: "mode auto", Reason: "mode auto asks first: the call may do anything (go test ./...)"},
		}, {
			"plan mode stands above an allow rule", ModePlan, rule("Bash", Allow, FromUser), bash,
			tool.Part{Name: "ls", Effects: on(effect.Anything, "")},
			Decision{Verdict: Deny, Rule: "mode plan", Reason: "mode plan only reads the workspace: the call may do anything (ls)"},
		}, {
			"deny stands above full mode", ModeFull, rule("Edit(src/**)", Deny, FromConstraint), tool.Spec{Name: "Edit", Effects: write},
			tool.Part{Name: "src/a.go", Effects: on(effect.Write, "src/a.go")},
			Decision{Verdict: Deny, Rule: "Edit(src/**)", Reason: "denied by the rule Edit(src/**) (constraint): src/a.go"},
		}, {
			"an allow rule of the project is ignored", ModeAsk, rule("Edit", Allow, FromProject), tool.Spec{Name: "Edit", Effects: write},
			tool.Part{Name: "a", Effects: on(effect.Write, "a")},
			Decision{Verdict: Ask, Rule: "mode ask", Reason: "mode ask asks first: the call writes a"},
		}, {
			"a relative glob stays in the workspace", ModeAuto, rule("Edit(**)", Allow, FromUser), tool.Spec{Name: "Edit", Effects: write},
			tool.Part{Name: "/tmp/a", Effects: on(effect.Write, "/tmp/a")},
			Decision{Verdict: Ask, Rule: "mode auto", Reason: "mode auto asks first: the call writes /tmp/a outside the workspace"},
		}, {
			"an absolute one may leave it", ModeAuto, rule("Edit(/tmp/)", Allow, FromApproval), tool.Spec{Name: "Edit", Effects: write},
			tool.Part{Name: "/tmp/a", Effects: on(effect.Write, "/tmp/a")},
			Decision{Verdict: Allow, Rule: "Edit(/tmp/)", Reason: "allowed by the rule Edit(/tmp/) (approval): /tmp/a"},
		}, {
			"deny rules reach outside", ModeFull, rule("*(**/*.sql)", Deny, FromUser), tool.Spec{Name: "Read", Effects: read},
			tool.Part{Name: "/tmp/a.sql", Effects: on(effect.Read, "/tmp/a.sql")},
			Decision{Verdict: Deny, Rule: "*(**/*.sql)", Reason: "denied by the rule *(**/*.sql) (user): /tmp/a.sql"},
		}, {
			"a glob for everything does not reveal a secret", ModeFull, rule("Read(**)", Allow, FromUser), tool.Spec{Name: "Read", Effects: read},
			tool.Part{Name: ".env", Effects: on(effect.Read, ".env")},
			Decision{Verdict: Ask, Rule: "secret", Reason: "known secrets are asked about in every mode: the call reads .env"},
		}, {
			"its name does", ModeAsk, rule("Read(.env)", Allow, FromApproval), tool.Spec{Name: "Read", Effects: read},
			tool.Part{Name: ".env", Effects: on(effect.Read, ".env")},
			Decision{Verdict: Allow, Rule: "Read(.env)", Reason: "allowed by the rule Read(.env) (approval)"},
		}, {
			"no rule opens a protected path", ModeAuto, rule("Edit(.github/)", Allow, FromUser), tool.Spec{Name: "Edit", Effects: write},
			tool.Part{Name: ".github/workflows/ci.yml", Effects: on(effect.Write, ".github/workflows/ci.yml")},
			Decision{Verdict: Ask, Rule: "protected path", Reason: "other programs or later sessions trust what is there: the call writes .github/workflows/ci.yml"},
		}, {
			"permanent is asked about", ModeFull, rule("Bash", Allow, FromUser), bash,
			tool.Part{Name: "git push\n-f", Effects: on(effect.Permanent, "")},
			Decision{Verdict: Ask, Rule: "permanent", Reason: `asked about in every mode: the call does what cannot be undone ("git push\n-f")`},
		}, {
			"a pattern that is no glob denies everything", ModeFull, Rule{Pattern: "a[", Verdict: Deny, Source: FromUser}, tool.Spec{Name: "Read", Effects: read},
			tool.Part{Name: "b", Effects: on(effect.Read, "b")},
			Decision{Verdict: Deny, Rule: "*(a[)", Reason: "denied by the rule *(a[) (user): b"},
		}, {
			"and allows nothing but itself", ModeAsk, Rule{Pattern: "a[", Verdict: Allow, Source: FromUser}, tool.Spec{Name: "Edit", Effects: write},
			tool.Part{Name: "b", Effects: on(effect.Write, "b")},
			Decision{Verdict: Ask, Rule: "mode ask", Reason: "mode ask asks first: the call writes b"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Policy{Mode: tt.mode, Rules: []Rule{tt.rule}}.Decide(tt.tool, []tool.Part{tt.part})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTheStrictestPartDecides(t *testing.T) {
	p := Policy{Mode: ModeAsk, Rules: []Rule{{Tool: "Edit", Pattern: "b", Verdict: Deny, Source: FromUser}}}
	edit := tool.Spec{Name: "Edit", Effects: []effect.Kind{effect.Write}}
	got := p.Decide(edit, []tool.Part{
		{Name: "a", Effects: on(effect.Write, "a")},
		{Name: "b", Effects: on(effect.Write, "b")},
		{Name: "c", Effects: on(effect.Permanent, "")},
	})
	if got.Verdict != Deny || got.Rule != "Edit(b)" {
		t.Errorf("got %+v", got)
	}
}

func TestWhatIsPermanentIsSaid(t *testing.T) {
	parts := []tool.Part{{Name: "touch a", Effects: on(effect.Write, "a")}, {Name: "git push", Effects: on(effect.Permanent, "")}}
	for _, p := range []Policy{{Mode: ModeAsk}, {Mode: ModeAsk, Rules: []Rule{{Tool: "*", Verdict: Ask, Source: FromUser}}}} {
		if got := p.Decide(bash, parts); got.Verdict != Ask || got.Rule != "permanent" {
			t.Errorf("got %+v", got)
		}
	}
}

func TestACallWithoutParts(t *testing.T) {
	todo := tool.Spec{Name: "Todo"}
	if got := (Policy{Mode: ModePlan}).Decide(todo, nil); got.Verdict != Allow {
		t.Errorf("got %+v", got)
	}
	named := Policy{Mode: ModeFull, Rules: []Rule{{Tool: "Todo", Verdict: Deny, Source: FromUser}}}
	if got := named.Decide(todo, nil); got.Verdict != Deny {
		t.Errorf("a rule for the tool: got %+v", got)
	}
	pattern := Policy{Mode: ModeFull, Rules: []Rule{{Tool: "Todo", Pattern: "**", Verdict: Deny, Source: FromUser}}}
	if got := pattern.Decide(todo, nil); got.Verdict != Allow {
		t.Errorf("a rule for its parts: got %+v", got)
	}
}

// What a person must judge is not to be forged by what a model sends.
func TestReasonsAreOneShortLine(t *testing.T) {
	evil := "a\nmode full lets it pass\x1b[2K\u202e\u200b\xff" + strings.Repeat("x", 1<<16)
	for _, k := range []effect.Kind{effect.Read, effect.Write, effect.Network, effect.Resource, effect.Permanent, effect.Anything} {
		for _, p := range []Policy{{}, {Rules: []Rule{{Pattern: evil, Verdict: Deny, Source: FromUser}}}} {
			got := decide(p, evil, on(k, evil)).Reason
			if len(got) > 2000 || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q", k, got)
			}
		}
	}
}
