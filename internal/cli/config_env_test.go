package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBug_F01_CommandsGetAnAllowListOfTheEnvironment(t *testing.T) {
	kept := []string{
		"PATH=/bin", "HOME=/h", "LANG=de", "LC_ALL=C", "LC_CTYPE=C", "TERM=xterm", "TMPDIR=/t", "USER=u", "LOGNAME=u", "SHELL=/bin/sh", "TZ=UTC",
		"http_proxy=http://p", "https_proxy=http://p", "HTTPS_PROXY=http://p", "NO_PROXY=localhost", "no_proxy=a", "ALL_PROXY=socks5://p",
		"GOPATH=/g", "GOCACHE=/c", "GOMODCACHE=/m", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local",
		"CARGO_HOME=/c", "RUSTUP_HOME=/r", "JAVA_HOME=/j", "NVM_DIR=/n", "VIRTUAL_ENV=/v", "XDG_CACHE_HOME=/x", "EMPTY_IS_NOT=", "HOME=/again",
	}
	dropped := []string{
		"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "OPENAI_API_KEY=k", "GH_TOKEN=t", "GITHUB_TOKEN=t", "AWS_SECRET_ACCESS_KEY=s",
		"LD_PRELOAD=/evil.so", "LD_LIBRARY_PATH=/evil", "DYLD_INSERT_LIBRARIES=/evil", "BELAY_SESSION=s", "BELAY_TEST=1",
		"GIT_DIR=/x", "GIT_WORK_TREE=/x", "GIT_SSH_COMMAND=x", "BASH_ENV=/x", "ENV=/x", "PROMPT_COMMAND=x", "NODE_OPTIONS=-r x", "PYTHONPATH=/x",
		"SSH_AUTH_SOCK=/s", "PATHS=x", "XLC_ALL=x", "HOMEX=x", "notavariable", "=C:=x", "BASH_FUNC_ls%%=() { x; }",
	}
	s := System{Environ: slices.Concat(dropped, kept)}
	c := &Config{Settings: Settings{Pass: []string{"EMPTY_IS_NOT"}}}
	if d := cmp.Diff(kept, s.childEnv(c)); d != "" {
		t.Error(d)
	}
	c.Pass = append(c.Pass, "GH_TOKEN", "ANTHROPIC_API_KEY", "LD_PRELOAD", "GH_", "ABSENT") // by name, and only so
	want := slices.Concat([]string{"ANTHROPIC_API_KEY=k", "GH_TOKEN=t", "LD_PRELOAD=/evil.so"}, kept)
	if d := cmp.Diff(want, s.childEnv(c)); d != "" {
		t.Error(d)
	}
}

func TestBug_F01_SecretsThatBelayHolds(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", `
[env]
pass = ["GH_TOKEN", "MY_PAT", "EDITOR", "ABSENT_KEY"]
[providers.a]
key = "pre-${MINE}"
[providers.b]
key_env = "B_CREDENTIAL"
base_url = "https://me:hunter2@b.example/v1"
[providers.c]
base_url = "http://localhost:1"
`)
	s := System{Environ: []string{
		"MINE=mine", "B_CREDENTIAL=bbb", "GH_TOKEN=ghp", "MY_PAT=pat", "EDITOR=vi", "OTHER_KEY=not ours",
		"ANTHROPIC_API_KEY=sk-ant", "OPENAI_API_KEY=", "HOME=/h",
	}}
	c := load(t, Sources{User: file, Getenv: s.getenv})
	want := map[string]string{
		"providers.a.key": "pre-mine", "providers.b.key": "bbb", "B_CREDENTIAL": "bbb", "providers.b.base_url": "hunter2",
		"GH_TOKEN": "ghp", "MY_PAT": "pat", "ANTHROPIC_API_KEY": "sk-ant",
	}
	if d := cmp.Diff(want, s.secrets(c)); d != "" {
		t.Error(d)
	}
	for _, shown := range c.Shown() { // and settings are shown without them
		for _, secret := range []string{"pre-mine", "bbb", "hunter2"} {
			if strings.Contains(shown.Value, secret) {
				t.Errorf("%s is shown as %s", shown.Key, shown.Value)
			}
		}
	}
}
