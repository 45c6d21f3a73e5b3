package agent_test

import (
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
)

// TestR269_TokensOfAStepBesideTheSameWithoutCompaction: of two equal sessions of 300
// reads one has a window of 32,000 tokens and one a window that all of it fits into.
// What was sent for a step counts, as estimated; of the first so do the requests for
// notes.
func TestR269_TokensOfAStepBesideTheSameWithoutCompaction(t *testing.T) {
	const steps = 300
	perStep := func(window int) (tokens, compactions int) {
		sent := 0
		m := &small{window: window, calls: steps - 1, size: 800}
		m.handoff = func(r *model.Request) (model.Reply, error) {
			sent += r.Estimate()
			return notes()(r)
		}
		l := newLong(t, m, window, func(o *agent.Options) { o.Limits.Steps = steps + 1 })
		if err := l.turn("go"); err != nil {
			t.Fatal(err)
		}
		if len(m.sent) != steps {
			t.Fatalf("window %d: %d steps", window, len(m.sent))
		}
		for _, r := range m.sent {
			sent += r.Estimate()
		}
		return sent / steps, len(l.compactions())
	}
	less, compactions := perStep(32_000)
	whole, none := perStep(2_000_000)
	t.Logf("tokens of a step: %d with %d compactions, %d without: %.1f times as many", less, compactions, whole, float64(whole)/float64(less))
	if compactions < 10 || none != 0 {
		t.Errorf("%d and %d compactions: this proves little", compactions, none)
	}
	if less > 32_000*8/10 || whole < 4*less {
		t.Errorf("a step takes %d tokens, and %d without compaction", less, whole)
	}
}
