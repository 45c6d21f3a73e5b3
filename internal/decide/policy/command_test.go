package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

var bash = tool.Spec{Name: "Bash", Effects: []effect.Kind{effect.Read, effect.Write, effect.Anything, effect.Permanent}}

// shown writes words so that a test can compare them: what is live stands in
// braces.
func shown(words []word) (out []string) {
	for _, w := range words {
		if w.live {
			w.text = "{" + w.text + "}"
		}
		out = append(out, w.text)
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    string // joined by |
		simple  bool
	}{
		{"git status", "git|status", true},
		{" git \t status ", "git|status", true},
		{`g'i't "st"at\us`, "git|status", true},
		{`echo 'a b' "c d" e\ f`, "echo|a b|c d|e f", true},
		{`echo "" ''`, "echo||", true},
		{`echo "a\"b\\c\d"`, `echo|a"b\c\d`, true},
		{"git sta\\\ntus", "git|status", true},
		{"ls $x", "ls|{$x}", true},
		{`ls "$x y"`, `ls|{"$x y"}`, true},
		{`ls '$x' \*`, "ls|$x|*", true},
		{"ls *.go ~/a {a,b}", "ls|{*.go}|{~/a}|{{a,b}}", true},
		{"ls >a 2>&1 2> b", "ls|{>}|a|{2>&1}|{2>}|b", true},
		{"ls a>b&>c", "ls|a|{>}|b|{&>}|c", true},
		{"A=1 make", "A=1|make", true},
		{"'A=1' make", "{'A=1'}|make", true},
		{"", "", false},
		{"  ", "", false},
		{"git status; rm x", "git|status|rm|x", false},
		{"git status\nrm x", "git|status|rm|x", false},
		{"git status&rm x", "git|status|rm|x", false},
		{"git status|sh", "git|status|sh", false},
		{"(git status)", "git|status", false},
		{"git `x`", "git|x", false},
		{"git $(x)", "git|{$}|x", false},
		{`git "$(x)"`, `git|{"$(x)"}`, false},
		{"git \"`x`\"", "git|{\"`x`\"}", false},
		{`echo $'a'`, `echo|{$'a'}`, false},
		{"cat <<E\nx\nE", "cat|{<<}|E|x|E", false},
		{"cat <(x)", "cat|{<}|x", false},
		{"echo 'a", "echo|a", false},
		{`echo "a`, "echo|a", false},
		{`echo a\`, "echo|a", false},
		{"echo \x00", "echo", false},
		{"echo a\r", "echo|a", false},
	} {
		words, simple := split(tt.command)
		if d := cmp.Diff(tt.want, strings.Join(shown(words), "|")); d != "" || simple != tt.simple {
			t.Errorf("%q: simple %t, %s", tt.command, simple, d)
		}
	}
}

// verdictOf decides about a command that may do anything.
func verdictOf(t *testing.T, mode Mode, command string, rules ...Rule) Verdict {
	t.Helper()
	return Policy{Mode: mode, Rules: rules, Root: "/w"}.Decide(bash, []tool.Part{{Name: command, Effects: on(effect.Anything, "")}}).Verdict
}

func rule(t *testing.T, s string, v Verdict) Rule {
	t.Helper()
	r, err := ParseRule(s, v, FromUser)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBug_A01_AnAllowIsForItsCommandAlone: what is chained to it, or fed to it,
// passes no rule that was written for it.
func TestBug_A01_AnAllowIsForItsCommandAlone(t *testing.T) {
	for _, allow := range []string{"Bash(git status)", "Bash(git status **)", "Bash(git log **)", "Bash(git **)"} {
		r := rule(t, allow, Allow)
		for _, command := range []string{
			"git status && rm -rf d", "git status; rm -rf d", "git status\nrm -rf d", "git status & rm -rf d", "git log | xargs rm",
			"git status $(rm -rf d)", "git status `rm -rf d`", `git status "$(rm -rf d)"`, "git log <<E | sh\nrm -rf d\nE", "sh <<E\nrm -rf d\nE",
			"if git status; then rm -rf d; fi", "git status > d", "git log >> ~/.bashrc", "git status <(rm -rf d)", "{ git status; rm -rf d; }",
			"(git status; rm -rf d)", "git status || rm -rf d", "git status |& sh", "rm -rf d; git status", "git status 2> d",
			"xgit status", "gits status", "./git status", "/tmp/git status", "git$x status", "PATH=. git status", "env git status", "sudo git status",
			"command git status", "git() { rm -rf d; }; git status", "git status\x00", "git status # \nrm -rf d", "time git status", "! git status",
		} {
			if got := verdictOf(t, ModeAuto, command, r); got != Ask {
				t.Errorf("%s: %q: %s, want ask", allow, command, got)
			}
		}
	}
}

func TestAllowReadsWordsNarrowly(t *testing.T) {
	for _, tt := range []struct {
		rule    string
		yes, no string // commands, each on a line
	}{
		{rule: "Bash(git status)", yes: "git status\ngit  status\n'git' \"status\"\n  git status  \ng\\it status", no: "git status -s\ngit\ngit Status\ngit status ''\ngit 'status '"},
		{rule: "Bash(go test ./...)", yes: "go test ./...", no: "go test ./... -exec x\ngo test ./..\ngo test /...\ngo test"},
		{rule: "Bash(git log **)", yes: "git log\ngit log -p\ngit log --format='%H %s' HEAD~3 $x", no: "git\ngit logs\ngit -C . log\ngit log > x"},
		{rule: "Bash(ls *.go)", yes: "ls *.go", no: "ls a.go\nls '*.go'\nls **.go"},
		{rule: "Bash(echo '*')", yes: "echo '*'\necho \\*", no: "echo *\necho a"},
		{rule: "Bash(A=1 make)", yes: "A=1 make", no: "make\nA=2 make\n'A=1' make\nA=1 B=2 make"},
		{rule: "Bash(make > out)", yes: "make > out\nmake >out", no: "make '>' out\nmake out\nmake >> out\nmake 2> out"},
		{rule: "Bash(echo $x)", yes: "echo $x", no: "echo '$x'\necho $y\necho \"$x\""},
	} {
		r := rule(t, tt.rule, Allow)
		for want, commands := range map[Verdict]string{Allow: tt.yes, Ask: tt.no} {
			for command := range strings.SplitSeq(commands, "\n") {
				if got := verdictOf(t, ModeAsk, command, r); got != want {
					t.Errorf("%s: %q: %s, want %s", tt.rule, command, got, want)
				}
			}
		}
	}
}

// TestBug_A04_OpenOperandsAreFilesOfTheWorkspace: as they are resolved, in whole elements.
func TestBug_A04_OpenOperandsAreFilesOfTheWorkspace(t *testing.T) {
	r := rule(t, "Bash(gofmt -w *)", Allow)
	write := func(on ...string) (s effect.Set) {
		for _, o := range on {
			s = append(s, effect.Effect{Kind: effect.Write, On: o})
		}
		return append(s, effect.Effect{Kind: effect.Process, On: "gofmt"})
	}
	runs := func(s effect.Set) effect.Set { return append(s, effect.Effect{Kind: effect.Process}) }
	for _, tt := range []struct {
		command string
		does    effect.Set
		want    Verdict
	}{
		{"gofmt -w a.go", write("a.go"), Allow},
		{"gofmt -w a.go src/b.go", write("a.go", "src/b.go"), Allow},
		{"gofmt -w ./a.go '/w/src/b.go'", write("a.go", "src/b.go"), Allow},
		{"gofmt -w b.go", write("src/b.go"), Allow}, // run in src
		{"gofmt -w ./...", write("."), Allow},
		{"gofmt -w ./a", runs(tree(effect.Read, ".")), Allow},
		{"gofmt -w a", runs(tree(effect.Read, ".")), Ask}, // it may be anything
		{"gofmt -w ./a", tree(effect.Write, "."), Ask},
		{"gofmt -w .", tree(effect.Write, "."), Ask},
		{"gofmt -w ./a", append(tree(effect.Read, "."), effect.Effect{Kind: effect.Read, On: "/etc/passwd"}), Ask},
		{"gofmt -w ./.husky/a", runs(tree(effect.Read, ".")), Ask},
		{"gofmt -w src/...", write("src"), Allow},
		{"gofmt -w", write("a.go"), Ask},
		{"gofmt -w -r a.go", write("a.go"), Ask},
		{"gofmt a.go", write("a.go"), Ask},
		{"gofmt -w ../w-other/x", write("/w-other/x"), Ask},
		{"gofmt -w /w-other/x", write("/w-other/x"), Ask},
		{"gofmt -w /w-other/x", write("x"), Ask},
		{"gofmt -w ./a/../../w-other/x", write("/w-other/x"), Ask},
		{"gofmt -w link", write("/etc/passwd"), Ask},
		{"gofmt -w a.go link", write("a.go", "/etc/passwd"), Ask},
		{"gofmt -w a.go b.go", write("a.go"), Ask}, // nobody knows what b.go is
		{"gofmt -w go", write("src/b.go"), Ask},
		{"gofmt -w $x", write("a.go"), Ask},
		{"gofmt -w *.go", write("a.go"), Ask},
		{"gofmt -w a.go > a.go", write("a.go"), Ask},
		{"gofmt -w .git/config", write(".git/config"), Ask},
		{"gofmt -w a.go", on(effect.Anything, ""), Ask},
		{"gofmt -w a.go", append(write("a.go"), effect.Effect{Kind: effect.Permanent}), Ask},
	} {
		p := Policy{Mode: ModeAsk, Rules: []Rule{r}, Root: "/w"}
		if got := p.Decide(bash, []tool.Part{{Name: tt.command, Effects: tt.does}}); got.Verdict != tt.want {
			t.Errorf("%s that does %v: %+v, want %s", tt.command, tt.does, got, tt.want)
		}
	}
}

// TestBug_A04_ARuleForADirectoryIsNotForItsSibling, however it is spelled.
func TestBug_A04_ARuleForADirectoryIsNotForItsSibling(t *testing.T) {
	edit := tool.Spec{Name: "Edit", Effects: []effect.Kind{effect.Write}}
	for _, pattern := range []string{"src/", "src/**", "./src/", "/w/src/**", "/w/src"} {
		for p, inside := range map[string]bool{"src/a": true, "src2/a": false, "src-other": false, "srcs": false, "a/src": false, "/w/src2/a": false, "/w-other/src/a": false} {
			for _, v := range []Verdict{Allow, Deny} {
				r := Rule{Tool: "Edit", Pattern: pattern, Verdict: v, Source: FromUser}
				d := Policy{Mode: ModeAsk, Rules: []Rule{r}, Root: "/w"}.Decide(edit, []tool.Part{{Name: p, Effects: on(effect.Write, p)}})
				absolute := strings.HasPrefix(pattern, "/")
				want := inside && (v == Deny && pattern != "/w/src" || !absolute)
				if got := d.Verdict == v; got != want {
					t.Errorf("%s %s about %s: %+v", v, r, p, d)
				}
			}
		}
	}
}

func TestDenyReadsCommandsWidely(t *testing.T) {
	for _, tt := range []struct{ rule, yes, no string }{
		{
			rule: "Bash(git push)",
			yes: "git push\ngit   push\ngit push origin main\n'git' push\ng\"i\"t pu\\sh\ngit -C . push\ngit -c a=b -C . push\ngit --no-pager push\n" +
				"git --git-dir=x push\n/usr/bin/git push\n./git push\n~/bin/git push\n$HOME/bin/git push\ncommand git push\nenv git push\nenv -i A=1 git push\n" +
				"A=1 git push\nsudo -u x git push\nnohup git push\ntimeout 5 git push\nxargs git push\nsh -c 'git push'\nbash -lc \"cd a; git push\"\n" +
				"sudo sh -c 'env git -C . push'\neval git push\neval 'git push'\nls; git push\nls && git push\n(git push)\nif true; then git push; fi\n" +
				"echo $(git push)\necho \"$(git push)\"\necho `git push`\ngit $x\ngit $x origin\n$x\n$x push\ng* push\ngit p*\ngit >x push\n>x git push\n" +
				"git push > x\n! git push\ntime git push\nfind . -exec git push \\;\n{ git push; }\nexec git push\ngit \"$x\"\ngit {push,x}\n" +
				"busybox sh -c 'git push'\ngit ...\n/usr/lib/git-core/git-push\ngit-push x\ngit -c alias.x=push x\ngit -c Alias.x='!git push' x\ngit -calias.x=push x\n" +
				"rlwrap git push\nnpm exec -- git push\ndocker run x git push\nmake -C \"$(git push)\"\necho $(a $(git push))\necho \"$(a | git push)\" b\n" +
				"echo '$(' ; git push ')'\n$(a) push\nsudo $(a) b\necho $(a); git push\necho $(<a) && git push",
			no: "git pull\ngit status\ngit stash push\ngit commit -m push\ngit commit -m 'git push'\nmygit push\necho $(date)\necho \"$(date)\" x\ncat $(go env GOROOT)/VERSION\ngit commit -m \"$(cat a)\"\ngo test ./...\ntimeout 5 go test ./...\necho git push\ngit log --grep=push\n" +
				"git\ngit diff HEAD~1\npush git\ngrep -r 'git push' .\ngo test ./... > out\n\"$x\" test\ngo test $x",
		}, {
			rule: "Bash(rm -r)",
			yes:  "rm -r a\nrm -rf a\nrm -fr a\nrm a -r\nrm --force -r a\nsudo rm -rf /\nrm $flags a",
			no:   "rm a\nrm -f a\nrmdir -r a\nrm --recursive a",
		}, {
			rule: "Bash(git push --force)",
			yes:  "git push --force\ngit push origin main --force\ngit push --forc\ngit push --force=x\ngit -C . push x --force",
			no:   "git push\ngit push --follow-tags\ngit push -f",
		}, {
			rule: "Bash(kubectl delete pod)",
			yes:  "kubectl delete pod x\nkubectl -n a delete --now pod x\nkubectl --context b delete pod",
			no:   "kubectl get pod\nkubectl delete service x\nkubectl get delete pod",
		}, {
			rule: "Bash(npm run deploy:*)", yes: "npm run deploy:eu\nnpm run 'deploy:us' x", no: "npm run deploy\nnpm run test:eu",
		}, {
			rule: "Bash(curl **)", yes: "curl\ncurl x\nsudo curl -s x", no: "curlx\ngit curl",
		}, {
			rule: "Bash(./deploy.sh)", yes: "./deploy.sh\nsh ./deploy.sh\nsh deploy.sh\na/deploy.sh x", no: "deploy\n./deploy.sh.bak",
		},
	} {
		for _, v := range []Verdict{Ask, Deny} {
			r := rule(t, tt.rule, v)
			for want, commands := range map[bool]string{true: tt.yes, false: tt.no} {
				for command := range strings.SplitSeq(commands, "\n") {
					if got := verdictOf(t, ModeFull, command, r) == v; got != want {
						t.Errorf("%s %s: %q: %t, want %t", v, tt.rule, command, got, want)
					}
				}
			}
		}
	}
	for _, command := range []string{"git \\\npush", "cat <<E | sh\ngit push\nE", "a\ngit push\nb", "for x in a; do\n git push\ndone", "sh -c 'a\ngit push'"} {
		if got := verdictOf(t, ModeFull, command, rule(t, "Bash(git push)", Deny)); got != Deny {
			t.Errorf("%q: %s", command, got)
		}
	}
}

// TestAFileIsKeptFromCommandsToo: a rule of files that asks or denies binds what
// is known of a command.
func TestAFileIsKeptFromCommandsToo(t *testing.T) {
	for _, tt := range []struct {
		rule string
		does effect.Set
		want Verdict
	}{
		{"Edit(vendor/**)", on(effect.Write, "vendor/a.go"), Deny},
		{"Write(/w/vendor/**)", on(effect.Write, "vendor/a.go"), Deny},
		{"Read(secret/**)", on(effect.Read, "secret/a"), Deny},
		{"*(secret/)", on(effect.Read, "secret"), Deny},
		{"Edit(vendor/**)", on(effect.Read, "vendor/a.go"), Allow},
		{"Read(secret/**)", on(effect.Write, "secret/a"), Allow},
		{"Edit(vendor/**)", on(effect.Write, "vendor2/a.go"), Allow},
		{"LS(secret/**)", on(effect.Read, "secret/a"), Allow},
		{"Edit", on(effect.Write, "a"), Allow},
	} {
		p := Policy{Mode: ModeFull, Rules: []Rule{rule(t, tt.rule, Deny)}, Root: "/w"}
		if got := p.Decide(bash, []tool.Part{{Name: "x y", Effects: tt.does}}); got.Verdict != tt.want {
			t.Errorf("%s: %v: %+v, want %s", tt.rule, tt.does, got, tt.want)
		}
	}
	edits := Policy{Mode: ModeAsk, Rules: []Rule{rule(t, "Edit(src/**)", Allow)}, Root: "/w"}
	if got := edits.Decide(bash, []tool.Part{{Name: "x y", Effects: on(effect.Write, "src/a.go")}}); got.Verdict != Ask {
		t.Errorf("what is allowed to Edit is allowed to commands: %+v", got)
	}
}
