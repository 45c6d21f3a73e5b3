package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestParseRule(t *testing.T) {
	for s, want := range map[string]Rule{
		"Bash":                        {Tool: "Bash"},
		"*":                           {Tool: "*"},
		"*(docs/)":                    {Tool: "*", Pattern: "docs/"},
		"Edit(src/**)":                {Tool: "Edit", Pattern: "src/**"},
		"mcp__a-b__c(x)":              {Tool: "mcp__a-b__c", Pattern: "x"},
		"Bash(echo $(date) )":         {Tool: "Bash", Pattern: "echo $(date) "},
		"Bash(if [ x; then\n{ y)":     {Tool: "Bash", Pattern: "if [ x; then\n{ y"},
		"Read(app/[id]/page.{ts,js})": {Tool: "Read", Pattern: "app/[id]/page.{ts,js}"},
	} {
		want.Verdict, want.Source = Ask, FromProject
		got, err := ParseRule(s, Ask, FromProject)
		if err != nil {
			t.Errorf("%s: %v", s, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", s, d)
		}
		if got.String() != s {
			t.Errorf("%s is written as %s", s, got)
		}
	}
}

func TestRulesThatDoNotParse(t *testing.T) {
	for s, want := range map[string]string{
		"":                                   `rule : `,
		"(x)":                                "is not the name of a tool",
		"Ba sh(x)":                           "Ba sh is not the name of a tool",
		" Bash":                              "is not the name of a tool",
		"**":                                 "is not the name of a tool",
		"Bash(x":                             "does not end in a parenthesis",
		"Bash(x) ":                           "does not end in a parenthesis",
		"Bash()":                             "write Bash for every call",
		"Read(a[)":                           "the pattern is not a glob",
		"Read({a)":                           "the pattern is not a glob",
		strings.Repeat("a", 65):              "is not the name of a tool",
		"Bash(" + strings.Repeat("a", 1<<20): "longer than 65536 bytes",
	} {
		_, err := ParseRule(s, Deny, FromUser)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%.80q: got %v, want ... %s", s, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	tools := []tool.Spec{
		{Name: "Read", Effects: []effect.Kind{effect.Read}},
		{Name: "Bash", Effects: []effect.Kind{effect.Anything}},
	}
	tests := []struct {
		rule Rule
		want string // of the error; "" is none
	}{
		{Rule{Tool: "Read", Pattern: "src/**", Match: []string{"src/a", "src/b/c"}, Refuse: []string{"a"}}, ""},
		{Rule{Tool: "Read", Pattern: "src/*", Match: []string{"src/b/c"}}, "rule Read(src/*) does not match its example src/b/c"},
		{Rule{Tool: "Read", Pattern: "**", Refuse: []string{"a"}}, "rule Read(**) matches a, which it should not"},
		{Rule{Tool: "Read", Pattern: "my docs/["}, "rule Read(my docs/[): the pattern is not a glob"},
		{Rule{Tool: "Bash", Pattern: "["}, ""},
		{Rule{Tool: "Bash", Pattern: "cat *", Match: []string{"cat a.txt", "cat 'a.txt'  src/b"}, Refuse: []string{"cat", "cat /etc/hosts", "cat ../a.txt", "cat -A a.txt", "cat a.txt; rm a.txt", "cat a.txt > b.txt"}}, ""},
		{Rule{Tool: "Bash", Pattern: "git log **", Match: []string{"git log", "git log -p a..b"}, Refuse: []string{"git", "git push", "git log; rm a", "git log > a"}}, ""},
		{Rule{Tool: "Bash", Pattern: "git push", Verdict: Deny, Match: []string{"git push -f", "/usr/bin/git -C . push", "sudo git push", "cd a && git push"}, Refuse: []string{"git pull", "git stash push"}}, ""},
		{Rule{Tool: "Bash", Pattern: "git *", Match: []string{"git status"}}, "rule Bash(git *) does not match its example git status"},
		{Rule{Tool: "Bash", Pattern: "git **", Refuse: []string{"git push"}}, "rule Bash(git **) matches git push, which it should not"},
		{Rule{Tool: "Bash", Pattern: "git status; ls"}, "rule Bash(git status; ls): the pattern is not one command: each command of a line is judged by itself, so write a rule for each"},
		{Rule{Tool: "Bash", Pattern: "git 'x"}, "rule Bash(git 'x): the pattern is not one command: each command of a line is judged by itself, so write a rule for each"},
		{Rule{Tool: "Bash", Pattern: "*"}, "rule Bash(*): the pattern names no program; write the name of the tool alone for every command"},
		{Rule{Tool: "Bash", Pattern: "cp * a"}, "rule Bash(cp * a): * can only be the last word"},
		{Rule{Tool: "Bash", Pattern: "git:*"}, "rule Bash(git:*): git:* is one word; for any words after git write git **"},
		{Rule{Pattern: "src/", Match: []string{"src/a"}}, ""},
		{Rule{Tool: "mcp__x__y", Pattern: "[", Match: []string{"a"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule.String(), func(t *testing.T) {
			got := ""
			if err := (Policy{Rules: []Rule{tt.rule}}).Check(tools); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	all := Policy{Rules: []Rule{tests[1].rule, tests[2].rule}}
	if err := all.Check(tools); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two wrong rules: %v", err)
	}
}

func TestWords(t *testing.T) {
	for v, want := range map[Verdict]string{Allow: "allow", Ask: "ask", Deny: "deny"} {
		if got := v.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := Verdict(7).String(); got != "verdict(7)" {
		t.Errorf("got %s", got)
	}
	for _, m := range []Mode{ModePlan, ModeAsk, ModeAuto, ModeFull} {
		if got, err := ParseMode(string(m)); got != m || err != nil {
			t.Errorf("%v: got %v, %v", m, got, err)
		}
	}
	if m, err := ParseMode("yolo"); m != ModePlan || err == nil || err.Error() != `"yolo" is not one of plan, ask, auto, full` {
		t.Errorf("got %v, %v", m, err)
	}
	order := []Mode{ModePlan, ModeAsk, ModeAuto, ModeFull}
	for i, m := range order {
		for j, n := range order {
			if m.Stricter(n) != (i < j) {
				t.Errorf("%s stricter than %s: %t", m, n, m.Stricter(n))
			}
		}
	}
	if Mode("").Stricter(ModeAsk) || !Mode("").Stricter(ModeAuto) || !Mode("yolo").Stricter("") {
		t.Error("the zero mode is not ask, or an unknown one not plan")
	}
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"", "Bash", "*(**)", "Bash(a b)", "Edit(src/)", "Edit([)", "A((x))", "A(\x00\xff)", "B(a\n)"} {
		f.Add(s, "src/a.go")
	}
	specs := []tool.Spec{{Name: "Edit", Effects: []effect.Kind{effect.Write}}, {Name: "Bash", Effects: []effect.Kind{effect.Anything}}}
	about := Policy{}.about
	f.Fuzz(func(t *testing.T, s, name string) {
		r, err := ParseRule(s, Allow, FromUser)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("error of more than a line: %q", err)
			}
			return
		}
		if r.String() != s {
			t.Fatalf("%q is written as %q", s, r)
		}
		deny := r
		deny.Verdict = Deny
		for _, spec := range specs {
			part := tool.Part{Name: name, Effects: effect.Set{{Kind: spec.Effects[0], On: name}}}
			if about(r, spec, part, readCommand(name)) && !about(deny, spec, part, readCommand(name)) {
				t.Fatalf("%q allows %q of %s but would not deny it", s, name, spec.Name)
			}
			if words, simple := split(name); r.Pattern != "" && spec.Name == "Bash" && about(r, spec, part, readCommand(name)) && name != r.Pattern && (!simple || len(words) == 0) {
				t.Fatalf("%q is about %q, which is not one command", s, name)
			}
		}
	})
}
