package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

func TestUnsetConfig(t *testing.T) {
	for _, tt := range []struct{ name, old, key, want string }{
		{"all there is", "mode = \"ask\"\n", "mode", ""},
		{"all else kept", "# mine\nmode='ask'  # why\nmodel = 'a/b'\n\n[x] # unknown\ny = [ 1,2 ]\n", "mode", "# mine\nmodel = 'a/b'\n\n[x] # unknown\ny = [ 1,2 ]\n"},
		{"the heading goes", "mode = \"ask\"\n\n[limits]\nsteps = 7\n", "limits.steps", "mode = \"ask\"\n"},
		{"the heading goes from the middle", "mode = \"ask\"\n\n[limits]\nsteps = 7\n\n[env]\npass = []\n", "limits.steps", "mode = \"ask\"\n\n[env]\npass = []\n"},
		{"the heading goes from the top", "[limits]\nsteps = 7\n\n[env]\npass = []\n", "limits.steps", "[env]\npass = []\n"},
		{"the heading stays for others", "[limits]\nsteps = 7\ntokens = 1\n", "limits.steps", "[limits]\ntokens = 1\n"},
		{"the heading stays for a comment", "[limits]\nsteps = 7\n# more\n", "limits.steps", "[limits]\n# more\n"},
		{"the heading stays with its comment", "[limits] # x\nsteps = 7\n", "limits.steps", "[limits] # x\n"},
		{"the heading stays below a comment", "# of turns\n[limits]\nsteps = 7\n", "limits.steps", "# of turns\n[limits]\n"},
		{"the heading of a provider goes", "[providers.x]\nkey = 'a'\n\n[providers.y]\nkey = 'b'\n", "providers.y.key", "[providers.x]\nkey = 'a'\n"},
		{"dotted", "limits.steps = 7\nlimits.tokens = 1\n", "limits.steps", "limits.tokens = 1\n"},
		{"inline, first", "limits = { steps = 7, tokens = 1 } # x\n", "limits.steps", "limits = { tokens = 1 } # x\n"},
		{"inline, last", "limits = { tokens = 1, steps = 7 }\n", "limits.steps", "limits = { tokens = 1 }\n"},
		{"inline, alone", "mode = 'ask'\nlimits = { steps = 7 }\n", "limits.steps", "mode = 'ask'\n"},
		{"inline, nested", "providers = { x = { key = 'k' }, y = { key = 'l' } }\n", "providers.x.key", "providers = { y = { key = 'l' } }\n"},
		{"inline, nested beside", "providers = { x = { api = 'openai', key = 'k' } }\n", "providers.x.key", "providers = { x = { api = 'openai' } }\n"},
		{"inline, dotted", "providers = { x.key = 'k', y.key = 'l' }\n", "providers.y.key", "providers = { x.key = 'k' }\n"},
		{"several lines", "[rules]\ndeny = [\n  \"Read(a)\", # a\n]\nask = []\n", "rules.deny", "[rules]\nask = []\n"},
		{"what is no setting", "moed = 1\nmode = 'ask'\n", "moed", "mode = 'ask'\n"},
		{"without a line feed", "mode = 'ask'\nmodel = 'a/b'", "model", "mode = 'ask'\n"},
		{"Windows", "mode = 'ask'\r\n\r\n[limits]\r\nsteps = 1\r\n", "limits.steps", "mode = 'ask'\r\n"},
		{"mark", "\xef\xbb\xbfmode = 'ask'\nmodel = 'a/b'\n", "mode", "\xef\xbb\xbfmodel = 'a/b'\n"},
		{"wrong value", "[limits]\nsteps = \"many\"\n", "limits.steps", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := put(t, t.TempDir(), "config.toml", tt.old)
			if err := UnsetConfig(file, tt.key); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, read(t, file)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUnsetConfigRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, key, want string }{
		{"not set", "mode = 'ask'\n", "model", "model is not set in "},
		{"not there", "", "limits.steps", "limits.steps is not set in "},
		{"no setting", "mode = 'ask'\n", "moed", "moed is not a setting; did you mean `mode`?"},
		{"a table", "limits = { steps = 1 }\n", "limits", "limits is not a setting"},
		{"a heading", "[limits]\nsteps = 1\n", "limits", "limits is not a setting"},
		{"broken", "mode = \n", "mode", ":1:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := put(t, t.TempDir(), "config.toml", tt.old)
			if err := UnsetConfig(file, tt.key); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if got := read(t, file); got != tt.old {
				t.Errorf("it is now %q", got)
			}
		})
	}
	none := filepath.Join(t.TempDir(), "config.toml")
	if err := UnsetConfig(none, "mode"); err == nil || !strings.Contains(err.Error(), "mode is not set in ") {
		t.Errorf("without a file: %v", err)
	}
	if err := UnsetConfig("", "mode"); err == nil || !strings.Contains(err.Error(), "no place for settings") {
		t.Errorf("without a home: %v", err)
	}
}

// With the last text its setting goes, unless someone wrote into the array.
func TestTheLastTextTakesItsSettingAlong(t *testing.T) {
	for _, tt := range []struct{ name, old, want string }{
		{"as it was added", "[rules]\ndeny = [\"Bash(a)\"]\n", ""},
		{"beside others", "[rules]\nallow = [\"Read\"]\ndeny = [\"Bash(a)\"]\n", "[rules]\nallow = [\"Read\"]\n"},
		{"lines", "[rules]\ndeny = [\n  \"Bash(a)\",\n]\n", ""},
		{"a comment in it", "[rules]\ndeny = [\n  # mine\n  \"Bash(a)\",\n]\n", "[rules]\ndeny = [\n  # mine\n  \n]\n"},
		{"a # that is no comment", "[rules]\ndeny = [\"Bash(#)\", \"Bash(a)\"]\n", "[rules]\ndeny = [\"Bash(#)\"]\n"},
		{"a table", "[rules]\ndeny = [{ rule = \"Bash(a)\", match = [\"a\"] }]\n", ""},
		{"inline", "rules = { deny = [\"Bash(a)\"] }\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := put(t, t.TempDir(), "config.toml", tt.old)
			if err := RemoveConfig(file, "rules.deny", "Bash(a)"); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, read(t, file)); d != "" {
				t.Error(d)
			}
		})
	}
}

// FuzzUnset: of any document that parses, one key goes, or comes and goes, and nothing
// else.
func FuzzUnset(f *testing.F) {
	for _, doc := range []string{full, "", "mode = 1", "[limits]\nsteps=1", "limits.steps = 1 # x", "limits = {steps = 1, }",
		"[a]\n[[b]]\nlimits = 1\n[b.limits]", "providers = {}", "[providers]\nx.key = ''\n", "# c\r\n[x]\r\n", "a = nan\nb = [{c = 1}, {}]\n", "[limits.x]\n[limits]\nsteps = 1\n",
		"limits = { # c\n steps = 1, # d\n}\n", "x = '''\nmode = 1\n'''\nmode = ''''a'\n'''\n", "providers = { x = { key = 'k' } }", "\n\n[limits]\n\nsteps = 1\n\n\n[y]"} {
		for i := range fuzzKeys {
			f.Add([]byte(doc), i)
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, which int) {
		var before map[string]any
		if which < 0 || bytes.HasPrefix(doc, bom) || checkSyntax("", doc) != nil || toml.Unmarshal(doc, &before) != nil {
			return
		}
		key := fuzzKeys[which%len(fuzzKeys)]
		blocked, was := lookUp(before, key)
		if _, there := bound(outlineOf(doc).values, key); !there {
			if was != nil || blocked {
				return // it is a table, or something else stands there
			}
			set, err := placeKey(doc, key, `"v"`)
			if err != nil {
				return
			}
			doc = set.in(doc, 0)
		}
		s, err := takeKey(doc, key)
		if err != nil {
			return // it cannot be without more
		}
		var after map[string]any
		left := s.in(doc, 0)
		if err := toml.Unmarshal(left, &after); err != nil {
			t.Fatalf("%q became %q: %v", doc, left, err)
		}
		if _, still := lookUp(after, key); still != nil {
			t.Fatalf("%q became %q", doc, left)
		}
		if a, b := without(before, key), without(after, key); !equalValues(a, b) {
			t.Fatalf("%q became %q: %v is now %v", doc, left, a, b)
		}
	})
}
