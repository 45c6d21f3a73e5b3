package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestR327_ALessonIsAskedAbout: at a terminal the person sees what would be written and
// decides, and what they wrote meanwhile stays.
func TestR327_ALessonIsAskedAbout(t *testing.T) {
	const rule = "first call Read, then make the same call again"
	for _, tc := range []struct {
		name, meanwhile, answer, want, holds string
		code                                 int
	}{
		{"yes", "", "y\n", "AGENTS.md has the rule", rule, 0},
		{"no", "", "n\n", "nothing was written", "", 3},
		{"nothing", "", "\n", "nothing was written", "", 3},
		{"end of input", "", "\x04", "nothing was written", "", 3},
		{"written meanwhile", "mine\n", "y\n", "nothing was written: run it again", "mine\n", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(t, "n.conf", "1")
			edit := func(from, to string) string {
				return `call: Edit {"path": "n.conf", "old": "` + from + `", "new": "` + to + `"}`
			}
			for _, step := range []string{"12", "23", "34"} {
				e := edit(step[:1], step[1:])
				p.run(t, "run", "--mode", "full", "-m", p.play(t, e, `call: Read {"path": "n.conf"}`, e, "say: done"), "count").wants(t, 0)
			}
			id, _, _ := strings.Cut(p.run(t, "learn").out, " ")
			c := p.console(t, true, "learn", id)
			c.await(rule)
			c.await("[y/N]")
			if p.exists("AGENTS.md") {
				t.Error("it was written before the answer")
			}
			if tc.meanwhile != "" {
				p.write(t, "AGENTS.md", tc.meanwhile)
			}
			c.enter(tc.answer)
			code, seen := c.end()
			if code != tc.code || !strings.Contains(seen, tc.want) {
				t.Errorf("exit status %d, want %d and %q; shown:\n%s", code, tc.code, tc.want, seen)
			}
			b, err := os.ReadFile(filepath.Join(p.dir, "AGENTS.md"))
			if (err == nil) != (tc.holds != "") || !strings.Contains(string(b), tc.holds) {
				t.Errorf("the rules are %q, %v", b, err)
			}
			if tc.meanwhile != "" && string(b) != tc.meanwhile {
				t.Errorf("what was written meanwhile is %q now", b)
			}
		})
	}
}
