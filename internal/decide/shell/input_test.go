package shell_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// R146, R148: what a shell is given to read is followed as far as it is written
// out, and is never all that may be.
func TestR146_WhatAShellReads(t *testing.T) {
	const remove = "rm -rf sub: permanent, write sub/**"
	tests := []struct {
		line, part string
	}{
		{"sh <<E\nrm -rf sub\nE", remove},
		{"sh <<-E\n\trm -rf sub\n\tE", remove},
		{"bash -s <<'E'\nls\nrm -rf sub\nE", remove},
		{"bash -s a b <<E\nrm -rf sub\nE", remove},
		{"bash -es - <<E\nrm -rf sub\nE", remove},
		{"bash /dev/stdin <<E\nrm -rf sub\nE", remove},
		{"bash <<< 'rm -rf sub'", remove},
		{"(cd src; sh) <<< 'rm -rf sub'", "rm -rf sub: permanent, write src/sub/**, write sub/**"},
		{"echo 'rm -rf sub' | sh", remove},
		{"echo -n rm -rf 'sub' | timeout 5 dash", remove},
		{`echo -e 'ls\nrm -rf sub' | bash`, remove},
		{`echo 'ls\nrm -rf sub' | sh -c 'echo "ls\nrm -rf sub" | sh'`, remove},
		{`printf 'ls\nrm -rf sub\n' | bash`, remove},
		{`printf '%s\n' ls 'rm -rf sub' | bash -x`, remove},
		{`printf 'rm -%s %b; ls 100%%\n' rf sub | bash`, remove},
		{"cat <<E | sudo sh\nrm -rf sub\nE", "rm -rf sub: permanent, write sub/**"},
		{"cat - <<< 'rm -rf sub' | tee log | bash", remove},
		{"{ echo cd src; echo rm -rf sub; } | bash", "rm -rf sub: permanent, write src/sub/**, write sub/**"},
		{"for d in a sub; do echo rm -rf $d; done | sh", remove},
		{"if true; then echo rm -rf sub; fi | zsh", remove},
		{"echo \"echo 'rm -rf sub' | sh\" | sh", remove},
		{"d=sub; sh <<E\nrm -rf $d\nE", remove},
		{"sh <<E\nrm -rf \"$d\"/x\nrm -rf sub\nE", remove},
		{"sh <<E\nrm -rf \"$d\"/x\nrm -rf sub\nE", `rm -rf "$_"/x: anything, permanent, write`},
		{"echo \"rm -rf $d\" | sh", "rm -rf $_: anything, permanent, write"},
		{"bash <(echo rm -rf sub)", remove},
		{"bash -x <(cat <<E\nrm -rf sub\nE\n) y", remove},
		{"source <(printf 'rm -rf sub')", remove},
		{"cd src && . /dev/stdin <<< 'rm -rf ../sub'", "rm -rf ../sub: permanent, write sub/**"},
		{"cat <<< 'echo x' | sh; sh <<< 'rm -rf sub'", remove},
	}
	for _, tt := range tests {
		parts, err := shell.Parts(tt.line, world())
		if err != nil {
			t.Fatal(err)
		}
		found, anything := false, false
		for _, p := range told(parts) {
			found = found || p == tt.part
			anything = anything || strings.Contains(p, "anything")
		}
		if !found || !anything {
			t.Errorf("%q lacks %q: %q", tt.line, tt.part, told(parts))
		}
	}
}

// What no shell reads is text.
func TestWhatNoShellReads(t *testing.T) {
	for line, want := range map[string][]string{
		"cat <<E\nrm -rf sub\nE":                {"cat: "},
		"echo 'rm -rf sub'; sh":                 {"echo 'rm -rf sub': ", "sh: process sh, anything code"},
		"cat <(echo 'rm -rf sub')":              {"echo 'rm -rf sub': ", "cat <(echo 'rm -rf sub'): "},
		"echo 'rm -rf sub' | cat":               {"echo 'rm -rf sub': ", "cat: "},
		"echo 'rm -rf sub' | wc -l | sh":        {"echo 'rm -rf sub': ", "wc -l: ", "sh: process sh, anything code"},
		"echo 'rm -rf sub' | sh -c ls":          {"echo 'rm -rf sub': ", "ls: read ./**"},
		"bash x.sh <<< 'rm -rf sub'":            {"bash x.sh: read x.sh, process, anything code"},
		"echo 'rm -rf sub' | sh < a.txt":        {"echo 'rm -rf sub': ", "< a.txt: read a.txt", "sh: process sh, anything code"},
		"ls $(echo 'rm -rf sub') | sh":          {"echo 'rm -rf sub': ", "ls $(echo 'rm -rf sub'): anything, read", "sh: process sh, anything code"},
		"sh <<E | cat\nE\necho 'rm -rf sub'":    {"sh: process sh, anything code", "cat: ", "echo 'rm -rf sub': "},
		"while read -r x; do ls; done <<< 'rm'": {"read -r x: ", "ls: read ./**"},
	} {
		parts, err := shell.Parts(line, world())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, told(parts)); d != "" {
			t.Errorf("%q\n%s", line, d)
		}
	}
}

// What a script does, it does too where a shell reads it: as a document, through
// a pipe, and as its argument.
func TestPromise_P17_AScriptIsTheSameThroughAPipe(t *testing.T) {
	checked := 0
	for _, line := range corpus(t) {
		if strings.ContainsFunc(line, unicode.IsControl) {
			continue
		}
		parts, err := shell.Parts(line, world())
		word, e := syntax.Quote(line, syntax.LangBash)
		if err != nil || e != nil || strings.HasPrefix(word, "$") {
			continue
		}
		for _, given := range []string{
			"bash <<'END'\n" + line + "\nEND\n", "bash -s x <<< " + word, "printf '%s\\n' " + word + " | bash", "cat <<< " + word + " | tee x | bash",
			"bash -c " + word,
		} {
			all, err := shell.Parts(given, world())
			if err != nil {
				t.Errorf("%q: %v", given, err)
				continue
			}
			if p, ok := includes(all, parts, line); !ok {
				t.Errorf("%q lacks %q: %q", given, told([]tool.Part{p}), told(all))
			}
			checked++
		}
	}
	if checked < 2000 {
		t.Errorf("only %d", checked)
	}
}

// R148: a call that changes a repository is known for one however git is called,
// so that a sandbox lets it write there.
func TestR148_GitThatChangesARepository(t *testing.T) {
	git := effect.Effect{Kind: effect.Git}
	for _, call := range []string{
		"git -c user.name=n -c user.email=e %", "git -c a.b=c %", "git -cuser.name=n %", "git --no-pager %", "git -P -C sub %", `git -C "$x" %`, "git --git-dir=.git --work-tree . %",
		"git --git-dir .git %", "git --frob %", "git --frob x %", "git $(echo -c) x %", "git --exec-path=/x -p %", "git --namespace n --bare %",
		"GIT_AUTHOR_NAME=n git %", "GIT_DIR=x git %", "env GIT_AUTHOR_NAME=n git %", "env -i git %", "sudo -u x git -c a=b %",
	} {
		for _, sub := range []string{
			"commit -m x", "commit --frob", "add .", "branch x", "tag v1", "tag -a v1 -m x", "remote add o u", "checkout -b x", "stash", "merge x", "worktree add w",
			"worktree prune", "config user.name n", "init", "push", "rebase x", "reset x",
		} {
			line := strings.Replace(call, "%", sub, 1)
			for _, line := range []string{line, "ls && " + line, "(" + line + ")", "sh -c '" + line + "'", "echo '" + line + "' | sh"} {
				parts, err := shell.Parts(line, world())
				if err != nil {
					t.Fatal(err)
				}
				proven := effect.Set{}
				for _, p := range parts {
					proven = append(proven, shell.Proven(p.Effects)...)
				}
				if !proven.Covers(effect.Set{git}) {
					t.Errorf("%q is not proven to change a repository: %q", line, told(parts))
				}
			}
		}
	}
}

// What says who, when and how it looks is understood.
func TestR146_SettingsOfGit(t *testing.T) {
	for line, want := range map[string][]string{
		"git -c user.name=n -c user.email=e commit -m x":             {"git -c user.name=n -c user.email=e commit -m x: git, process git, write .git/**, anything code"},
		"GIT_AUTHOR_NAME=n GIT_COMMITTER_DATE='1 2' git commit -m x": {"git commit -m x: git, process git, write .git/**, anything code"},
		"env GIT_AUTHOR_NAME=n git commit -m x":                      {"git commit -m x: git, process git, write .git/**, anything code"},
		"git -C sub commit -m x":                                     {"git -C sub commit -m x: read sub, git, process git, write sub/.git/**, anything code"},
		"git -C src -C .. commit -m x":                               {"git -C src -C .. commit -m x: read src, read ., git, process git, write .git/**, anything code"},
		"git -C /etc status":                                         {"git -C /etc status: read /etc, read ./**, process git, anything code"},
		"git -C . status":                                            {"git -C . status: read ., read ./**"},
		"git -c core.pager=cat -c color.ui=always log -1":            {"git -c core.pager=cat -c color.ui=always log -1: read ./**"},
		"git -c core.pager=less log -1":                              {"git -c core.pager=less log -1: anything, read ./**, process git, anything code"},
		"git -c core.fsmonitor status":                               {"git -c core.fsmonitor status: anything, read ./**, process git, anything code"},
		"git branch --list 'x*'":                                     {"git branch --list 'x*': read ./**"},
		"git branch --format --list x":                               {"git branch --format --list x: read ./**, process git, anything code, git, write .git/**"},
		"git tag -l 'v*'":                                            {"git tag -l 'v*': read ./**"},
		"git tag -n v1":                                              {"git tag -n v1: read ./**, process git, anything code, git, write .git/**"},
		"git remote get-url o":                                       {"git remote get-url o: read ./**"},
	} {
		parts, err := shell.Parts(line, world())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, told(parts)); d != "" {
			t.Errorf("%q\n%s", line, d)
		}
	}
	for _, set := range []string{
		"core.pager=id", "core.editor=id", "core.sshcommand=id", "alias.x=!id", "core.fsmonitor=id", "core.hookspath=x", "diff.external=id", "diff.x.textconv=id",
		"filter.x.clean=id", "gpg.program=id", "commit.gpgsign=true", "credential.helper=id", "include.path=x", "url.x.insteadof=y", "protocol.allow=always",
		"core.worktree=/", "core.attributesfile=x", "uploadpack.packobjectshook=id", "safe.bareRepository=all", "pager.log=id", "sequence.editor=id", "user.signingkey=x", "frob", "",
	} {
		parts, err := shell.Parts("git -c '"+set+"' log", world())
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) != 1 || !parts[0].Effects.Covers(effect.Set{{Kind: effect.Anything}}) {
			t.Errorf("%s passes: %q", set, told(parts))
		}
	}
}

// What gives a name to something else changes the name, wherever it leads.
func TestR146_NamesThatAreLinks(t *testing.T) {
	for line, want := range map[string]string{
		"rm out": "permanent, write /etc/passwd/**, write out/**", "unlink src/../out": "permanent, write /etc/passwd/**, write out/**",
		"cd src && rm ../out": "permanent, write /etc/passwd/**, write out/**", "rm /w/out": "permanent, write /etc/passwd/**, write out/**",
		"mv a.txt out": "read a.txt/**, write a.txt/**, write /etc/passwd, write out", "mv out b": "read /etc/passwd/**, write /etc/passwd/**, write out/**, permanent, write b",
		"ln -sf x out": "write /etc/passwd, write out", "ln -s ../x/y": "write y", "ln -sfn x sub": "write sub, write sub/x/**", "ln -sf x sub": "write sub/x/**",
		"cp --no-dereference a.txt out": "read a.txt/**, write /etc/passwd, write out", "cp -T a.txt sub": "read a.txt/**, write sub, write sub/a.txt/**",
		"sed -i s/a/b/ out": "read /etc/passwd, write /etc/passwd, write out", "install a.txt out": "read a.txt/**, write /etc/passwd, write out",
		"git rm out": "git, process git, permanent, write .git/index, write /etc/passwd/**, write out/**", "tee out": "write /etc/passwd",
	} {
		parts, err := shell.Parts(line, world())
		if err != nil {
			t.Fatal(err)
		}
		all := told(parts)
		if _, got, _ := strings.Cut(all[len(all)-1], ": "); got != want {
			t.Errorf("%q: %s; want %s", line, got, want)
		}
	}
}
