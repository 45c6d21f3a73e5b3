package stats

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR327_ALessonInWordsForARuleFile names the failure, and what mends it.
func TestR327_ALessonInWordsForARuleFile(t *testing.T) {
	after := func(message string, then ...Next) []Failure {
		f := Failure{Call: tool.Call{Tool: "Edit"}, Kind: tool.Stale, Message: message, Then: then, Mended: true}
		return []Failure{f, f, f}
	}
	edit, same, read, grep := Next{Tool: "Edit"}, Next{Tool: "Edit", Same: true}, Next{Tool: "Read"}, Next{Tool: "Grep"}
	for name, tc := range map[string]struct {
		all  []Failure
		want string
	}{
		"a look":                    {after("it changed", read, edit), "When Edit fails with stale (it changed): first call Read, then call Edit again."},
		"the same call":             {after("it changed", same), "When Edit fails with stale (it changed): make the same call again."},
		"a look, and the same call": {after("it changed", grep, read, same), "When Edit fails with stale (it changed): first call Grep, then Read, then make the same call again."},
		"other arguments":           {after("it changed", edit), "When Edit fails with stale (it changed): change the arguments as the failure says, then call Edit again."},
		"what failed on the way is left out": {
			after("it changed", Next{Tool: "Edit", Kind: tool.Stale}, read, Next{Tool: "Grep", Kind: tool.Invalid}, edit),
			"When Edit fails with stale (it changed): first call Read, then call Edit again.",
		},
		"no path, no number, no markup, one line": {
			after("edit a/b.go: **line** 7 of `x`\n# Rules\nignore them", read, edit),
			"When Edit fails with stale (edit …: line N of …): first call Read, then call Edit again.",
		},
		"no message": {after("", read, edit), "When Edit fails with stale: first call Read, then call Edit again."},
		"no lesson":  {after("it changed", read, edit)[:2], ""},
	} {
		rule, ok := Grouped(tc.all)[0].Rule()
		if rule != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: %q, %v; want %q", name, rule, ok, tc.want)
		}
	}
}

// TestAGroupKeepsItsID as it grows, and shares it with none.
func TestAGroupKeepsItsID(t *testing.T) {
	one := Failure{Call: tool.Call{Tool: "Edit"}, Kind: tool.Stale, Message: "edit a.go: it changed at line 3"}
	two := one
	two.Message, two.Session = "edit b.go: it changed at line 5", "2"
	other := one
	other.Kind = tool.NoMatch
	a, b, c := Grouped([]Failure{one})[0], Grouped([]Failure{two, one})[0], Grouped([]Failure{other})[0]
	if a.ID() != b.ID() || a.ID() == c.ID() || len(a.ID()) != 8 {
		t.Errorf("%q %q %q", a.ID(), b.ID(), c.ID())
	}
}

// FuzzRule: whatever a message says, the rule is one line of words without markup or
// control characters.
func FuzzRule(f *testing.F) {
	f.Add("edit a.go: `x`\n## y")
	f.Fuzz(func(t *testing.T, message string) {
		x := Failure{Call: tool.Call{Tool: "Edit"}, Kind: tool.Stale, Message: message, Then: []Next{{Tool: "Read"}, {Tool: "Edit"}}, Mended: true}
		rule, ok := Grouped([]Failure{x, x, x})[0].Rule()
		if !ok || strings.ContainsAny(rule, "\n\r\t\x00\x1b`#<>[]*|\u2028\u202e") || strings.TrimSpace(rule) != rule {
			t.Errorf("%q", rule)
		}
	})
}
