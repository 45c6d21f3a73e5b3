package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// none is an empty environment.
func none(string) string { return "" }

// put writes a file below dir and returns its path.
func put(t *testing.T, dir, name, content string) string {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func load(t *testing.T, from Sources) *Config {
	t.Helper()
	if from.Getenv == nil {
		from.Getenv = none
	}
	c, err := LoadConfig(from)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rule(t *testing.T, s string, v policy.Verdict, from policy.Source) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(s, v, from)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const full = `model = "local/qwen"
mode = "auto"
effort = "high"

[limits]
steps = 40
tokens = 1_000_000
cost = "2.50"
timeout = "30m"
parallel = 4

[breaker]
failures = 5
cooldown = "1m"

[rules]
allow = ["Bash(go test ./...)"]
ask = ["Write(go.mod)"]
deny = ["Read(.env)", 'Write(.git/**)'] # never

[env]
pass = ["GH_TOKEN", "MY_VAR"]

[bash]
timeout = "5m"

[providers.local]
base_url = "http://${HOST}:11434/v1"
key = "any"

[providers]
anthropic = { key_env = "MY_KEY" }

[output]
lines = 500
bytes = 20_000
tokens = 8_000
edge_lines = 20
direction = "tail"
`

func TestLoadConfig(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", full)
	env := map[string]string{"HOST": "localhost", "MY_KEY": "sk-123"}
	c := load(t, Sources{User: file, Getenv: func(name string) string { return env[name] }})
	want := Settings{
		Model: "local/qwen", Mode: policy.ModeAuto, Effort: "high",
		Limits:  agent.Limits{Steps: 40, Tokens: 1_000_000, Cost: 250_000_000, Time: 30 * time.Minute, Parallel: 4},
		Breaker: agent.Breaker{Failures: 5, Cooldown: time.Minute}, CompactAt: 80,
		Rules: []policy.Rule{
			rule(t, "Bash(go test ./...)", policy.Allow, policy.FromUser),
			rule(t, "Write(go.mod)", policy.Ask, policy.FromUser),
			rule(t, "Read(.env)", policy.Deny, policy.FromUser),
			rule(t, "Write(.git/**)", policy.Deny, policy.FromUser),
		},
		Pass:   []string{"GH_TOKEN", "MY_VAR"},
		Bash:   Bash{Timeout: 5 * time.Minute},
		Output: tool.Limits{Lines: 500, Bytes: 20_000, Tokens: 8_000, Edge: 20, Direction: tool.Tail},
		Recall: true,
		Providers: map[string]Provider{
			"local":     {API: "openai", BaseURL: "http://localhost:11434/v1", Key: "any"},
			"anthropic": {API: "anthropic", Key: "sk-123", KeyEnv: "MY_KEY"},
		},
	}
	if d := cmp.Diff(want, c.Settings); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(policy.Policy{Mode: policy.ModeAuto, Rules: want.Rules}, c.Policy()); d != "" {
		t.Error(d)
	}

	var got []string
	for _, s := range c.Shown() {
		got = append(got, fmt.Sprintf("%s = %s (%s)", s.Key, s.Value, strings.Replace(s.From.String(), file, "F", 1)))
	}
	shown := []string{
		"model = local/qwen (F:1)", "fallback =  (default)", "mode = auto (F:2)", "effort = high (F:3)",
		"limits.steps = 40 (F:6)", "limits.tokens = 1000000 (F:7)", "limits.cost = 2.50 (F:8)",
		"limits.timeout = 30m0s (F:9)", "limits.parallel = 4 (F:10)",
		"breaker.failures = 5 (F:13)", "breaker.cooldown = 1m0s (F:14)", "compact_at = 0.8 (default)",
		"output.lines = 500 (F:35)", "output.bytes = 20000 (F:36)", "output.tokens = 8000 (F:37)", "output.edge_lines = 20 (F:38)", "output.direction = tail (F:39)",
		"rules.allow = Bash(go test ./...) (F:17)", "rules.ask = Write(go.mod) (F:18)",
		"rules.deny = Read(.env) (F:19)", "rules.deny = Write(.git/**) (F:19)",
		"env.pass = GH_TOKEN, MY_VAR (F:22)", "edit_format = replace (default)", "bash.timeout = 5m0s (F:25)", "bash.covered = answer (default)", "bash.memory = none (default)", "recall = yes (default)", "require_sandbox = no (default)",
		"otlp.endpoint =  (default)", "otlp.content = no (default)",
		"providers.anthropic.api = anthropic (default)", "providers.anthropic.key_env = MY_KEY (F:32)",
		"providers.local.api = openai (default)",
		"providers.local.base_url = http://localhost:11434/v1 (F:28)", "providers.local.key = (set) (F:29)",
	}
	if d := cmp.Diff(shown, got); d != "" {
		t.Error(d)
	}
}

// TestR239_OutputLimitsAreSettings: each within bounds, and a project may only
// lower them.
func TestR239_OutputLimitsAreSettings(t *testing.T) {
	for text, bad := range map[string]string{
		"lines = 50\nbytes = 4000\ntokens = 1000\nedge_lines = 5\ndirection = \"head\"": "",
		"lines = 49":                "49 is not from 50 to 100000",
		"bytes = 10":                "10 is not from 4000 to 1048576",
		"tokens = 0":                "0 is not from 1000 to 200000",
		"edge_lines = 4000":         "4000 is not from 5 to 1000",
		"direction = \"middle\"":    "not one of head_tail, head, tail",
		"keep_last = 3":             "output.keep_last is not a setting",
		"tool_description_max = 10": "output.tool_description_max is not a setting",
	} {
		_, err := LoadConfig(Sources{User: put(t, t.TempDir(), "config.toml", "[output]\n"+text+"\n")})
		if bad == "" && err != nil || bad != "" && (err == nil || !strings.Contains(err.Error(), bad)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// R059: what the requirements fix by default, and that it can be set, is
// above.
func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]Sources{
		"no place":          {},
		"no file":           {User: filepath.Join(dir, "none", "config.toml")},
		"not in a folder":   {User: filepath.Join(put(t, dir, "file", ""), "config.toml")},
		"empty file":        {User: put(t, dir, "empty.toml", "")},
		"only a mark":       {User: put(t, dir, "bom.toml", "\xef\xbb\xbf")},
		"only comments":     {User: put(t, dir, "comments.toml", "# mode = \"full\"\n")},
		"empty tables":      {User: put(t, dir, "tables.toml", "[limits]\n[providers.x]\n[rules]\ndeny = []\n")},
		"no project's file": {Dir: dir, State: dir},
	} {
		t.Run(name, func(t *testing.T) {
			want := Settings{
				Mode: policy.ModeAsk, Limits: agent.Limits{Parallel: 8},
				Breaker: agent.Breaker{Failures: 3, Cooldown: 300 * time.Second}, CompactAt: 80,
				Output: tool.Limits{Lines: 2000, Bytes: 51_200, Tokens: 16_000, Edge: 40, Direction: tool.HeadTail},
				Recall: true,
			}
			c := load(t, from)
			if d := cmp.Diff(want, c.Settings, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
			for _, s := range c.Shown() {
				if s.From != (Origin{Layer: layerDefault}) {
					t.Errorf("%s is from %s", s.Key, s.From)
				}
			}
		})
	}
}

func TestBug_F02_BadFileStopsAndIsNeverRewritten(t *testing.T) {
	tests := []struct {
		name, content string
		line, column  int
		message       string
		broken        bool // does not even parse
	}{
		{"trailing comma", "[rules]\ndeny = [\"Read(.env)\",,]\n", 2, 22, "expected value", true},
		{"comma at the end of a line", "mode = \"ask\",\n", 1, 13, "expected newline", true},
		{"no value", "[limits]\nsteps =\n", 2, 8, "", true},
		{"cut", "[rules]\ndeny = [\"Read(.env)\"", 2, 0, "incomplete", true},
		{"Latin-1", "# caf\xe9\nmode = \"ask\"\n", 1, 6, "byte 0xe9 is not UTF-8", true},
		{"Latin-1 after a mark", "\xef\xbb\xbfmode = \"caf\xe9\"\n", 1, 12, "byte 0xe9 is not UTF-8", true},
		{"UTF-16", "m\x00o\x00d\x00e\x00", 1, 2, "", true},
		{"twice", "mode = \"ask\"\nmode = \"full\"\n", 2, 1, "mode", true},
		{"wrong type in deny", "[rules]\ndeny = \"Read(.env)\"\n", 2, 1, "rules.deny is a string, not an array of rules", false},
		{"wrong element in deny", "[rules]\ndeny = [\n  \"Read(.env)\",\n  7,\n]\n", 4, 3, "rules.deny is a whole number, not an array of rules", false},
		{"table for a setting", "[mode]\nx = 1\n", 1, 2, "mode is not a table of settings", false},
		{"array of tables", "[[rules]]\ndeny = []\n", 1, 3, "rules is not an array of tables", false},
		{"inline table for a setting", "mode = {a = 1}\n", 1, 8, "mode is a table, not a string", false},
		{"value for a table", "limits = 3\n", 1, 1, "limits is not a setting", false},
		{"unknown key", "[limits]\nstep = 3\n", 2, 1, "limits.step is not a setting", false},
		{"unknown table", "mode = \"ask\"\n\n  [limit]\n", 3, 4, "limit is not a table of settings", false},
		{"unknown key inside", "limits = { steps = 3, step = 4 }\n", 1, 23, "limits.step is not a setting", false},
		{"a key with a dot", "\"limits.steps\" = 3\n", 1, 1, "limits.steps is not a setting", false},
		{"a provider's unknown key", "[providers.x]\nurl = \"http://h\"\n", 2, 1, "providers.x.url is not a setting", false},
		{"a provider's bad name", "[providers.\"a/b\"]\nkey = \"x\"\n", 1, 2, "providers.a/b is not a table of settings", false},
		{"wrong type", "[limits]\nsteps = \"3\"\n", 2, 9, "limits.steps is a string, not a whole number", false},
		{"fraction", "[limits]\nsteps = 3.5\n", 2, 9, "limits.steps is a number with a fraction, not a whole number", false},
		{"negative", "[limits]\nsteps = -1\n", 2, 9, "limits.steps: -1 is not from 0", false},
		{"huge", "[limits]\nsteps = 99999999999999999999\n", 2, 9, "", false},
		{"rule", "[rules]\ndeny = [\"Read(a)\", \"Read(\"]\n", 2, 20, "rules.deny: rule", false},
		{"mode", "mode = \"yolo\"\n", 1, 8, `mode: "yolo" is not one of plan, ask, auto, full`, false},
		{"model", "model = \"gpt\"\n", 1, 9, "model: \"gpt\" is not provider/name", false},
		{"effort", "effort = \"max\"\n", 1, 10, `effort: "max" is not one of low, medium, high`, false},
		{"duration", "[bash]\ntimeout = \"5 minutes\"\n", 2, 11, `bash.timeout: "5 minutes" is not a duration`, false},
		{"amount", "[limits]\ncost = \"1,50\"\n", 2, 8, `limits.cost: "1,50" is not an amount`, false},
		{"date", "[limits]\ncost = 2026-01-02\n", 2, 8, "limits.cost is a date or time, not an amount", false},
		{"variable's name", "[env]\npass = [\"A=B\"]\n", 2, 9, `env.pass: "A=B" is not the name of a variable`, false},
		{"URL", "[providers.x]\nbase_url = \"localhost:11434\"\n", 2, 12, "base_url is not an http or https URL", false},
		{"API", "[providers.x]\napi = \"grpc\"\n", 2, 7, `api: "grpc" is not one of openai, responses, anthropic, gemini`, false},
		{"undefined variable", "[providers.x]\nkey = \"${NOWHERE}\"\n", 2, 7, "providers.x.key: the variable NOWHERE is not defined", false},
		{"unended variable", "[providers.x]\nkey = \"${NOWHERE\"\n", 2, 7, "providers.x.key: ${ is not followed", false},
		{"empty key", "[providers.x]\nkey = \"\"\n", 2, 7, "the key is empty", false},
		{"key with a line feed", "[providers.x]\nkey = \"a\\n\"\n", 2, 7, "control character", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := put(t, t.TempDir(), "config.toml", tt.content)
			_, err := LoadConfig(Sources{User: file, Getenv: none})
			e, ok := errors.AsType[*ConfigError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if e.File != file || e.Line != tt.line || tt.column != 0 && e.Column != tt.column || !strings.Contains(e.Message, tt.message) {
				t.Errorf("got %v", err)
			}
			if want := fmt.Sprintf("%s:%d:%d: ", file, tt.line, e.Column); !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q does not begin with %q", err, want)
			}
			if !tt.broken {
				return
			}
			if err := SetConfig(file, "mode", "plan"); err == nil {
				t.Error("it was changed")
			} else if e, ok := errors.AsType[*ConfigError](err); !ok || e.Line != tt.line {
				t.Errorf("change: %v", err)
			}
			if got := read(t, file); got != tt.content {
				t.Errorf("it was rewritten: %q", got)
			}
		})
	}
}

func TestAllThatIsWrongIsSaid(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", "mode = 1\nfoo = 2\n[rules]\ndeny = [\"(\", \")\"]\n")
	_, err := LoadConfig(Sources{User: file, Getenv: none})
	if got := len(strings.Split(err.Error(), "\n")); got != 4 {
		t.Errorf("%d errors: %v", got, err)
	}
}

func TestFlagsWin(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", "mode = \"plan\"\n[limits]\nsteps = 3\n")
	c := load(t, Sources{User: file, Flags: []Flag{{"--mode", "mode", "full"}, {"--max-cost", "limits.cost", "$0.5"}}})
	if c.Mode != policy.ModeFull || c.Limits.Cost != 50_000_000 || c.Limits.Steps != 3 {
		t.Errorf("got %+v", c.Settings)
	}
	want := map[string]string{"mode": "--mode", "limits.cost": "--max-cost", "limits.steps": file + ":3"}
	for _, s := range c.Shown() {
		if w, ok := want[s.Key]; ok && s.From.String() != w {
			t.Errorf("%s is from %s, not %s", s.Key, s.From, w)
		}
	}
	for _, f := range []Flag{{"--mode", "mode", "yolo"}, {"--max-steps", "limits.steps", "many"}, {"--x", "x", "1"}, {"--deny", "rules.deny", "Read"}} {
		_, err := LoadConfig(Sources{Flags: []Flag{f}, Getenv: none})
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.File != f.Name || !strings.HasPrefix(err.Error(), f.Name+": ") {
			t.Errorf("%v: %v", f, err)
		}
	}
}

func TestDollars(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1: refused
	}{
		{"0", 0}, {"1", dollar}, {"1.5", 150_000_000}, {"$2.50", 250_000_000}, {"0.1", 10_000_000},
		{"0.00000001", 1}, {"0.000000010", 1}, {"0.000000001", -1}, {"92233720368.54775807", 9223372036854775807},
		{"92233720368.54775808", -1}, {"99999999999999999999", -1},
		{"", -1}, {"$", -1}, {".5", -1}, {"1.", -1}, {"-1", -1}, {"+1", -1}, {"1e3", -1}, {"nan", -1}, {"1_000", -1}, {"1.2.3", -1}, {" 1", -1},
	}
	for _, tt := range tests {
		got, err := parseDollars(tt.text)
		if tt.want < 0 {
			if err == nil {
				t.Errorf("%q is %d", tt.text, got)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%q is %d, %v, want %d", tt.text, got, err, tt.want)
		}
		if again, err := parseDollars(showDollars(got)); got != 0 && (err != nil || again != got) {
			t.Errorf("%q is shown as %s", tt.text, showDollars(got))
		}
	}
	file := put(t, t.TempDir(), "config.toml", "[limits]\ncost = 1.1\n")
	if c := load(t, Sources{User: file}); c.Limits.Cost != 110_000_000 {
		t.Errorf("a number is %d", c.Limits.Cost)
	}
}
