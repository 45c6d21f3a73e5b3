package shell_test

import (
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// R146: lines that only look as if they read the workspace.
func TestR146_WhatOnlyLooksLikeReading(t *testing.T) {
	for _, line := range []string{
		// More options than are seen at first.
		"bash -cls 'rm a.txt'", "bash -cx ls a", "sh -c -e ls", "ls -la --out=x", "sort --output a.txt", "git diff --outp=x", "rg --pr id x",
		// One shell reads what another does not.
		"sh -c 'cat {a.txt,/etc/passwd}'", `sh -c "cat $'a.txt'"`, "sh -c 'echo a\\033c'", "sh -c '((x=$(id)))'", "sh -c '[[ -v x ]]'",
		// Brackets that hide an end.
		"sed 's/[]/]/;s/e;s/a/b/' a.txt", "sed 's/[^]/]/x/e' a.txt", `sed 's/[\]/]/x/e' a.txt`, "sed 's/[[:alpha:]/]/x/e' a.txt", "sed 's/[[.x.]/]/x/e' a.txt",
		"sed 'p w x' a.txt", "sed -n '1{p;w x\n}' a.txt", "sed '}' a.txt", "sed '{p' a.txt", "sed 'b;e id' a.txt", "sed ':a;s/x/y/;ta' a.txt",
		"printf %n PATH", "printf '%b' x", "printf '%(x)T'", "printf '%", "printf '\\e'", "printf", "echo -e '\\e'",
		// Where a line is.
		"command cd sub && cat ../../x", "cd sub; cd ..; cd ..; cat x", "cd - && cat a.txt", "cd; cat a.txt", "for d in sub ..; do cd $d; done; cat x/../../y",
		// What is only a name.
		"git 'stash/list' x", "git status x/../../y", "go 'mod/graph'", "'= ls' a", "ls\n/a",
		// Secrets by patterns.
		"grep -r --include='*' x .", "grep -r --include='.env*' x .", "grep -r --include='*.go' --include='*.env' x .", "rg -g '.env' x", "rg --iglob '*' x",
		"git show HEAD:.env", "git diff .env", "git log -- ./.env", "cat .e*", "cat k.*",
		// Words that hang on what is not known.
		"read -r x; grep \"$x\" a.txt", "read -r x; [ \"$x\" y ]", "read -r x; cat -n$x", "read -r x; head -n\"$x\" a.txt", "x=$y; ls $x",
		"timeout 5 evil", "xargs evil", "evil", "nice -n 5 env evil", "env A=b ls", "exec ls", "builtin echo x",
		"IFS=x ls", "IFS=$(id) read -r x", "IFS=x; read -r y", "LANG=a/b ls", "LC_ALL=$x ls",
	} {
		parts, _ := shell.Parts(line, world())
		passes := true
		for _, p := range parts {
			for _, e := range p.Effects {
				passes = passes && e.Kind == effect.Read && e.Inside() && e.On != ".env" && e.On != "k.pem"
			}
		}
		if passes {
			t.Errorf("%q passes: %q", line, told(parts))
		}
	}
}

// What reads and is written as people write it is not asked about.
func TestWhatIsPlain(t *testing.T) {
	for _, line := range []string{
		"sed 's/[[:space:]]*$//' a.txt", "sed -E 's/[a-z]+/x/g' a.txt", "sed '/^#/d;/^$/d' a.txt", "sed -n '/a/,/b/{p;=;}' a.txt", "sed 's,a,b,' a.txt",
		`grep -n "a\.b" a.txt`, "while IFS= read -r l; do echo \"$l\"; done < a.txt", "while IFS=, read -r a b; do printf '%s %5d\\n' \"$a\" \"$b\"; done < a.txt",
		"git diff HEAD~1..HEAD", "git show HEAD:src/main.go", "git log main..other -- src", "git stash list", "rg -g '*.go' x", "rg -g '!sub' x",
		"bash -c 'ls src'", "bash -ec 'ls'", "sh -c 'cat a.txt | head'", "cd sub && cat c.txt", "command cd src && cat main.go", "(cd src; ls); cat a.txt",
		"for f in a b; do echo $f; done", "x=src; ls $x", "test -f a.txt && cat a.txt", "[ ! -f a.txt ] || [ -d src -a -d sub ]",
	} {
		parts, err := shell.Parts(line, world())
		if err != nil {
			t.Error(err)
		}
		for _, p := range parts {
			for _, e := range p.Effects {
				if e.Kind != effect.Read || !e.Inside() {
					t.Errorf("%q: %s: %s (%s)", line, p.Name, e, p.Why)
				}
			}
		}
	}
}

// R148, R307: what the list of dangers names is known as what it is, behind any
// wrapper, and no reading of the network passes for one of the workspace.
func TestR148_DangersAreKnownForWhatTheyAre(t *testing.T) {
	permanent, network := effect.Effect{Kind: effect.Permanent}, effect.Effect{Kind: effect.Network}
	process := effect.Effect{Kind: effect.Process}
	for line, want := range map[string]effect.Effect{
		"rm -rf build": permanent, "rm a.txt": permanent, "mkfs.ext4 /dev/sda1": permanent, "fdisk /dev/sda": permanent, "dd if=a.txt of=/dev/sda": permanent,
		"git push --force": permanent, "git push origin :main": permanent, "git push origin +main": permanent, "git reset --hard": permanent,
		"git clean -fd": permanent, "git checkout -- .": permanent, "git branch -D x": permanent, "git stash drop": permanent, "git commit --amend": permanent,
		"npm publish": permanent, "cargo publish": permanent, "docker system prune -a": permanent, "docker rm -f x": permanent, "docker push x": permanent,
		"kubectl delete pod x": permanent, "kubectl apply -f a.txt": permanent, "terraform apply": permanent, "terraform destroy -auto-approve": permanent,
		"gh pr merge 1": permanent, "gh api -X DELETE repos/x/y": permanent, "rsync -a --delete src/ x:/y": permanent, "find . -delete": permanent,
		"kill -9 1": permanent, "shutdown now": permanent, "truncate -s 0 a.txt": permanent, "shred a.txt": permanent, "crontab -r": permanent,
		"curl https://x.test": network, "wget x.test": network, "ssh x.test ls": network, "scp a.txt x.test:": network, "git fetch": network, "git clone https://x.test/y": network,
		"nc x.test 80": network, "pip install x": network, "npm install": network, "go get x.test/y": network, "docker run x": network, "gh pr list": network, "aws s3 ls": network,
		"sudo ls": process, "su -c ls": process, "vim a.txt": process, "nano a.txt": process, "top": process, "make": process, "go test ./...": process, "python3 x.py": process, "npm test": process,
	} {
		for _, wrapped := range []string{line, "timeout 5 " + line, "true && " + line + " | cat", "nice -n 1 env " + line, "xargs " + line, "bash -c '" + line + "'", "if " + line + "; then ls; fi", "echo \"$(" + line + ")\""} {
			parts, err := shell.Parts(wrapped, world())
			if err != nil {
				t.Fatal(err)
			}
			proven := false
			for _, p := range parts {
				for _, e := range shell.Proven(p.Effects) {
					proven = proven || e.Kind == want.Kind
				}
			}
			if !proven {
				t.Errorf("%q has no proven %s: %q", wrapped, want, told(parts))
			}
		}
	}
}
