package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// secrets are the places where credentials are known to be kept: each names a
// file, or a directory and all below it, at any depth.
var secrets = []string{
	".env*", "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx",
	"id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}", ".ssh", ".gnupg",
	".netrc", "_netrc", ".git-credentials", ".pgpass", ".htpasswd", ".pypirc", ".vault-token",
	"credentials.{json,toml,yml,yaml,ini,csv}", "credentials.tfrc.json", ".cargo/credentials",
	".aws", ".azure", ".kube", ".docker/config.json", ".dockercfg",
	".config/gcloud", ".config/gh/hosts.yml",
	"etc/shadow", "etc/gshadow", "proc/[0-9]*/environ",
}

// guarded are the paths whose content programs run or trust by themselves,
// written as secrets are.
var guarded = []string{
	// git and its hooks
	".git", ".gitmodules", ".gitattributes", ".gitconfig", ".husky",
	".pre-commit-config.yaml", "lefthook.{yml,yaml}",
	// rules and settings of agents, Belay's first
	".belay", ".config/belay", ".mcp.json", "agents.md", "agents.override.md", "code_law.md",
	"claude.md", "claude.local.md", "gemini.md", ".claude", ".codex", ".gemini",
	".cursor", ".cursorrules", ".windsurf", ".windsurfrules", ".clinerules",
	".github/copilot-instructions.md", ".github/instructions",
	// editors and shells
	".vscode", ".idea", ".devcontainer", ".envrc", ".ripgreprc",
	".{bash,zsh,ksh}rc", ".bash_{profile,login,logout,aliases}", ".profile",
	".z{shenv,profile,login,logout}", ".inputrc", ".config/fish", ".ssh",
	// package managers
	".npmrc", ".yarnrc*", ".cargo/config{,.toml}",
	// continuous integration
	".github/workflows", ".github/actions", ".gitlab-ci.{yml,yaml}", ".circleci", ".buildkite",
	".travis.yml", ".drone.yml", ".woodpecker", ".woodpecker.{yml,yaml}", "jenkinsfile",
	"azure-pipelines.{yml,yaml}", "bitbucket-pipelines.yml",
}

// secret reports whether e is on a known secret. A tree is one if it lies in
// one; that a search passes over those in it is for the search to see to.
func secret(e effect.Effect) bool { return among(secrets, e.On) }

// protected reports whether e is on a guarded path, or on a tree that may hold one.
func protected(e effect.Effect) bool { return among(guarded, e.On) || mayHoldGuarded(e) }

// mayHoldGuarded reports whether e is on a tree that may hold a guarded path: the
// whole workspace, or the first element of one.
func mayHoldGuarded(e effect.Effect) bool {
	if !e.Tree {
		return false
	}
	switch e.On {
	case "", ".", "/":
		return true
	}
	last := strings.ToLower(path.Base(e.On))
	return slices.ContainsFunc(guarded, func(pattern string) bool {
		first, _, more := strings.Cut(pattern, "/")
		return more && first == last
	})
}

// gitData are what git keeps for itself, below its directory.
var gitData = []string{"index", "head", "objects", "refs", "logs", "packed-refs", "orig_head", "fetch_head", "merge_head", "commit_editmsg"}

// workaday reports whether a command that a rule allows by its words may do e
// although it is protected: work on a tree that only may hold a guarded path, or on
// what git keeps for itself. What is named as guarded stays so.
func workaday(e effect.Effect) bool {
	before, below, git := strings.Cut("/"+strings.ToLower(e.On)+"/", "/.git/")
	if !git || among(guarded, strings.TrimPrefix(before, "/")) {
		return e.Tree && !among(guarded, e.On)
	}
	first, _, _ := strings.Cut(below, "/")
	return first == "" && e.Tree || slices.Contains(gitData, first)
}

// among compares without regard to case, as some file systems do.
func among(patterns []string, p string) bool {
	for p = strings.ToLower(p); p != ""; p = p[:max(0, strings.LastIndex(p, "/"))] {
		if slices.ContainsFunc(patterns, func(pattern string) bool {
			return doublestar.MatchUnvalidated("**/"+pattern, p)
		}) {
			return true
		}
	}
	return false
}

// revealing reports whether r lets a secret be read: it allows, and its pattern
// is itself the name of a secret, without alternatives that are none.
func (r Rule) revealing() bool {
	return r.Verdict == Allow && !strings.ContainsAny(r.Pattern, `{[\`) && among(secrets, r.Pattern)
}
