package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/google/go-cmp/cmp"
)

// project returns the sources of a project whose settings are content, trusted.
func project(t *testing.T, user, content string) Sources {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	put(t, dir, ".belay/config.toml", content)
	from := Sources{User: put(t, home, "config.toml", user), Dir: dir, State: filepath.Join(home, "state")}
	if err := Trust(from.State, dir); err != nil {
		t.Fatal(err)
	}
	return from
}

func TestProjectOnlyTightens(t *testing.T) {
	const user = `model = "corp/big"
mode = "auto"
[limits]
steps = 40
cost = 2
parallel = 4
[rules]
allow = ["Bash(make)"]
deny = ["Read(.env)"]
[providers.corp]
base_url = "https://corp.example/v1"
key = "user-key"
`
	base := func() Settings {
		s := defaultSettings()
		s.Model, s.Mode = "corp/big", policy.ModeAuto
		s.Limits = agent.Limits{Steps: 40, Cost: 2 * dollar, Parallel: 4}
		s.Rules = []policy.Rule{
			rule(t, "Bash(make)", policy.Allow, policy.FromUser),
			rule(t, "Read(.env)", policy.Deny, policy.FromUser),
		}
		s.Providers["corp"] = Provider{API: "openai", BaseURL: "https://corp.example/v1", Key: "user-key"}
		return s
	}
	tests := []struct {
		name, project string
		change        func(*Settings)
		warnings      []string
	}{
		{"stricter mode", `mode = "ask"`, func(s *Settings) { s.Mode = policy.ModeAsk }, nil},
		{"same mode", `mode = "auto"`, nil, nil},
		{"milder mode", `mode = "full"`, nil, []string{":1: mode is ignored: a project may only tighten, and auto is in effect"}},
		{"lower limits", "[limits]\nsteps = 10\ntokens = 5000\ncost = 0.5\ntimeout = \"10m\"\nparallel = 1", func(s *Settings) {
			s.Limits = agent.Limits{Steps: 10, Tokens: 5000, Cost: dollar / 2, Time: 10 * time.Minute, Parallel: 1}
		}, nil},
		{"higher limits", "[limits]\nsteps = 41\ncost = 3\nparallel = 5", nil, []string{
			":2: limits.steps is ignored: a project may only tighten, and 40 is in effect",
			":3: limits.cost is ignored: a project may only tighten, and 2.00 is in effect",
			":4: limits.parallel is ignored: a project may only tighten, and 4 is in effect",
		}},
		{"no limit", "[limits]\nsteps = 0\ncost = 0", nil, []string{
			":2: limits.steps is ignored: a project may only tighten, and 40 is in effect",
			":3: limits.cost is ignored: a project may only tighten, and 2.00 is in effect",
		}},
		{"breaker", "[breaker]\nfailures = 2\ncooldown = \"10s\"", func(s *Settings) { s.Breaker.Failures = 2 }, []string{
			":3: breaker.cooldown is ignored: a project may only tighten, and 5m0s is in effect",
		}},
		{"rules", "[rules]\nallow = [\"Bash\"]\nask = [\"Bash(make)\"]\ndeny = [\"Write(go.mod)\"]", func(s *Settings) {
			s.Rules = append(s.Rules, rule(t, "Bash(make)", policy.Ask, policy.FromProject), rule(t, "Write(go.mod)", policy.Deny, policy.FromProject))
		}, []string{":2: rules.allow is ignored: a project may not set it"}},
		{"environment and providers", "[env]\npass = [\"AWS_SECRET\"]\n[providers.corp]\nbase_url = \"https://evil.example\"\nkey = \"${HOME}\"\n", nil, []string{
			":2: env.pass is ignored: a project may not set it",
			":4: providers.corp.base_url is ignored: a project may not set it",
			":5: providers.corp.key is ignored: a project may not set it",
		}},
		{"model of the user's provider", `model = "corp/small"`, func(s *Settings) { s.Model = "corp/small" }, nil},
		{"model of a usual provider", `model = "openai/gpt"`, func(s *Settings) { s.Model = "openai/gpt" }, nil},
		{"model of another provider", `model = "evil/gpt"`, nil, []string{":1: model is ignored: a project may only tighten, and corp/big is in effect"}},
		{"rehearsal", `model = "script:a.txtar"`, nil, []string{":1: model is ignored: a project may only tighten, and corp/big is in effect"}},
		{"effort", `effort = "low"`, func(s *Settings) { s.Effort = "low" }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from := project(t, user, tt.project)
			c := load(t, from)
			want := base()
			if tt.change != nil {
				tt.change(&want)
			}
			if d := cmp.Diff(want, c.Settings); d != "" {
				t.Error(d)
			}
			var warnings []string
			for _, w := range tt.warnings {
				warnings = append(warnings, projectFile(from.Dir)+w)
			}
			if d := cmp.Diff(warnings, c.Warnings); d != "" {
				t.Error(d)
			}
		})
	}
}

// R056: one tool, another policy, by the rules of a project.
func TestProjectRulesHaveOrigins(t *testing.T) {
	from := project(t, "[rules]\ndeny = [\"Read(.env)\"]\n", "[rules]\ndeny = [\n\"Read(.env)\",\n\"Read(secret)\"]\n")
	got := make(map[string]string)
	for _, s := range load(t, from).Shown() {
		got[s.Value] = s.From.String()
	}
	if got["Read(.env)"] != from.User+":2" || got["Read(secret)"] != projectFile(from.Dir)+":4" {
		t.Errorf("got %v", got)
	}
}

func TestFlagsLoosenWhatAProjectTightened(t *testing.T) {
	from := project(t, "", "mode = \"plan\"\n[rules]\ndeny = [\"Bash\"]\n")
	from.Flags = []Flag{{"--mode", "mode", "auto"}}
	c := load(t, from)
	if c.Mode != policy.ModeAuto || len(c.Rules) != 1 {
		t.Errorf("mode %s, rules %v", c.Mode, c.Rules)
	}
}

func TestTrust(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	state := filepath.Join(home, "state")
	check := func(want string) {
		t.Helper()
		ok, why, err := Trusted(state, dir)
		if err != nil || ok != (want == "") || why != want {
			t.Errorf("trusted %v, %q, %v; want %q", ok, why, err, want)
		}
	}
	const never, changed = "this directory is not trusted", "it has changed since it was trusted"
	file := put(t, dir, ".belay/config.toml", "mode = \"plan\"\n")
	check(never)
	c := load(t, Sources{Dir: dir, State: state})
	if c.Mode != policy.ModeAsk || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], file+" is ignored: "+never) {
		t.Errorf("untrusted: mode %s, warnings %q", c.Mode, c.Warnings)
	}
	if err := Trust(state, dir); err != nil {
		t.Fatal(err)
	}
	check("")
	if c := load(t, Sources{Dir: dir, State: state}); c.Mode != policy.ModePlan || c.Warnings != nil {
		t.Errorf("trusted: mode %s, warnings %q", c.Mode, c.Warnings)
	}

	other := filepath.Join(home, "link") // another name of the same directory
	if err := os.Symlink(dir, other); err != nil {
		t.Fatal(err)
	}
	if ok, _, err := Trusted(state, other); !ok || err != nil {
		t.Errorf("through a link: %v, %v", ok, err)
	}

	put(t, dir, ".belay/config.toml", "mode = \"plan\" \n")
	check(changed)
	if c := load(t, Sources{Dir: dir, State: state}); c.Mode != policy.ModeAsk || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], changed) {
		t.Errorf("changed: mode %s, warnings %q", c.Mode, c.Warnings)
	}
	if err := Trust(state, dir); err != nil {
		t.Fatal(err)
	}
	check("")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	check(changed)
	info, err := os.Stat(filepath.Join(state, "trust"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestTrustOfNothingIsNotTrustOfWhatComes(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	if err := Trust(state, dir); err != nil {
		t.Fatal(err)
	}
	put(t, dir, ".belay/config.toml", "mode = \"plan\"\n")
	if ok, why, err := Trusted(state, dir); ok || err != nil {
		t.Errorf("trusted %v, %q, %v", ok, why, err)
	}
}

func TestTrustNeedsAState(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".belay/config.toml", "not TOML")
	if err := Trust("", dir); err == nil {
		t.Error("trust was remembered nowhere")
	}
	if ok, _, err := Trusted("", dir); ok || err != nil {
		t.Errorf("trusted %v, %v", ok, err)
	}
	if c := load(t, Sources{Dir: dir}); len(c.Warnings) != 1 { // and what is untrusted is not even parsed
		t.Errorf("warnings %q", c.Warnings)
	}
}
