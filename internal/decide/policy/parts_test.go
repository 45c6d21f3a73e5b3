package policy_test

import (
	"path"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// world is a workspace in which link-out leads to /etc/passwd and src/in to a.go.
var world = shell.World{
	Resolve: func(p string) (string, bool) {
		switch p = path.Clean(strings.TrimPrefix(p, "/w/")); {
		case p == "link-out":
			return "/etc/passwd", false
		case p == "src/in":
			return "a.go", true
		case strings.HasPrefix(p, "../"):
			return path.Join("/w", p), false
		}
		return p, !path.IsAbs(p)
	},
	Look: func(program string) (string, bool) { return "/usr/bin/" + program, true },
	Glob: func(pattern string) []string { return []string{"a.go", "src/b.go"} },
}

func decideLine(t *testing.T, mode policy.Mode, line string, rules map[string]policy.Verdict) policy.Decision {
	t.Helper()
	spec := tool.Spec{Name: "Bash", Effects: []effect.Kind{effect.Read, effect.Write, effect.Process, effect.Permanent, effect.Anything}}
	p := policy.Policy{Mode: mode, Root: "/w"}
	for text, v := range rules {
		r, err := policy.ParseRule(text, v, policy.FromUser)
		if err != nil {
			t.Fatal(err)
		}
		p.Rules = append(p.Rules, r)
	}
	parts, _ := shell.Parts(line, world)
	return p.Decide(spec, parts)
}

// TestBug_A01_NothingDodgesADeny: rules are about the commands that a parse finds,
// wherever they are in a line, and about what is in one that it cannot follow.
func TestBug_A01_NothingDodgesADeny(t *testing.T) {
	rules := map[string]policy.Verdict{"Bash(git push)": policy.Deny, "Bash(git **)": policy.Allow, "Bash": policy.Allow}
	for _, line := range []string{
		"git push", "git  push origin", `"git" 'push'`, `g\it pu""sh`, "git -C . push", "git -c a.b=c --no-pager push", "/usr/bin/git push", "./git push",
		"command git push", "env git push", "env A=1 git push", "A=1 git push", "sudo git push", "nice -n 5 git push", "timeout 5 git push", "nohup git push &",
		"xargs git push", "echo x | xargs -n 1 git push", "sh -c 'git push'", `bash -c "cd src; git push"`, "eval git push", `eval "git push"`, "exec git push",
		"git status; git push", "git status && git push", "git status || git push", "git status | git push", "git status & git push", "git status\ngit push",
		"(git push)", "{ git push; }", "! git push", "time git push", "if true; then git push; fi", "while git push; do :; done", "for x in a; do git push; done",
		"echo $(git push)", "echo `git push`", `echo "$(git push)"`, "cat <(git push)", "echo > $(git push)", "x=$(git push)", "f() { git push; }; f",
		"case x in x) git push;; esac", "g=git; $g push", "x=push; git $x", "x='git push'; $x", "find . -exec git push \\;", "git push > out", "> out git push",
		"cat <<E\n$(git push)\nE", "trap 'git push' EXIT", "git \\\npush", "coproc git push", "sudo -u x sh -c 'env git push'", "git {push,x}", "git pus*",
	} {
		if d := decideLine(t, policy.ModeFull, line, rules); d.Verdict != policy.Deny {
			t.Errorf("%q: %+v", line, d)
		}
	}
	for _, line := range []string{"git status", "git stash push", "git log --grep push", "git commit -m 'git push'", "echo git push", "git -C . status"} {
		if d := decideLine(t, policy.ModeFull, line, rules); d.Verdict == policy.Deny {
			t.Errorf("%q: %+v", line, d)
		}
	}
}

// TestBug_A01_AnAllowOpensNothingElse, whatever is chained to it.
func TestBug_A01_AnAllowOpensNothingElse(t *testing.T) {
	rules := map[string]policy.Verdict{"Bash(make)": policy.Allow, "Bash(make **)": policy.Allow, "Bash(touch *)": policy.Allow}
	for _, line := range []string{"make", "make test", "make; make test", "make && touch a.go", "touch a.go src/b.go", "touch ./a.go", "(make)", "timeout 5 make"} {
		if d := decideLine(t, policy.ModeAsk, line, rules); d.Verdict != policy.Allow {
			t.Errorf("%q: %+v", line, d)
		}
	}
	for _, line := range []string{
		"make; rm -rf d", "make && rm -rf d", "make || rm -rf d", "make | sh", "make & rm -rf d", "make\nrm -rf d", "make $(rm -rf d)", "make `rm -rf d`",
		"make <(rm -rf d)", "make > d", "make 2> d", "PATH=. make", "sudo make", "env -i PATH=. make", "./make", "xargs make < a; rm d", "if make; then rm -rf d; fi",
		"make() { rm -rf d; }; make", "sh -c make\\;rm", "sh <<E\nrm -rf d\nE", "touch link-out", "touch ../w-other/x", "touch /w-other/x", "touch /etc/x", "touch .git/config",
		"touch -r a.go b.go", "touch a.go > b", "touch $x", "cd /etc; touch passwd", "cd ..; touch x",
	} {
		if d := decideLine(t, policy.ModeAsk, line, rules); d.Verdict != policy.Ask {
			t.Errorf("%q: %+v", line, d)
		}
	}
}
