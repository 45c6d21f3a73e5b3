package toolbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// R147: many steps in one script are not one action with one end: each is judged
// by itself, and the stages of the last pipeline end apart. The shell comes after
// the tools that need no approval, and says so.
func TestR147_EachStepOfAScriptIsJudgedByItself(t *testing.T) {
	b := bashIn(t, t.TempDir(), BashOptions{})
	a, err := b.Prepare(t.Context(), bashCall(t, bashArgs{Command: "ls && (cat a | sort >b); rm -r c || git push --force"}))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	permanent := 0
	for _, p := range a.Parts {
		names = append(names, p.Name)
		if slices.ContainsFunc(p.Effects, func(e effect.Effect) bool { return e.Kind == effect.Permanent }) {
			permanent++
		}
	}
	for _, want := range []string{"ls", "cat a", "sort", ">b", "rm -r c", "git push --force"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is no part of its own: %q", want, names)
		}
	}
	if permanent != 2 {
		t.Errorf("%d parts cannot be undone, want 2", permanent)
	}
	if d := b.Spec().Description; !strings.Contains(d, "for files use") {
		t.Errorf("nothing says what to use instead: %s", d)
	}
}
