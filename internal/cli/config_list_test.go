package cli

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/belay-agent/belay/internal/decide/policy"
)

// One element comes or goes, and no other byte changes.
func TestOneTextOfAListChanges(t *testing.T) {
	for _, tt := range []struct{ name, before, add, after string }{
		{"no file", "", "Bash(a)", "[rules]\nallow = [\"Bash(a)\"]\n"},
		{"empty", "[rules]\nallow = [] # x\n", "Bash(a)", "[rules]\nallow = [\"Bash(a)\"] # x\n"},
		{"one line", "[rules]\nallow = [\"Read\"]\n", "Bash(a, 'b')", "[rules]\nallow = [\"Read\", \"Bash(a, 'b')\"]\n"},
		{"lines", "[rules]\nallow = [\n\t\"Read\", # why\n\t'Grep' # so\n]\nask = []\n", "Bash(a)", ""},
		{"lines with a last comma", "[rules]\nallow = [\n  \"Read\", # why\n]\nask = []\n", "Bash(a)", "[rules]\nallow = [\n  \"Read\", # why\n  \"Bash(a)\",\n]\nask = []\n"},
		{"lines without", "[rules]\nallow = [\n  \"Read\",\n  \"Grep\"\n]\n", "Bash(a)", "[rules]\nallow = [\n  \"Read\",\n  \"Grep\",\n  \"Bash(a)\"\n]\n"},
		{"with tables", "[rules]\nallow = [\n  { rule = \"Read\", match = [\"a\"] },\n]\n", "Bash(a)", "[rules]\nallow = [\n  { rule = \"Read\", match = [\"a\"] },\n  \"Bash(a)\",\n]\n"},
		{"dotted", "rules.allow = [\"Read\"]\nmode = \"ask\"\n", "Bash(a)", "rules.allow = [\"Read\", \"Bash(a)\"]\nmode = \"ask\"\n"},
		{"inline", "rules = { allow = [\"Read\"] }\n", "Bash(a)", "rules = { allow = [\"Read\", \"Bash(a)\"] }\n"},
		{"mark and CRLF", "\xef\xbb\xbf[rules]\r\nallow = [\r\n  \"Read\",\r\n]\r\n", "Bash(a)", "\xef\xbb\xbf[rules]\r\nallow = [\r\n  \"Read\",\r\n  \"Bash(a)\",\r\n]\r\n"},
		{"there", "[rules]\nallow = [\"Bash(a)\"]\n", "Bash(a)", "[rules]\nallow = [\"Bash(a)\"]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.toml")
			if tt.before != "" {
				put(t, filepath.Dir(file), "config.toml", tt.before)
			}
			if err := AddConfig(file, "rules.allow", tt.add); err != nil {
				t.Fatal(err)
			}
			added := read(t, file)
			if d := cmp.Diff(tt.after, added); d != "" && tt.after != "" {
				t.Error(d)
			}
			if rules := load(t, Sources{User: file}).Rules; rules[len(rules)-1].String() != tt.add {
				t.Errorf("rules are %v", rules)
			}
			if tt.before == added {
				return
			}
			if err := RemoveConfig(file, "rules.allow", tt.add); err != nil {
				t.Fatal(err)
			}
			for _, r := range load(t, Sources{User: file}).Rules {
				if r.String() == tt.add {
					t.Errorf("it is still there:\n%s", read(t, file))
				}
			}
		})
	}
}

func TestOneTextIsTakenOutOfTheMiddle(t *testing.T) {
	const before = "[rules]\nallow = [\n  \"Read\", # why\n  \"Grep\",\n  \"LS\",\n]\n"
	for text, after := range map[string]string{
		"Grep": "[rules]\nallow = [\n  \"Read\", # why\n  \"LS\",\n]\n",
		"LS":   "[rules]\nallow = [\n  \"Read\", # why\n  \"Grep\",\n]\n",
	} {
		file := put(t, t.TempDir(), "config.toml", before)
		if err := RemoveConfig(file, "rules.allow", text); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(after, read(t, file)); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestWhatIsNoTextOfAListIsRefused(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", "[rules]\nallow = [\"Read\"]\n")
	for want, err := range map[string]error{
		"mode is not a setting of several texts":      AddConfig(file, "mode", "auto"),
		"rules.alow is not a setting; did you mean":   RemoveConfig(file, "rules.alow", "auto"),
		"rules.allow has no Bash(a)":                  RemoveConfig(file, "rules.allow", "Bash(a)"),
		"rules.allow: rule Bash(a: it does not end":   AddConfig(file, "rules.allow", "Bash(a"),
		"there is no place for settings":              AddConfig("", "rules.allow", "Bash(a)"),
		"env.pass: \"a b\" is not the name of a vari": AddConfig(file, "env.pass", "a b"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if got := read(t, file); got != "[rules]\nallow = [\"Read\"]\n" {
		t.Errorf("the file is now %q", got)
	}
}

// A rule can be a table with examples, beside those that are texts.
func TestRulesWithExamples(t *testing.T) {
	file := put(t, t.TempDir(), "config.toml", `[rules]
allow = ["Read", { rule = "Bash(cat *)", match = ["cat a.txt"], refuse = ["cat /etc/x", 'cat a.txt; rm b'] }]
deny = [{ rule = "Bash(git push)" }]
`)
	want := []policy.Rule{
		rule(t, "Read", policy.Allow, policy.FromUser),
		rule(t, "Bash(cat *)", policy.Allow, policy.FromUser),
		rule(t, "Bash(git push)", policy.Deny, policy.FromUser),
	}
	want[1].Match, want[1].Refuse = []string{"cat a.txt"}, []string{"cat /etc/x", "cat a.txt; rm b"}
	c := load(t, Sources{User: file})
	if d := cmp.Diff(want, c.Rules); d != "" {
		t.Error(d)
	}
	var shown []string
	for _, s := range c.Shown() {
		if strings.HasPrefix(s.Key, "rules.") {
			shown = append(shown, s.Key+" "+s.Value+" "+strings.Replace(s.From.String(), file, "F", 1))
		}
	}
	if d := cmp.Diff([]string{"rules.allow Read F:2", "rules.allow Bash(cat *) F:2", "rules.deny Bash(git push) F:3"}, shown); d != "" {
		t.Error(d)
	}
	for content, want := range map[string]string{
		`deny = [{ match = ["a"] }]`:                         "rules.deny: a table without rule",
		`deny = [{ rule = 7 }]`:                              "rules.deny: rule is a whole number, not a string",
		`deny = [{ rule = "Bash(" }]`:                        "it does not end in a parenthesis",
		`deny = [{ rule = "Bash", match = "a" }]`:            "rules.deny: examples are a string, not an array of strings",
		`deny = [{ rule = "Bash", refuse = [1] }]`:           "rules.deny: an example is a whole number, not a string",
		`deny = [{ rule = "Bash", verdict = "allow" }]`:      "rules.deny: verdict is not a field of a rule",
		`deny = [{ rule = "Bash", match.x = ["a"] }]`:        "match.x is not a field of a rule",
		`deny = [["Bash"]]`:                                  "rules.deny is an array, not an array of rules",
		"[[rules.deny]]\nrule = \"Bash\"":                    "rules.deny is not an array of tables",
		`deny = { rule = "Bash" }`:                           "rules.deny is a table, not an array of rules",
		`deny = [{ rule = "Bash", rule = "Read" }]`:          "",
		`env = { pass = [{ rule = "Bash", match = ["a"] }]}`: "",
	} {
		if !strings.HasPrefix(content, "[") {
			content = "[rules]\n" + content
		}
		_, err := LoadConfig(Sources{User: put(t, t.TempDir(), "config.toml", content)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

// FuzzList adds a text to a list in any document and takes it out again: whatever
// else it means stays.
func FuzzList(f *testing.F) {
	for _, doc := range []string{
		full, "", "[rules]\nallow = []", "rules.allow = [ ]", "[rules]\nallow = [\n'a', # x\n\"b\"\n] # y\n", "rules = { allow = ['a',] }", "[rules]\r\nallow = [\r\n  'a'\r\n]\r\n",
		"[rules]\nallow = [{rule = 'a'}, 'b',\n]\n", "rules.deny = ['x']\n[env]\n", "[rules]\nallow = [ # x\n]\n", "[rules]\nallow = ['a', 'a', 'v']\n", "[rules]\nallow = ['''\na]''', \"]\"]",
	} {
		f.Add([]byte(doc), "v")
		f.Add([]byte(doc), "a")
	}
	key := []string{"rules", "allow"}
	f.Fuzz(func(t *testing.T, doc []byte, text string) {
		var before map[string]any
		if bytes.HasPrefix(doc, bom) || checkSyntax("", doc) != nil || toml.Unmarshal(doc, &before) != nil || !utf8.ValidString(text) {
			return
		}
		var items []item
		for _, v := range listAt(before) {
			s, ok := v.(string)
			if !ok {
				return
			}
			items = append(items, item{text: s})
		}
		more := append(slices.Clone(items), item{text: text})
		change(t, doc, key, more, func(doc []byte) { change(t, doc, key, items, func([]byte) {}) })
	})
}

// change makes items the list of key in doc and checks that nothing else changes.
func change(t *testing.T, doc []byte, key []string, items []item, then func(doc []byte)) {
	t.Helper()
	var before, after map[string]any
	if err := toml.Unmarshal(doc, &before); err != nil {
		t.Fatal(err)
	}
	s, err := placeList(doc, key, items)
	if err != nil {
		return // it cannot be without more
	}
	changed := s.in(doc, 0)
	if err := toml.Unmarshal(changed, &after); err != nil {
		t.Fatalf("%q became %q: %v", doc, changed, err)
	}
	var got, want []any = listAt(after), nil
	for _, i := range items {
		want = append(want, i.text)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q became %q: the list is %v, want %v", doc, changed, got, want)
	}
	for _, m := range []map[string]any{before, after} {
		if rules, ok := m["rules"].(map[string]any); ok {
			if delete(rules, "allow"); len(rules) == 0 {
				delete(m, "rules")
			}
		}
	}
	if !equalValues(before, after) {
		t.Fatalf("%q became %q", doc, changed)
	}
	then(changed)
}

func listAt(m map[string]any) []any {
	rules, _ := m["rules"].(map[string]any)
	list, _ := rules["allow"].([]any)
	return list
}
