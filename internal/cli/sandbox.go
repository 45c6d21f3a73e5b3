package cli

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/belay-agent/belay/internal/world/process"
)

// secretPlaces are where keys are kept, below a home directory. A command sees
// one of them if it was let read just that.
var secretPlaces = []string{
	".ssh", ".gnupg", ".netrc", ".git-credentials", ".password-store", ".pgpass", ".my.cnf", ".vault-token",
	".aws", ".azure", ".config/gcloud", ".kube", ".docker/config.json", ".config/containers/auth.json", ".terraform.d", ".config/doctl",
	".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".config/gh", ".config/hub", ".config/glab-cli", ".config/github-copilot", ".config/op", ".config/rclone", ".config/sops",
	".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium",
	".claude", ".claude.json", ".codex", ".gemini", ".local/share/opencode", ".aider.conf.yml",
	".bash_history", ".zsh_history", ".python_history", ".psql_history",
}

// secretFiles are the same for the whole system.
var secretFiles = []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private", "/etc/krb5.keytab"}

// protectedPaths are what in a workspace has programs run that nobody asked for:
// an editor, a shell, a package manager, git, a server that builds, or an agent.
// The .git directory is protected besides.
var protectedPaths = []string{
	".gitmodules", ".gitattributes", ".husky", ".vscode", ".idea", ".devcontainer", ".envrc",
	".npmrc", ".yarnrc", ".yarnrc.yml", ".ripgreprc", ".mcp.json",
	".github/workflows", ".gitlab-ci.yml", ".circleci", ".travis.yml", "Jenkinsfile", "azure-pipelines.yml",
	".belay", "AGENTS.md", "CODE_LAW.md", "CLAUDE.md",
}

// cachePlaces are, below a home directory, where builds keep what they can make
// again, and what they fetched.
var cachePlaces = []string{
	".cache", "go", ".npm", ".yarn", ".bun", ".local/share/pnpm", ".m2", ".gradle", ".cargo", ".rustup", ".nuget", ".dotnet",
	".ivy2", ".sbt", ".gem", ".bundle", ".composer", ".pub-cache", ".hex", ".mix", ".stack", ".cabal", ".conan", ".ccache", ".terraform",
}

// sandbox returns what holds commands in the workspace at root.
func (s System) sandbox(root string) process.Sandbox {
	box := process.Sandbox{Program: s.Program, Root: root, Limits: process.UsualLimits(), Secrets: slices.Clone(secretFiles)}
	box.Upstream, box.Direct = s.upstream()
	for _, dir := range []string{s.stateDir(), s.configDir()} {
		if dir != "" {
			box.Hidden = append(box.Hidden, dir)
		}
	}
	for _, path := range protectedPaths {
		box.Protected = append(box.Protected, filepath.Join(root, filepath.FromSlash(path)))
	}
	home := s.getenv("HOME")
	if !filepath.IsAbs(home) {
		return box
	}
	for _, path := range secretPlaces {
		box.Secrets = append(box.Secrets, filepath.Join(home, path))
		if own := ownHome(); own != "" && own != home {
			box.Secrets = append(box.Secrets, filepath.Join(own, path))
		}
	}
	for _, path := range cachePlaces {
		box.Caches = append(box.Caches, filepath.Join(home, path))
	}
	for _, name := range []string{"XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "CARGO_HOME", "RUSTUP_HOME"} {
		if dir := s.getenv(name); filepath.IsAbs(dir) && !slices.Contains(box.Caches, dir) {
			box.Caches = append(box.Caches, filepath.Clean(dir))
		}
	}
	return box
}

// ownHome returns the home directory that the system has for this user, whatever
// the environment says, "" if it has none.
func ownHome() string {
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return ""
	}
	return filepath.Clean(u.HomeDir)
}

// program returns where this program is, "" if nobody knows: then it cannot be
// started again to hold a command.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
