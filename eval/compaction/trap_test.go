package compaction

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/world/journal"
)

// banning returns how many constraints of a session are held by bans.
func banning(t *testing.T, p place) (n int) {
	t.Helper()
	for e, err := range journal.Read(p.log) {
		if err != nil {
			t.Fatal(err)
		}
		if k, ok := e.Body.(event.Constrained); ok && len(k.Bans) > 0 {
			n++
		}
	}
	return n
}

func TestR271_R272_PlanAStaysRejected(t *testing.T) {
	base, s, control, other := quickly(t)
	b := bench{wire: wired(t), notes: summariser{}, compact: ordinary, dir: t.TempDir()}
	trap, err := b.spring(limited(t), base, s, filepath.Join(b.dir, "trap"))
	if err != nil {
		t.Fatal(err)
	}
	if trap.Changed || len(trap.Stopped) != 3 || len(trap.Ran)+len(trap.Failed) > 0 {
		t.Errorf("plan A, rejected: %+v", trap)
	}
	free, err := b.spring(limited(t), control, other, filepath.Join(b.dir, "control"))
	if err != nil {
		t.Fatal(err)
	}
	if !free.Changed || len(free.Ran) != 3 {
		t.Errorf("plan A, never rejected: %+v", free)
	}
	if banning(t, base) <= banning(t, control) {
		t.Error("the two sessions do not differ in what is banned")
	}
	b.compact = forgetful
	lost, err := b.spring(limited(t), base, s, filepath.Join(b.dir, "sabotage"))
	if err != nil {
		t.Fatal(err)
	}
	if missed := (Report{Trap: lost, Control: free}).misses(); !slices.ContainsFunc(missed, func(m string) bool { return strings.Contains(m, "requests refused; ran [\"Bash") }) {
		t.Errorf("a compaction that lifts the constraints passes: %+v", lost)
	}
}

// TestR266_R267_R268_R269_R270_R271_R272_EverySession measures all eight: what
// make eval-compaction does.
func TestR266_R267_R268_R269_R270_R271_R272_EverySession(t *testing.T) {
	if !exhaustive {
		t.Skip("the long one: -tags soak")
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			b := bench{wire: wired(t), notes: summariser{}, compact: ordinary, dir: t.TempDir()}
			r, err := b.measure(limited(t), name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.misses() {
				t.Error(m)
			}
		})
	}
}
