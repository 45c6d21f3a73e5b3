package terminal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
)

// What a command prints stands in columns, as it would without us.
func TestLiveOutputKeepsItsColumns(t *testing.T) {
	for _, c := range []struct {
		name, printed, want string
		width               int
	}{
		{"tabs", "ok  \tm/a\t0.1s\nFAIL\tm/long\t2s\n", "  │ ok      m/a     0.1s\n  │ FAIL    m/long  2s\n", 0},
		{"on a narrow screen", "FAIL\tm/long\t2s\n", "  │ FAIL    m/…\n", 15},
		{"beside what is made harmless", "a\x1b[2J\tb\n", "  │ a\\x1b[2J        b\n", 0},
		{"a whole screen of them", strings.Repeat("\t", 2*maxLive) + "\n", "  │ " + strings.Repeat(" ", 8*maxLive) + "\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, progress := play(t, Options{Verbose: true, Width: c.width}, agent.Output{Call: "c1", Text: []byte(c.printed)})
			if diff := cmp.Diff(c.want, progress); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}
