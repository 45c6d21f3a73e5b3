package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"pass show x":              {"pass", "show", "x"},
		"  op read 'op://a b/c' ":  {"op", "read", "op://a b/c"},
		`sh -c "echo 'k'; exit 1"`: {"sh", "-c", "echo 'k'; exit 1"},
		`a ''`:                     {"a", ""},
		`$HOME/x *`:                {"$HOME/x", "*"},
		"":                         nil,
		" ":                        nil,
		"'a":                       nil,
		`""`:                       nil,
	} {
		got, err := splitWords(text)
		if d := cmp.Diff(want, got); d != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add(`a 'b c' "d"`)
	f.Fuzz(func(t *testing.T, text string) {
		words, err := splitWords(text)
		if err == nil && (len(words) == 0 || words[0] == "") {
			t.Errorf("%q is %q", text, words)
		}
	})
}

// A key comes from the settings, a variable they name, a command, or the usual
// variable, in that order.
func TestKeys(t *testing.T) {
	const hush = "sk-hush-0123456789"
	for name, tt := range map[string]struct{ settings, key, setting, err string }{
		"the usual variable": {"", "sk-usual", "MISTRAL_API_KEY", ""},
		"its own":            {"key = \"sk-own\"", "sk-own", "providers.mistral.key", ""},
		"a variable":         {"key_env = \"MINE\"", "sk-mine", "providers.mistral.key", ""},
		"a command":          {"key_command = \"printf 'sk-printed\\\\nmore'\"", "sk-printed", "providers.mistral.key_command", ""},
		"a noisy command":    {"key_command = \"sh -c 'echo warning >&2; echo; echo sk-printed'\"", "sk-printed", "providers.mistral.key_command", ""},
		"the environment":    {"key_command = \"sh -c 'echo $MINE'\"", "sk-mine", "providers.mistral.key_command", ""},
		"no program":         {"key_command = \"no-such-program " + hush + "\"", "", "", "find no-such-program on the path"},
		"failing":            {"key_command = \"sh -c 'echo " + hush + "; echo " + hush + " >&2; exit 3'\"", "", "", "providers.mistral.key_command: sh exited with status 3; run it by hand to see why"},
		"ended":              {"key_command = \"sh -c 'echo " + hush + "; kill -9 $$'\"", "", "", "sh was ended by SIGKILL"},
		"silent":             {"key_command = \"true " + hush + "\"", "", "", "true printed no key"},
		"binary":             {"key_command = \"printf '" + hush + "\\\\001'\"", "", "", "printf printed a control character"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := at(t, "MISTRAL_API_KEY= sk-usual\n", "MINE=sk-mine")
			writeFile(t, s.userConfig(), "[providers.mistral]\n"+tt.settings+"\n")
			c, err := s.config(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			o, err := s.reach(t.Context(), c, "mistral")
			if tt.err == "" && (err != nil || o.Key != tt.key || o.Setting != tt.setting) {
				t.Errorf("%q of %s, %v; want %q of %s", o.Key, o.Setting, err, tt.key, tt.setting)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "hush")) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
			for _, shown := range c.Shown() {
				if strings.Contains(shown.Value, "sk-") {
					t.Errorf("settings show %+v", shown)
				}
			}
		})
	}
}

// The command runs once, and no longer than whoever waits for it wants.
func TestKeyCommandRunsOnce(t *testing.T) {
	s, out := at(t)
	mark := filepath.Join(t.TempDir(), "mark")
	writeFile(t, s.userConfig(), "[providers.mistral]\nkey_command = \"sh -c 'echo x >> "+mark+"; echo sk-once-0123456789'\"\n[providers.slow]\nkey_command = \"sleep 600\"\nbase_url = \"http://127.0.0.1:1\"\n")
	c, err := s.config(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if o, err := s.reach(t.Context(), c, "mistral"); err != nil || o.Key != "sk-once-0123456789" {
			t.Fatalf("%q, %v", o.Key, err)
		}
	}
	if b, err := os.ReadFile(mark); err != nil || string(b) != "x\n" {
		t.Errorf("it ran as %q says, %v", b, err)
	}
	if held := s.secrets(c)["providers.mistral.key"]; held != "sk-once-0123456789" {
		t.Errorf("it is not among the secrets: %q", held)
	}
	errStop := errors.New("Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	if _, err := s.reach(ctx, c, "slow"); !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
	for _, args := range [][]string{{"config"}, {"config", "--json"}} {
		out.Reset()
		s.belay(args...)
		if !strings.Contains(out.String(), "sh ...") || strings.Contains(out.String(), "once-0123456789") || strings.Contains(out.String(), mark) {
			t.Errorf("%q prints %s", args, out)
		}
	}
}

// A project, trusted or not, says nothing about keys: its settings would run a
// command, or send a key elsewhere.
func TestAProjectSetsNoKeyCommand(t *testing.T) {
	s, _ := at(t)
	mark := filepath.Join(t.TempDir(), "mark")
	writeFile(t, filepath.Join(s.Dir, ".belay/config.toml"), "[providers.mistral]\nkey_command = \"touch "+mark+"\"\nbase_url = \"http://127.0.0.1:1\"\nca_file = \"/dev/null\"\n")
	for _, trusted := range []bool{false, true} {
		if trusted && s.belay("config", "trust") != 0 {
			t.Fatal("it cannot be trusted")
		}
		c, err := s.config(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.Providers["mistral"]; p != (Provider{}) || len(c.Warnings) == 0 {
			t.Errorf("trusted %v: %+v, warnings %q", trusted, p, c.Warnings)
		}
		var said bytes.Buffer
		s.Stderr = &said
		s.belay("run", "--model", "mistral/m", "hello")
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("trusted %v: the command ran\n%s", trusted, &said)
		}
	}
}

func TestCAFile(t *testing.T) {
	s, _ := at(t)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	writeFile(t, empty, "nothing\n")
	for file, want := range map[string]string{empty: "has no certificate in PEM form", empty + "x": "no such file", filepath.Dir(empty): "not a regular file"} {
		if _, err := s.transport("mine", file); err == nil || !strings.Contains(err.Error(), "providers.mine.ca_file: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
	if _, ok := providerKnob("mine", "ca_file"); !ok || checkPath("relative.pem") == nil {
		t.Error("a relative path is taken")
	}
}

// doctor tries what is set up, and shows no key.
func TestDoctorTriesProviders(t *testing.T) {
	s, out := at(t, "DEEPSEEK_API_KEY=")
	text, err := os.ReadFile(s.userConfig())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, s.userConfig(), "model = \"deepseek/x\"\n"+string(text)+"[providers.mine]\nbase_url = \"http://127.0.0.1:1/v1\"\nkey = \"sk-hush-0123456789\"\n[providers.broken]\nbase_url = \"http://127.0.0.1:1/v1\"\nkey_command = \"false\"\n")
	s.belay("doctor")
	columns := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"provider broken FAILS providers.broken.key_command: false exited with status 1",
		"provider deepseek FAILS no key for deepseek/x; set DEEPSEEK_API_KEY",
		"provider mine FAILS reach http://127.0.0.1:1/v1/models: dial",
	} {
		if !strings.Contains(columns, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out.Reset()
	s.belay("doctor", "--json")
	if !strings.Contains(out.String(), `{"what":"provider mine","ok":false,"note":"reach http`) || strings.Contains(out.String(), "hush") {
		t.Errorf("it prints %s", out)
	}
}
