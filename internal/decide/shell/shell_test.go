package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// R146: a line is parsed, and each of its commands has a part with its effects.
func TestR146_Parts(t *testing.T) {
	tests := []struct {
		name, line string
		want       []string
	}{
		{"nothing", " # only a comment", nil},
		{"a command", "ls -la src", []string{"ls -la src: read src/**"}},
		{"an option that is not known", "ls --frobnicate", []string{"ls --frobnicate: anything, read ./**"}},
		{"a program that is not known", "frob a", []string{"frob a: process frob, anything"}},
		{"a program of the workspace", "evil a", []string{"evil a: process evil, anything"}},
		{"by a path", "./build.sh", []string{"./build.sh: anything, process build.sh"}},

		{"a list", "cat a.txt; rm b.txt", []string{"cat a.txt: read a.txt", "rm b.txt: permanent, write b.txt/**"}},
		{"a pipe", "cat a.txt | wc -l", []string{"cat a.txt: read a.txt", "wc -l: "}},
		{"a pipe into a shell", "cat a.txt | sh", []string{"cat a.txt: read a.txt", "sh: process sh, anything code"}},
		{"branches", "if test -f a.txt; then rm a.txt; else touch c; fi", []string{
			"test -f a.txt: read a.txt", "rm a.txt: permanent, write a.txt/**", "touch c: write c",
		}},
		{"a loop over words", `for f in a.txt b.txt; do wc -l "$f"; done`, []string{"wc -l a.txt: read a.txt", "wc -l b.txt: read b.txt"}},
		{"a loop over files", "for f in src/*; do rm $f; done", []string{
			"rm src/main.go: permanent, write src/main.go/**", "rm src/util.py: permanent, write src/util.py/**",
		}},
		{"a loop over lines", `while read -r l; do echo "$l"; done < a.txt`, []string{"< a.txt: read a.txt", "read -r l: ", `echo "$l": `}},
		{"a group and a background", "(cat a.txt) & { ls; }", []string{"(cat a.txt) &: process", "cat a.txt: read a.txt", "ls: read ./**"}},
		{"a function", "f() { rm a.txt; }; f", []string{
			"f() { rm a.txt; }: anything", "rm a.txt: permanent, write, anything", "f: process f, anything",
		}},
		{"a case", "case x in x) rm a.txt;; esac", []string{"case x in x) rm a.txt;; esac: anything", "rm a.txt: permanent, write a.txt/**"}},

		{"where it is", "cd src && cat main.go && cd .. && cat a.txt", []string{
			"cd src: read src", "cat main.go: read src/main.go", "cd ..: read ., read src", "cat a.txt: read a.txt",
		}},
		{"where it may be", "cd src; cat main.go", []string{"cd src: read src", "cat main.go: read src/main.go, read main.go"}},
		{"a subshell goes nowhere", "(cd src); cat a.txt", []string{"cd src: read src", "cat a.txt: read a.txt"}},
		{"out and back", "cd src/../..; cat a.txt", []string{"cd src/../..: read /", "cat a.txt: read, anything"}},
		{"left early", "for i in 1; do cd src; break; cd ..; done; cat main.go", []string{
			"cd src: read src", "break: ", "cd ..: read ., read /, read src", "cat main.go: read, anything",
		}},

		{"redirections", "echo x > f 2>> g < a.txt", []string{"> f: write f", "2>> g: write g", "< a.txt: read a.txt", "echo x: "}},
		{"of descriptors", "ls >/dev/null 2>&1", []string{"ls: read ./**"}},
		{"of devices", "tee /dev/stderr </dev/urandom >/dev/stdout", []string{"tee /dev/stderr: "}},
		{"a device itself", "chmod 0 /dev/null; chmod 0 /dev/stdout; cp a.txt /dev/zero", []string{
			"chmod 0 /dev/null: write /dev/null/**", "chmod 0 /dev/stdout: write /dev/stdout/**", "cp a.txt /dev/zero: read a.txt/**, write /dev/zero",
		}},
		{"to a socket", "cat < /dev/tcp/x.test/80", []string{"< /dev/tcp/x.test/80: network x.test, read /dev/tcp/x.test/80", "cat: "}},
		{"a document", "cat <<'E'\n$(rm a.txt)\nE", []string{"cat: "}},
		{"a document that runs", "cat <<E\n$(rm a.txt)\nE", []string{"rm a.txt: permanent, write a.txt/**", "<<E: anything", "cat: "}},
		{"an assignment", "x=1", nil},
		{"one that counts", "PATH=. ls", []string{"PATH=.: anything", "ls: read ./**"}},
		{"one that does not", "LC_ALL=C sort a.txt", []string{"sort a.txt: read a.txt"}},
		{"a substitution", "echo $(rm a.txt)", []string{"rm a.txt: permanent, write a.txt/**", "echo $(rm a.txt): anything"}},
		{"a pipe as a file", "diff <(sort a.txt) b.txt", []string{"sort a.txt: read a.txt", "diff <(sort a.txt) b.txt: read b.txt"}},
		{"a variable as a command", "x=rm; $x a.txt", []string{"rm a.txt: anything, permanent, write a.txt/**"}},
		{"quotes in a command", `r''m a.txt`, []string{"rm a.txt: anything, permanent, write a.txt/**"}},
		{"braces", "{rm,a.txt}", []string{"rm a.txt: anything, permanent, write a.txt/**"}},
		{"a pattern with an option in it", "cat *", []string{"cat *: anything, read a.txt, read b.txt, read src, read sub, read k.pem"}},

		{"wrappers", "env time timeout -k 1 5 nice -n 3 nohup rm a.txt", []string{
			"rm a.txt: permanent, write a.txt/**", "nohup rm a.txt: process nohup, write nohup.out", "time timeout -k 1 5 nice -n 3 nohup rm a.txt: process time",
		}},
		{"another environment", "env X=1 ls", []string{"ls: anything, read ./**", "env X=1 ls: anything"}},
		{"another user", "sudo rm -rf /etc/x", []string{
			"rm -rf /etc/x: anything, permanent, write /etc/x/**", "sudo rm -rf /etc/x: process sudo, anything",
		}},
		{"xargs", "ls | xargs rm", []string{"ls: read ./**", "rm ...: anything, permanent, write"}},
		{"xargs with words only", "xargs -n1 echo < a.txt", []string{"< a.txt: read a.txt", "echo ...: "}},
		{"a script", `bash -c 'cat a.txt; rm "$1"' _ b.txt`, []string{"cat a.txt: read a.txt", `rm b.txt: permanent, write b.txt/**`}},
		{"a script in a script", `sh -c "bash -c 'touch c'"`, []string{"touch c: write c"}},
		{"find", "find src -name '*.go' -delete", []string{"find src -name '*.go' -delete: read src/**, write src/**, permanent"}},
		{"find and run", `find . -exec rm {} \;`, []string{"rm {}: anything, permanent, write", `find . -exec rm {} ';': anything, read ./**, process`}},

		{"a file and where it goes", "cp a.txt sub", []string{"cp a.txt sub: read a.txt/**, write sub/a.txt/**"}},
		{"a file and its copy", "cp a.txt c.txt", []string{"cp a.txt c.txt: read a.txt/**, write c.txt"}},
		{"outside", "cat out ../x", []string{"cat out ../x: read /etc/passwd, read /x"}},
		{"a known secret in a search", "grep -r x .", []string{"grep -r x .: read ./**, read .env, read k.pem"}},
		{"tests", "go test ./...", []string{"go test ./...: process go, read ./**, resource cache:go-build, anything code"}},
		{"a commit", "git commit -qm x", []string{"git commit -qm x: git, process git, write .git/**, anything code"}},
		{"a push", "git push origin main", []string{"git push origin main: git, process git, network, write .git/**, anything code"}},
		{"a push that takes away", "git push -f", []string{"git push -f: permanent, git, process git, network, write .git/**, anything code"}},
		{"a download", "curl -s https://X.test:8443/y -o z", []string{"curl -s https://X.test:8443/y -o z: write z, process curl, network x.test"}},
		{"an upload", "curl -d @a.txt http://u:p@x.test/", []string{"curl -d @a.txt http://u:p@x.test/: read a.txt, process curl, network x.test"}},
		{"a deletion elsewhere", "kubectl delete pod x", []string{"kubectl delete pod x: process kubectl, network, permanent"}},
		{"git that reads", "git log -3 && git status", []string{"git log -3: read ./**", "git status: read ./**"}},
		{"git beside more", "git status; make", []string{
			"git status: read ./**, process git, anything code", "make: process make, read ./**, anything code",
		}},
		{"git elsewhere", "cd sub && git status", []string{"cd sub: read sub", "git status: read ./**, process git, anything code"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts, err := shell.Parts(tt.line, world())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, told(parts)); d != "" {
				t.Errorf("%s\n%s", tt.line, d)
			}
		})
	}
}

// What is no script has what was understood of it, and a part that may be anything.
func TestWhatIsNoScript(t *testing.T) {
	for _, line := range []string{
		"rm a.txt\necho 'x", "rm a.txt\nif true; then", "rm a.txt\ncat <<E\n", "rm a.txt\nls)", "rm a.txt;;", "rm a.txt\n\x00", "rm a.txt\r\n",
		"rm a.txt # \xff", "rm a.txt # " + strings.Repeat("x", 5<<10), strings.Repeat("(", 10_000), strings.Repeat("$(", 1000),
		"rm a.txt\n" + strings.Repeat("bash -c '", 1), "cat a.txt\u00a0b",
	} {
		parts, _ := shell.Parts(line, world())
		var all effect.Set
		for _, p := range parts {
			all = append(all, p.Effects...)
		}
		if !slices.Contains(all, effect.Effect{Kind: effect.Anything}) {
			t.Errorf("%.40q: %v", line, told(parts))
		}
		if strings.HasPrefix(line, "rm a.txt\n") && !slices.Contains(all, effect.Effect{Kind: effect.Permanent}) {
			t.Errorf("%.40q loses what was understood: %v", line, told(parts))
		}
	}
}

// Only a sandbox's bound takes the place of effect.Anything: what is proven stays.
func TestProven(t *testing.T) {
	parts, err := shell.Parts("make deploy; git push --force origin x", world())
	if err != nil {
		t.Fatal(err)
	}
	code := effect.Effect{Kind: effect.Anything, On: shell.Code}
	for _, p := range parts {
		if !slices.Contains(p.Effects, code) || p.Why == "" {
			t.Errorf("%s runs code: %v, %q", p.Name, p.Effects, p.Why)
		}
		proven := shell.Proven(p.Effects)
		if len(proven) != len(p.Effects)-1 || slices.Contains(proven, code) {
			t.Errorf("%s: %v of %v", p.Name, proven, p.Effects)
		}
	}
	if last := shell.Proven(parts[len(parts)-1].Effects); !last.Covers(effect.Set{{Kind: effect.Permanent}, {Kind: effect.Network}, {Kind: effect.Git}}) {
		t.Errorf("a push that takes away: %v", last)
	}
}

func TestEnviron(t *testing.T) {
	env := []string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "LD_PRELOAD=x", "GIT_PAGER=x", "RIPGREP_CONFIG_PATH=x", "BASH_ENV=x", "PS4=$(x)"}
	parts := func(line string) []tool.Part {
		p, err := shell.Parts(line, world())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if got, profile := shell.Environ(parts("make"), env); !slices.Equal(got, env) || profile != "" {
		t.Errorf("make: %q %v", profile, got)
	}
	if got, profile := shell.Environ(parts("ls"), env); !slices.Equal(got, env[:3]) || profile != "" {
		t.Errorf("ls: %q %v", profile, got)
	}
	if got, profile := shell.Environ(parts("env | sort"), env); !slices.Equal(got, env) || profile != "" {
		t.Errorf("what shows the environment: %q, %q", got, profile)
	}
	got, profile := shell.Environ(parts("git status | cat"), env)
	if profile != shell.Hardened || !slices.Contains(got, "GIT_OPTIONAL_LOCKS=0") || slices.Contains(got, "GIT_PAGER=x") {
		t.Errorf("git: %q %v", profile, got)
	}
	if _, profile := shell.Environ(parts("git status; git commit"), env); profile != "" {
		t.Errorf("a commit: %q", profile)
	}
}

// Every line of the tables is read: a kind or an effect that is not known would
// show as one that is not bounded.
func TestTablesAreUnderstood(t *testing.T) {
	for _, name := range shell.Programs() {
		words := strings.ReplaceAll(name, "/", " ")
		for _, tail := range []string{"", " a.txt", " a.txt b.txt", " +1 b.txt c.txt"} {
			parts, err := shell.Parts(words+tail, world())
			if err != nil {
				continue // a word of the shell, such as time
			}
			for _, p := range parts {
				if strings.Contains(p.Why, "the table of") {
					t.Errorf("%s: %s", words+tail, p.Why)
				}
			}
		}
	}
}
