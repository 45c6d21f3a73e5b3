package main

import (
	"strings"
	"testing"
)

// TestPromise_P16_NothingIsObeyedAtATerminal: the same where a terminal shows it,
// with colours, the window of what runs, and questions.
func TestPromise_P16_NothingIsObeyedAtATerminal(t *testing.T) {
	for _, args := range [][]string{{"run", "--mode", "full"}, {"run", "--mode", "full", "--verbose"}, {"run", "--mode", "ask"}} {
		t.Run(strings.Join(args[2:], " "), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = []string{"TERM=xterm"}
			model := hostileTurn(t, p)
			c := p.console(t, true, append(args, "-m", model, "go")...)
			if args[2] == "ask" {
				c.await("why: mode ask")
				c.enter("\x04")
			}
			_, seen := c.end()
			if bad := obeyed(ours.ReplaceAllString(seen, "\n")); bad != "" {
				t.Error(bad)
			}
			if !strings.Contains(seen, `\x1b]0;owned\x07`) && !strings.Contains(seen, `\u202e`) {
				t.Errorf("it is not shown as escapes:\n%s", seen)
			}
		})
	}
}
