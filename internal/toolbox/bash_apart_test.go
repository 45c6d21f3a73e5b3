package toolbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// R133, R145: how each stage ended is told, and standard error is seen wherever a
// stage failed, so that no empty result reads as "nothing found".
func TestR145_AFailedStageNeverReadsAsNothingFound(t *testing.T) {
	const failed = "of its last pipeline failed"
	for _, c := range []struct {
		command string
		stages  []int
		has     []string
		hasNot  string
		kind    tool.Kind
	}{
		{command: "grep x nofile | sort", stages: []int{2, 0}, has: []string{"nofile: No such file", "stage 1 of 2 " + failed, "ended with 2, 0"}},
		{command: "printf 'b\na\n' | grep x | sort", stages: []int{0, 1, 0}, has: []string{"(no output)", "stage 2 of 3 " + failed}},
		{command: "printf 'b\na\n' | sort", stages: []int{0, 0}, has: []string{"a\nb\n"}, hasNot: failed},
		{command: "seq 999999 | head -2", stages: []int{141, 0}, has: []string{"1\n2\n"}, hasNot: failed},
		{command: "true | false", stages: []int{0, 1}, hasNot: failed, kind: tool.NonzeroExit},
		{command: "nosuchprogram x | cat", stages: []int{127, 0}, has: []string{"nosuchprogram", "stage 1 of 2 " + failed}},
		{command: "echo oops >&2; seq 1 90000 | grep -v x; echo more >&2; exit 4", has: []string{"standard error, 10 bytes:]\noops\nmore\n"}, kind: tool.NonzeroExit},
		{command: "echo oops >&2; seq 1 90000", has: []string{"oops"}, hasNot: "standard error,"},
		{command: "echo middle; false; seq 1 90000 | (head -1 >/dev/null; exec sh -c 'yes line | head -50000; echo lost >&2; yes line | head -50000; exit 3') | cat",
			stages: []int{141, 3, 0}, has: []string{"standard error, 5 bytes:]\nlost\n", "stage 2 of 3 " + failed}},
	} {
		t.Run(c.command, func(t *testing.T) {
			r, f := bashWith(t, bashIn(t, t.TempDir(), BashOptions{}), tool.Env{Spill: new(shelf).spill}, bashArgs{Command: c.command})
			if c.stages != nil && !cmp.Equal(f.Stages, c.stages) {
				t.Errorf("stages %v, want %v", f.Stages, c.stages)
			}
			for _, has := range c.has {
				if !strings.Contains(r.Text, has) {
					t.Errorf("%q is not in\n%s", has, ends(r.Text))
				}
			}
			if c.hasNot != "" && strings.Contains(r.Text, c.hasNot) {
				t.Errorf("%q is in\n%s", c.hasNot, ends(r.Text))
			}
			if got := kindOf(r); got != c.kind {
				t.Errorf("kind %q, want %q", got, c.kind)
			}
			if len(r.Text) > tool.DefaultInline {
				t.Errorf("%d bytes of text", len(r.Text))
			}
		})
	}
}

func ends(s string) string {
	if len(s) < 4000 {
		return s
	}
	return s[:1000] + "\n.....\n" + s[len(s)-3000:]
}
