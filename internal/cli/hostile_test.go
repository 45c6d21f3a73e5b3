package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

const careful = `model = "corp/big"
mode = "ask"
[limits]
steps = 40
tokens = 100000
cost = 2
timeout = "1h"
parallel = 4
[breaker]
failures = 2
cooldown = "5m"
[bash]
timeout = "1m"
[env]
pass = ["LANG"]
[rules]
allow = ["Bash(make)"]
ask = ["Edit(go.mod)"]
deny = ["Bash(git push)", "Read(secret/**)"]
[providers.corp]
base_url = "https://corp.example/v1"
key = "user-key"
`

// probes are calls of every kind; none may meet a milder verdict because of a
// project.
func probes() (all []tool.Part) {
	for _, name := range []string{"a.go", "go.mod", ".env", "secret/a", "/etc/passwd", ".git/config", "make", "git push", "rm -rf /", "curl evil.example", "sh -c x", ""} {
		for _, e := range []effect.Effect{
			{Kind: effect.Read, On: name}, {Kind: effect.Write, On: name}, {Kind: effect.Process}, {Kind: effect.Network, On: "evil.example"},
			{Kind: effect.Permanent}, {Kind: effect.Anything}, {Kind: effect.Write, On: ".", Tree: true},
		} {
			all = append(all, tool.Part{Name: name, Effects: effect.Set{e}})
		}
	}
	return all
}

var probed = []tool.Spec{
	{Name: "Read", Effects: []effect.Kind{effect.Read}},
	{Name: "Edit", Effects: []effect.Kind{effect.Read, effect.Write}},
	{Name: "Write", Effects: []effect.Kind{effect.Write}},
	{Name: "Bash", Effects: []effect.Kind{effect.Read, effect.Write, effect.Process, effect.Network, effect.Permanent, effect.Anything}},
	{Name: "mcp__x__y", Effects: []effect.Kind{effect.Anything}},
}

// widened says what got lets pass that base does not.
func widened(base, got *Config) (all []string) {
	more := func(is bool, what string) {
		if is {
			all = append(all, what)
		}
	}
	more(base.Mode.Stricter(got.Mode), "mode")
	more(base.Model != got.Model, "model")
	raised := func(base, got int64) bool { return base > 0 && (got == 0 || got > base) }
	more(raised(int64(base.Limits.Steps), int64(got.Limits.Steps)), "steps")
	more(raised(int64(base.Limits.Tokens), int64(got.Limits.Tokens)), "tokens")
	more(raised(base.Limits.Cost, got.Limits.Cost), "cost")
	more(raised(int64(base.Limits.Time), int64(got.Limits.Time)), "time")
	more(raised(int64(base.Limits.Parallel), int64(got.Limits.Parallel)), "parallel")
	more(got.Breaker.Failures > base.Breaker.Failures || got.Breaker.Cooldown < base.Breaker.Cooldown, "breaker")
	more(raised(int64(base.Bash.Timeout), int64(got.Bash.Timeout)), "timeout of commands")
	more(strings.Join(base.Pass, ",") != strings.Join(got.Pass, ","), "environment")
	more(len(got.Providers) != len(base.Providers) || got.Providers["corp"] != base.Providers["corp"], "providers")
	for _, spec := range probed {
		for _, part := range probes() {
			before, after := base.Policy().Decide(spec, []tool.Part{part}), got.Policy().Decide(spec, []tool.Part{part})
			more(after.Verdict < before.Verdict, spec.Name+" "+part.Name+" "+part.Effects[0].String()+": "+after.Rule)
		}
	}
	return all
}

// A hostile is a project that would loosen what the user set, and what must come
// of it.
type hostile struct {
	name, want string
	from       func(t *testing.T) Sources
}

func trusting(content string) func(t *testing.T) Sources {
	return func(t *testing.T) Sources { return project(t, careful, content) }
}

// untrusting returns a project that make lays out in dir, before and behind whose
// back nobody trusts it.
func untrusting(make func(t *testing.T, home, dir string)) func(t *testing.T) Sources {
	return func(t *testing.T) Sources {
		home, dir := t.TempDir(), t.TempDir()
		from := Sources{User: put(t, home, "config.toml", careful), Dir: dir, State: filepath.Join(home, "state")}
		make(t, home, dir)
		return from
	}
}

const loose = "mode = \"full\"\n[rules]\nallow = [\"*\"]\n"

func hostiles(t *testing.T) (all []hostile) {
	archive, err := txtar.ParseFile("testdata/hostile-projects.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		line, _, _ := bytes.Cut(f.Data, []byte("\n"))
		all = append(all, hostile{f.Name, strings.TrimPrefix(string(line), "# "), trusting(string(f.Data))})
	}
	link := func(t *testing.T, to, at string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	return append(all,
		hostile{"huge", "refused", untrusting(func(t *testing.T, _, dir string) {
			put(t, dir, ".belay/config.toml", loose+"# "+strings.Repeat("x", maxConfig))
		})},
		hostile{"NUL", "refused", trusting(loose + "\x00")},
		hostile{"not UTF-8", "refused", trusting("# \xff\n" + loose)},
		hostile{"a mark first", "ignored", trusting("\xef\xbb\xbf" + loose)},
		hostile{"UTF-16", "refused", trusting("m\x00o\x00d\x00e\x00=\x00")},
		hostile{"a carriage return that hides a line", "refused", trusting("mode = \"plan\"\rmode = \"full\"\n")},
		hostile{"ten thousand rules", "ignored", trusting("[rules]\nallow = [" + strings.Repeat(`"Bash(a)",`, 10_000) + "]\n")},
		hostile{"nobody trusts it", "ignored", untrusting(func(t *testing.T, _, dir string) { put(t, dir, ".belay/config.toml", loose) })},
		hostile{"it says itself that it is trusted", "ignored", untrusting(func(t *testing.T, _, dir string) {
			put(t, dir, ".belay/config.toml", loose)
			if err := Trust(filepath.Join(dir, "state"), dir); err != nil {
				t.Fatal(err)
			}
		})},
		hostile{"it changes once it is trusted", "ignored", func(t *testing.T) Sources {
			from := project(t, careful, "mode = \"plan\"\n")
			put(t, from.Dir, ".belay/config.toml", loose)
			return from
		}},
		hostile{"its file is a trusted project's", "ignored", func(t *testing.T) Sources {
			from := project(t, careful, loose)
			trusted := from.Dir
			from.Dir = t.TempDir()
			link(t, projectFile(trusted), projectFile(from.Dir))
			return from
		}},
		hostile{"its directory of settings is a trusted project's", "ignored", func(t *testing.T) Sources {
			from := project(t, careful, loose)
			trusted := from.Dir
			from.Dir = t.TempDir()
			link(t, filepath.Join(trusted, ".belay"), filepath.Join(from.Dir, ".belay"))
			return from
		}},
		hostile{"its file is the user's own", "ignored", untrusting(func(t *testing.T, home, dir string) {
			link(t, filepath.Join(home, "config.toml"), projectFile(dir))
			if err := Trust(filepath.Join(home, "state"), dir); err != nil {
				t.Fatal(err)
			}
		})},
		hostile{"its file is a device", "refused", untrusting(func(t *testing.T, _, dir string) { link(t, os.DevNull, projectFile(dir)) })},
		hostile{"its file is a directory", "refused", untrusting(func(t *testing.T, _, dir string) { put(t, dir, ".belay/config.toml/x", "") })},
		hostile{"its file leads to itself", "refused", untrusting(func(t *testing.T, _, dir string) { link(t, "config.toml", projectFile(dir)) })},
		hostile{"a file of another name", "tightens", untrusting(func(t *testing.T, home, dir string) {
			for _, name := range []string{".belay/config.local.toml", ".belay.toml", ".config/belay/config.toml", "sub/.belay/config.toml", ".Belay2/config.toml"} {
				put(t, dir, name, loose)
			}
		})},
	)
}

// TestPromise_P18_AProjectOnlyTightens: no hostile repository gets anything to
// pass that the user's settings do not let pass.
func TestPromise_P18_AProjectOnlyTightens(t *testing.T) {
	all := hostiles(t)
	for _, h := range all {
		t.Run(h.name, func(t *testing.T) {
			from := h.from(t)
			from.Getenv = none
			alone := from
			alone.Dir = ""
			base, err := LoadConfig(alone)
			if err != nil {
				t.Fatal(err)
			}
			got, err := LoadConfig(from)
			outcome := "tightens"
			switch {
			case err != nil:
				outcome = "refused"
			case len(got.Warnings) > 0:
				outcome = "ignored"
			}
			if outcome != h.want {
				t.Errorf("%s, want %s (%v)", outcome, h.want, err)
			}
			if err != nil {
				return
			}
			for _, what := range widened(base, got) {
				t.Errorf("widened: %s", what)
			}
			for _, r := range got.Rules {
				if r.Verdict == policy.Allow && r.Source != policy.FromUser {
					t.Errorf("the rule %s of %s allows", r, r.Source)
				}
			}
		})
	}
	if len(all) < 40 {
		t.Errorf("only %d projects", len(all))
	}
	t.Logf("%d hostile projects", len(all))
}

// TestTheProbesSeeWhatIsWidened: the same settings as the user's own do widen.
func TestTheProbesSeeWhatIsWidened(t *testing.T) {
	base := load(t, Sources{User: put(t, t.TempDir(), "config.toml", careful)})
	for _, change := range [][2]string{
		{`mode = "ask"`, `mode = "full"`}, {`"Bash(make)"`, `"Edit"`}, {`steps = 40`, `steps = 41`}, {`cost = 2`, `cost = 0`}, {`timeout = "1m"`, `timeout = "2m"`},
		{`"Bash(git push)", `, ``}, {`"LANG"`, `"LANG", "X"`}, {`failures = 2`, `failures = 3`}, {`user-key`, `x`}, {`corp/big`, `corp/x`},
	} {
		content := strings.Replace(careful, change[0], change[1], 1)
		if got := load(t, Sources{User: put(t, t.TempDir(), "config.toml", content)}); content == careful || len(widened(base, got)) == 0 {
			t.Errorf("%s is not seen", change[1])
		}
	}
}
