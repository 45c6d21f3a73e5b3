package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestRemember(t *testing.T) {
	edit := tool.Spec{Name: "Edit", Effects: []effect.Kind{effect.Read, effect.Write}}
	part := func(name string, does ...effect.Effect) tool.Part { return tool.Part{Name: name, Effects: does} }
	anything, process := effect.Effect{Kind: effect.Anything}, effect.Effect{Kind: effect.Process}
	everything := func(k effect.Kind) effect.Effect { return effect.Effect{Kind: k, On: ".", Tree: true} }
	read := func(p string) effect.Effect { return effect.Effect{Kind: effect.Read, On: p} }
	write := func(p string) effect.Effect { return effect.Effect{Kind: effect.Write, On: p} }
	for _, tt := range []struct {
		name  string
		spec  tool.Spec
		parts []tool.Part
		want  []string
	}{
		{"a command", bash, []tool.Part{part("go test ./...", anything)}, []string{"Bash(go test ./...)"}},
		{"its files stay open", bash, []tool.Part{part("gofmt -w a.go 'b c.go'", write("a.go"), write("b c.go"))}, []string{"Bash(gofmt -w *)"}},
		{"with a subcommand", bash, []tool.Part{part("go vet -x ./a", read("a"), process)}, []string{"Bash(go vet -x *)"}},
		{"two operands before a file", bash, []tool.Part{part("docker compose up a.go", write("a.go"))}, []string{"Bash(docker compose up a.go)"}},
		{"an operand that is no file", bash, []tool.Part{part("go vet ./a x", read("a"), process)}, []string{"Bash(go vet ./a x)"}},
		{"options behind the files", bash, []tool.Part{part("gofmt a.go -w", write("a.go"))}, []string{"Bash(gofmt a.go -w)"}},
		{"a file outside", bash, []tool.Part{part("touch /tmp/a", write("/tmp/a"))}, []string{"Bash(touch /tmp/a)"}},
		{"what is removed", bash, []tool.Part{part("rm -r src", effect.Effect{Kind: effect.Write, On: "src", Tree: true})}, []string{"Bash(rm -r src)"}},
		{"a tree is written", bash, []tool.Part{part("gofmt -w src", effect.Effect{Kind: effect.Write, On: "src", Tree: true})}, []string{"Bash(gofmt -w *)"}},
		{"all is read and written", bash, []tool.Part{part("go test ./...", everything(effect.Read), everything(effect.Write), process)}, []string{"Bash(go test *)"}},
		{"a word that may be none", bash, []tool.Part{part("npm run build", everything(effect.Read), everything(effect.Write), process)}, []string{"Bash(npm run build)"}},
		{"an assignment", bash, []tool.Part{part("A=1", anything), part("make", anything)}, nil},
		{"a guarded path", bash, []tool.Part{part("chmod +x .husky/x", write(".husky/x"), process)}, nil},
		{"git's own", bash, []tool.Part{part("git add a.go", write(".git/index"), everything(effect.Read), process)}, []string{"Bash(git add a.go)"}},
		{"what runs its operand", bash, []tool.Part{part("bash ./a.sh", read("a.sh"), anything)}, []string{"Bash(bash ./a.sh)"}},
		{"with a variable", bash, []tool.Part{part("A=1 go vet ./a", read("a"), process)}, []string{"Bash(A=1 go vet ./a)"}},
		{"a redirection", bash, []tool.Part{part("go vet ./a > b", read("a"), write("b"))}, []string{"Bash(go vet ./a > b)"}},
		{"only what needs a rule", bash, []tool.Part{part("cat a", read("a")), part("go vet x", anything), part("make  y", anything), part("go vet x", anything)}, []string{"Bash(go vet x)", "Bash(make  y)"}},
		{"one part is permanent", bash, []tool.Part{part("make", anything), part("git push", anything, effect.Effect{Kind: effect.Permanent})}, nil},
		{"one part is no command", bash, []tool.Part{part("make", anything), part("make; x", anything)}, nil},
		{"it reads as more than it is", bash, []tool.Part{part("rm *", anything)}, nil},
		{"also in the middle", bash, []tool.Part{part("cp * a", anything)}, nil},
		{"a secret", bash, []tool.Part{part("cat .env", read(".env"))}, nil},
		{"a protected path", bash, []tool.Part{part("touch .git/x", write(".git/x"))}, nil},
		{"nobody can see it", bash, []tool.Part{part("echo \u202ea", anything)}, nil},
		{"long", bash, []tool.Part{part("x "+strings.Repeat("y ", maxRemembered), anything)}, nil},
		{"not read as a rule", bash, []tool.Part{part("[x", anything)}, nil},
		{"no name", bash, []tool.Part{part("", anything)}, nil},
		{"no parts", tool.Spec{Name: "Todo"}, nil, nil},
		{"what passes", bash, []tool.Part{part("cat a", read("a"))}, nil},
		{"a path", edit, []tool.Part{part("a.go", write("a.go"))}, []string{"Edit(a.go)"}},
		{"a path that looks like a glob", edit, []tool.Part{part("a[1]*.go", write("a[1]*.go"))}, []string{`Edit(a\[1\]\*.go)`}},
		{"two paths", edit, []tool.Part{part("a", write("a")), part("b", write("b")), part("a", read("a"))}, []string{"Edit(a)", "Edit(b)"}},
		{"a secret by its name", edit, []tool.Part{part(".env", read(".env"))}, []string{"Edit(.env)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range (Policy{Mode: ModeAsk, Root: "/w"}).Remember(tt.spec, tt.parts) {
				got = append(got, r.String())
				if err := (Policy{Rules: []Rule{r}}).Check([]tool.Spec{tt.spec}); err != nil {
					t.Error(err)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatIsDeniedIsNotRemembered(t *testing.T) {
	parts := []tool.Part{{Name: "make", Effects: on(effect.Anything, "")}}
	for _, p := range []Policy{{Mode: ModePlan}, {Rules: []Rule{rule(t, "Bash(make)", Deny)}}, {Rules: []Rule{rule(t, "Bash(make)", Ask)}}} {
		if got := p.Remember(bash, parts); got != nil {
			t.Errorf("%+v: %v", p, got)
		}
	}
}

// TestRememberedRulesSettleTheCallAndLittleElse: whatever is asked about, what is
// remembered of it lets it pass, and lets pass nothing with another program, other
// options or operands that are not files of the workspace.
func TestRememberedRulesSettleTheCallAndLittleElse(t *testing.T) {
	d := newDice(t)
	words := []string{"go", "git", "rm", "test", "-x", "--y=z", "a", "./a", "b/c", "/etc/x", "'a b'", "$v", "*.go", ">", "..", "../a", "sh", "A=1"}
	command := func() tool.Part {
		part := tool.Part{Effects: effect.Set{{Kind: effect.Process}}}
		for range 1 + d.IntN(4) {
			part.Name += pick(d, words) + " "
		}
		for _, file := range []string{"a", "b/c", "a b", "/etc/x", "x"} {
			if d.IntN(3) > 0 && strings.Contains(part.Name, file) || d.IntN(30) == 0 {
				part.Effects = append(part.Effects, effect.Effect{Kind: pick(d, []effect.Kind{effect.Read, effect.Write}), On: file})
			}
		}
		return part
	}
	p := Policy{Mode: ModeAsk, Root: "/w"}
	settled, open, foreign := 0, 0, 0
	for range rounds {
		parts := []tool.Part{command()}
		rules := p.Remember(bash, parts)
		if rules == nil {
			continue
		}
		settled++
		then := p
		then.Rules = rules
		if got := then.Decide(bash, parts); got.Verdict != Allow {
			t.Fatalf("%+v is not settled by %v: %+v", parts, rules, got)
		}
		other := command()
		if p.Decide(bash, []tool.Part{other}).Verdict == Allow || then.Decide(bash, []tool.Part{other}).Verdict != Allow {
			foreign++
			continue
		}
		open++
		mine, its := slowWords(parts[0].Name), slowWords(other.Name)
		for i, w := range its {
			if i < len(mine) && mine[i] == w {
				continue
			}
			clean := strings.TrimPrefix(w, "./")
			touched := strings.Contains(fmt.Sprint(other.Effects), clean)
			if i == 0 || !touched || strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") || strings.Contains(w, "..") || strings.ContainsAny(w, "$*>=") {
				t.Fatalf("%q, remembered as %v, lets %+v pass", parts[0].Name, rules, other)
			}
		}
	}
	if settled < rounds/10 || open < 20 || foreign < rounds/10 {
		t.Errorf("%d settled, %d like them, %d unlike", settled, open, foreign)
	}
}

// slowWords knows the words of the test above.
func slowWords(command string) (words []string) {
	for _, w := range strings.Fields(strings.ReplaceAll(command, "'a b'", "a_b")) {
		words = append(words, strings.ReplaceAll(w, "a_b", "a b"))
	}
	return words
}
