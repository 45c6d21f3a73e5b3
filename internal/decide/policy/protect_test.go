package policy

import (
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func TestSecrets(t *testing.T) {
	for p, want := range map[string]bool{
		".env": true, "a/.env": true, ".env.local": true, ".ENV": true, ".envrc": true,
		"k.pem": true, "a/K.PEM": true, "tls/server.key": true, "id_rsa": true, "id_ed25519": true,
		"/home/u/.ssh/config": true, "/home/u/.netrc": true, "/home/u/.aws/credentials": true,
		"/home/u/.config/gcloud/x/y": true, "/etc/shadow": true, "/proc/1/environ": true,
		"credentials.json": true, "/home/u/.cargo/credentials": true, "/home/u/.docker/config.json": true,
		"": false, ".": false, "/": false, "src": false, "env": false, "a.env": false, "pem": false,
		"id_rsa.pub": false, "id_map.go": false, "internal/credentials/a.go": false, "keys.go": false,
		"/etc/hosts": false, "/proc/self/environ": false, "/proc/1/status": false, "docker/config.json": false,
	} {
		if got := secret(effect.Effect{Kind: effect.Read, On: p}); got != want {
			t.Errorf("%q is a secret: %t, want %t", p, got, want)
		}
	}
}

func TestProtectedPaths(t *testing.T) {
	for p, want := range map[string]bool{
		".git": true, ".git/hooks/pre-commit": true, ".GIT/config": true, "sub/.git/config": true,
		".git/objects/ab/cd": true, ".gitmodules": true, "a/.gitattributes": true, ".husky/pre-push": true,
		".envrc": true, ".vscode/tasks.json": true, ".idea/x": true, ".npmrc": true, ".yarnrc.yml": true,
		".github/workflows/ci.yml": true, ".GitHub/Workflows/ci.yml": true, ".gitlab-ci.yml": true, "Jenkinsfile": true,
		".belay/config.toml": true, "AGENTS.md": true, "sub/agents.md": true, "CLAUDE.md": true, "CODE_LAW.md": true,
		".mcp.json": true, "/home/u/.bashrc": true, "/home/u/.zshenv": true, "/home/u/.ssh/authorized_keys": true,
		".cargo/config.toml": true, ".cargo/config": true,
		"": false, ".": false, "src/a.go": false, ".gitignore": false, "git/config": false, ".github/dependabot.yml": false,
		".github": false, "agents.md.txt": false, "docs/agents/a.md": false, "x.git": false, "vscode/a": false,
	} {
		if got := protected(effect.Effect{Kind: effect.Write, On: p}); got != want {
			t.Errorf("%q is protected: %t, want %t", p, got, want)
		}
	}
	for p, want := range map[string]bool{
		"": true, ".": true, "/": true, ".github": true, "a/.GitHub": true, ".config": true, "src": false, "github": false,
	} {
		if got := protected(effect.Effect{Kind: effect.Write, On: p, Tree: true}); got != want {
			t.Errorf("the tree %q is protected: %t, want %t", p, got, want)
		}
	}
}

func TestOnlyTheNameOfASecretRevealsIt(t *testing.T) {
	for pattern, want := range map[string]bool{
		".env": true, "**/.env*": true, "config/.env.test": true, "**/*.pem": true, "/home/u/.aws/": true, ".ENV": true,
		"": false, "**": false, "*": false, "src/**": false, ".e*": false, "*env": false,
		"{**,/.aws/b}": false, "{a,.env}": false, "[.]env": false, `\.env`: false,
	} {
		r := Rule{Tool: "Read", Pattern: pattern, Verdict: Allow, Source: FromUser}
		if got := r.revealing(); got != want {
			t.Errorf("%s reveals a secret: %t, want %t", r, got, want)
		}
		if r.Verdict = Ask; r.revealing() {
			t.Errorf("%s reveals a secret although it asks", r)
		}
	}
}

// A rule that allows a command by its words lets it work on trees, and git on what
// is git's own, but not write what others trust.
func TestAnAllowedCommandMayWorkOnTrees(t *testing.T) {
	for _, tt := range []struct {
		does effect.Effect
		want Verdict
	}{
		{effect.Effect{Kind: effect.Write, On: ".", Tree: true}, Allow},
		{effect.Effect{Kind: effect.Write, On: ".github", Tree: true}, Allow},
		{effect.Effect{Kind: effect.Write, On: ".git", Tree: true}, Allow},
		{effect.Effect{Kind: effect.Write, On: ".git/index"}, Allow},
		{effect.Effect{Kind: effect.Write, On: "sub/.GIT/HEAD"}, Allow},
		{effect.Effect{Kind: effect.Write, On: ".git/refs", Tree: true}, Allow},
		{effect.Effect{Kind: effect.Write, On: ".git"}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".git/hooks/index"}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".git/hooks", Tree: true}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".git/config"}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".git/info/attributes"}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".git/modules/x/hooks/y"}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".belay/.git/index"}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".github/workflows", Tree: true}, Ask},
		{effect.Effect{Kind: effect.Write, On: ".envrc"}, Ask},
		{effect.Effect{Kind: effect.Read, On: ".env"}, Ask},
	} {
		part := tool.Part{Name: "git commit", Effects: effect.Set{tt.does, {Kind: effect.Process}}}
		for _, s := range []string{"Bash(git commit)", "Bash(git **)"} {
			if got := (Policy{Rules: []Rule{rule(t, s, Allow)}}).Decide(bash, []tool.Part{part}); got.Verdict != tt.want {
				t.Errorf("%s, by %s: %+v, want %s", tt.does, s, got, tt.want)
			}
		}
		if got := (Policy{Rules: []Rule{rule(t, "Bash", Allow)}}).Decide(bash, []tool.Part{part}); got.Verdict != Ask {
			t.Errorf("%s, by Bash: %+v", tt.does, got)
		}
	}
}
