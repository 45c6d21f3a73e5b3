package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

func TestSetConfig(t *testing.T) {
	tests := []struct{ name, old, key, value, want string }{
		{"empty file", "", "mode", "plan", "mode = \"plan\"\n"},
		{"replaced", "mode = \"ask\"\n", "mode", "plan", "mode = \"plan\"\n"},
		{"replaced, and all else kept", "# mine\n mode='ask'  # why\n\n[x] # unknown\ny = [ 1,2 ]\n", "mode", "plan",
			"# mine\n mode=\"plan\"  # why\n\n[x] # unknown\ny = [ 1,2 ]\n"},
		{"new table", "mode = \"ask\"\n", "limits.steps", "7", "mode = \"ask\"\n\n[limits]\nsteps = 7\n"},
		{"under a heading", "[limits]\n# how many\nsteps = 7 # steps\n# end\n\n[env]\n", "limits.tokens", "10",
			"[limits]\n# how many\nsteps = 7 # steps\ntokens = 10\n# end\n\n[env]\n"},
		{"under an empty heading", "[limits] # none\n[env]\n", "limits.steps", "7", "[limits] # none\nsteps = 7\n[env]\n"},
		{"indented", "[limits]\n\tsteps = 7\n", "limits.tokens", "1", "[limits]\n\tsteps = 7\n\ttokens = 1\n"},
		{"at the top", "# settings\n\n# of commands\n[bash]\ntimeout = \"1m\"\n", "mode", "auto",
			"# settings\n\nmode = \"auto\"\n\n# of commands\n[bash]\ntimeout = \"1m\"\n"},
		{"below what is at the top", "model = \"a/b\"\n[bash]\n", "mode", "auto", "model = \"a/b\"\nmode = \"auto\"\n[bash]\n"},
		{"dotted", "limits.steps = 7\nmode = \"ask\"\n", "limits.tokens", "1", "limits.steps = 7\nlimits.tokens = 1\nmode = \"ask\"\n"},
		{"dotted, replaced", "limits . steps = 7\n", "limits.steps", "8", "limits . steps = 8\n"},
		{"inline", "limits = { steps = 7 } # x\n", "limits.tokens", "1", "limits = { steps = 7, tokens = 1 } # x\n"},
		{"inline, replaced", "limits = { steps = 7 }\n", "limits.steps", "1", "limits = { steps = 1 }\n"},
		{"inline, empty", "limits = {}\n", "limits.steps", "1", "limits = { steps = 1 }\n"},
		{"inline, nested", "providers = { x = { api = \"openai\" } }\n", "providers.x.key", "k", "providers = { x = { api = \"openai\", key = \"k\" } }\n"},
		{"inline, above", "providers = { x.api = \"openai\" }\n", "providers.y.key", "k", "providers = { x.api = \"openai\", y.key = \"k\" }\n"},
		{"several lines", "[rules]\ndeny = [\n  \"Read(a)\", # a\n]\nask = []\n", "rules.deny", `["Read(b)", 'Bash(x, y)']`,
			"[rules]\ndeny = [\"Read(b)\", \"Bash(x, y)\"]\nask = []\n"},
		{"list by commas", "", "env.pass", "A, B", "[env]\npass = [\"A\", \"B\"]\n"},
		{"empty list", "[env]\npass = [\"A\"]\n", "env.pass", "", "[env]\npass = []\n"},
		{"no line feed at the end", "mode = \"ask\"", "model", "a/b", "mode = \"ask\"\nmodel = \"a/b\"\n"},
		{"heading without a line feed", "[limits]", "limits.steps", "1", "[limits]\nsteps = 1\n"},
		{"Windows", "mode = \"ask\"\r\n[env]\r\n", "limits.steps", "1", "mode = \"ask\"\r\n[env]\r\n\r\n[limits]\r\nsteps = 1\r\n"},
		{"mark", "\xef\xbb\xbfmode = \"ask\"\n", "mode", "plan", "\xef\xbb\xbfmode = \"plan\"\n"},
		{"quoted key", "\"mode\" = \"ask\"\n", "mode", "plan", "\"mode\" = \"plan\"\n"},
		{"wrong type is mended", "[limits]\nsteps = \"many\"\n", "limits.steps", "1", "[limits]\nsteps = 1\n"},
		{"sub-table before its table", "[providers.x]\nkey = \"a\"\n", "providers.y.key", "b", "[providers.x]\nkey = \"a\"\n\n[providers.y]\nkey = \"b\"\n"},
		{"arrays of tables are none of ours", "[[limits2]]\nsteps = 1\n[[limits2]]\nsteps = 2\n", "mode", "plan", "mode = \"plan\"\n\n[[limits2]]\nsteps = 1\n[[limits2]]\nsteps = 2\n"},
		{"quoting", "", "providers.x.key", "a\"b\\c<é>", "[providers.x]\nkey = \"a\\\"b\\\\c<é>\"\n"},
		{"variable", "", "providers.x.base_url", "${URL}", "[providers.x]\nbase_url = \"${URL}\"\n"},
		{"amount", "", "limits.cost", "$2.50", "[limits]\ncost = \"$2.50\"\n"},
		{"the same again", "mode = \"plan\"", "mode", "plan", "mode = \"plan\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := put(t, t.TempDir(), "config.toml", tt.old)
			if err := SetConfig(file, tt.key, tt.value); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, read(t, file)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for _, s := range []string{"", "plain", "\"\\/", "\x00\x1f\x7f\t\r\n", "\u0085\u2028\ufeff", "<é>&😀"} {
		var v struct{ V string }
		if err := toml.Unmarshal([]byte("V = "+quote(s)), &v); err != nil || v.V != s {
			t.Errorf("%q is quoted as %s: %q, %v", s, quote(s), v.V, err)
		}
	}
}

func TestSetConfigRefuses(t *testing.T) {
	tests := []struct{ name, old, key, value, message string }{
		{"unknown key", "", "limits.step", "1", "limits.step is not a setting"},
		{"table", "", "limits", "1", "limits is not a setting"},
		{"number", "", "limits.steps", "many", `limits.steps: "many" is not a whole number`},
		{"octal", "", "limits.steps", "010", `limits.steps: "010" is not a whole number`},
		{"mode", "", "mode", "yolo", "mode: \"yolo\" is not one of"},
		{"rule", "", "rules.deny", "Bash(a, b)", "rules.deny: rule"},
		{"not a list", "", "rules.deny", "[1]", "rules.deny: the value is not an array of strings"},
		{"list and more", "", "env.pass", "[\"A\"]\nx = 1", "is not an array of strings"},
		{"not UTF-8", "", "providers.x.key", "\xff", "not UTF-8"},
		{"a table stands there", "[mode]\nx = 1\n", "mode", "ask", "mode is a table"},
		{"a value stands there", "limits = 1\n", "limits.steps", "1", "limits is not a table"},
		{"an array of tables stands there", "[[limits]]\nsteps = 1\n", "limits.steps", "1", "limits is not a table"},
		{"a list of tables stands there", "[[rules.deny]]\nsteps = 1\n", "rules.deny", "Read", "rules.deny cannot be set without changing more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := put(t, t.TempDir(), "config.toml", tt.old)
			err := SetConfig(file, tt.key, tt.value)
			if !is[*ConfigError](err) || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("got %v", err)
			}
			if got := read(t, file); got != tt.old {
				t.Errorf("it is now %q", got)
			}
		})
	}
	if err := SetConfig("", "mode", "ask"); !is[*ConfigError](err) {
		t.Errorf("without a home: %v", err)
	}
}

func TestSetConfigMakesAPrivateFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "b", "config.toml")
	if err := SetConfig(file, "mode", "yolo"); err == nil {
		t.Fatal("a bad value was taken")
	}
	if _, err := os.Stat(filepath.Dir(file)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a bad value left %v", err)
	}
	if err := SetConfig(file, "mode", "plan"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700, filepath.Join(dir, "a"): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(file)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestSetConfigKeepsLinkAndMode(t *testing.T) {
	dir := t.TempDir()
	real := put(t, dir, "dotfiles/belay.toml", "mode = \"ask\"\n")
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "config.toml")
	if err := os.Symlink("dotfiles/belay.toml", link); err != nil {
		t.Fatal(err)
	}
	if err := SetConfig(link, "mode", "plan"); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "dotfiles/belay.toml" {
		t.Errorf("the link is %q, %v", to, err)
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o640 || read(t, real) != "mode = \"plan\"\n" {
		t.Errorf("%v, %v, %q", info.Mode(), err, read(t, real))
	}

	dangling := filepath.Join(dir, "dangling.toml")
	if err := os.Symlink(filepath.Join(dir, "new", "x.toml"), dangling); err != nil {
		t.Fatal(err)
	}
	if err := SetConfig(dangling, "mode", "plan"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "new", "x.toml")); got != "mode = \"plan\"\n" {
		t.Errorf("got %q", got)
	}
}

func TestSetConfigRespectsReadOnly(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", "mode = \"ask\"\n")
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	err := SetConfig(file, "mode", "plan")
	if !is[*ConfigError](err) || !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
	if got := read(t, file); got != "mode = \"ask\"\n" {
		t.Errorf("it is now %q", got)
	}
}

// A file that an editor replaces at the worst moment keeps the editor's change
// and gets ours.
func TestRewriteSeesWhoTakesNoLock(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", "# 1\n")
	times := 0
	err := rewrite(file, func(old []byte) ([]byte, error) {
		if times++; times == 1 {
			other := put(t, filepath.Dir(file), "edited", "# 2\n")
			if err := os.Rename(other, file); err != nil {
				return nil, err
			}
		}
		if times == 2 {
			put(t, filepath.Dir(file), "config.toml", "# 3\n") // in place
		}
		return append(old, "ours\n"...), nil
	})
	if err != nil || times != 3 || read(t, file) != "# 3\nours\n" {
		t.Errorf("%v after %d times: %q", err, times, read(t, file))
	}
}

// setterEnv makes this test binary a process that changes settings.
const setterEnv = "TEST_CONFIG_SETTER"

func TestBug_F02_ProcessesChangeDifferentSettings(t *testing.T) {
	if name := os.Getenv(setterEnv); name != "" {
		for i := range 20 {
			if err := SetConfig(os.Args[len(os.Args)-1], "providers."+name+".key", fmt.Sprint(i+1)); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	file := filepath.Join(t.TempDir(), "belay", "config.toml")
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", file)
			c.Env = append(os.Environ(), fmt.Sprintf("%s=p%d", setterEnv, n))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		wg.Go(func() { // and others of this process
			for i := range 20 {
				if err := SetConfig(file, fmt.Sprintf("providers.g%d.key", n), fmt.Sprint(i+1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c := load(t, Sources{User: file})
	for n := range 4 {
		for _, name := range []string{fmt.Sprint("p", n), fmt.Sprint("g", n)} {
			if got := c.Providers[name].Key; got != "20" {
				t.Errorf("%s has %q", name, got)
			}
		}
	}
	if files, _ := os.ReadDir(filepath.Dir(file)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// FuzzSet: in any document that parses, one key changes and nothing else.
func FuzzSet(f *testing.F) {
	for _, doc := range []string{full, "", "mode = 1", "[limits]\nsteps=1", "limits.steps = 1 # x", "limits = {steps = 1, }",
		"[a]\n[[b]]\nlimits = 1\n[b.limits]", "providers = {}", "[providers]\nx.key = ''\n", "# c\r\n[x]\r\n", "a = nan\nb = [{c = 1}, {}]\n", "[limits.x]\n[limits]\n",
		"limits = { # c\n steps = 1, # d\n}\n", "x = '''\nmode = 1\n'''\n"} {
		for i := range fuzzKeys {
			f.Add([]byte(doc), i, "v")
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, which int, text string) {
		if which < 0 || !strings.HasPrefix(quote(text), `"`) {
			return
		}
		key, value := fuzzKeys[which%len(fuzzKeys)], quote(strings.ToValidUTF8(text, "?"))
		var before map[string]any
		if bytes.HasPrefix(doc, bom) || checkSyntax("", doc) != nil || toml.Unmarshal(doc, &before) != nil {
			return
		}
		s, err := placeKey(doc, key, value)
		blocked, was := lookUp(before, key)
		if err != nil {
			if !blocked {
				t.Fatalf("set %v in %q: %v", key, doc, err)
			}
			return
		}
		after := s.in(doc, 0)
		var got map[string]any
		if err := toml.Unmarshal(after, &got); err != nil {
			t.Fatalf("%q became %q: %v", doc, after, err)
		}
		var v struct{ V string }
		if err := toml.Unmarshal([]byte("v = "+value), &v); err != nil {
			t.Fatal(err)
		}
		if _, now := lookUp(got, key); now != v.V {
			t.Fatalf("%v in %q is %v, not %q", key, after, now, v.V)
		}
		if a, b := without(before, key), without(got, key); !equalValues(a, b) {
			t.Fatalf("%q became %q: %v is now %v", doc, after, a, b)
		}
		switch {
		case was == nil && s.start != s.end:
			t.Fatalf("%q lost %q", doc, doc[s.start:s.end])
		case was != nil:
			var old struct{ V any }
			if err := toml.Unmarshal(append([]byte("V = "), doc[s.start:s.end]...), &old); err != nil || !equalValues(old.V, was) {
				t.Fatalf("%q lost %q, which is not %v: %v", doc, doc[s.start:s.end], was, err)
			}
		}
	})
}

var fuzzKeys = [][]string{{"mode"}, {"limits", "steps"}, {"providers", "x", "key"}}

// lookUp returns the value of key, and whether something stands in its way.
func lookUp(m map[string]any, key []string) (blocked bool, v any) {
	for i, part := range key {
		v, there := m[part]
		if !there {
			return false, nil
		}
		inner, isTable := v.(map[string]any)
		if i == len(key)-1 {
			_, isArray := v.([]any) // perhaps of tables
			return isTable || isArray, v
		}
		if !isTable {
			return true, nil
		}
		m = inner
	}
	return false, nil
}

// without returns m without key, and without what is then empty on the way.
func without(m map[string]any, key []string) map[string]any {
	rest := make(map[string]any)
	for k, v := range m {
		if k != key[0] {
			rest[k] = v
			continue
		}
		if inner, ok := v.(map[string]any); ok && len(key) > 1 {
			if left := without(inner, key[1:]); len(left) > 0 {
				rest[k] = left
			}
		}
	}
	return rest
}
