package policy

import (
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
)

func TestSecrets(t *testing.T) {
	for p, want := range map[string]bool{
		".env": true, "a/.env": true, ".env.local": true, ".ENV": true, ".envrc": true,
		"k.pem": true, "a/K.PEM": true, "tls/server.key": true, "id_rsa": true, "id_ed25519": true,
		"/home/u/.ssh/config": true, "/home/u/.netrc": true, "/home/u/.aws/credentials": true,
		"/home/u/.config/gcloud/x/y": true, "/etc/shadow": true, "/proc/self/environ": true,
		"credentials.json": true, "/home/u/.cargo/credentials": true, "/home/u/.docker/config.json": true,
		"": false, ".": false, "/": false, "src": false, "env": false, "a.env": false, "pem": false,
		"id_rsa.pub": false, "id_map.go": false, "internal/credentials/a.go": false, "keys.go": false,
		"/etc/hosts": false, "/proc/self/status": false, "docker/config.json": false,
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
