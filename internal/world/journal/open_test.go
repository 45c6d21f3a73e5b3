package journal

import (
	"path/filepath"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A long session opens quickly: reading a record costs no memory.
func TestOpenAllocatesNothingForARecord(t *testing.T) {
	open := func(events int64) float64 {
		dir := filepath.Join(t.TempDir(), "s")
		j := must(Open(dir, nil))
		for j.last.seq < events {
			must(j.Append(event.Packed{}, event.Sent{Request: "r"}, event.Ruled{Path: "AGENTS.md"}, event.Asked{Text: "go on"}))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			found, err := survey(system{}, dir)
			if err != nil || found.last.seq < events {
				t.Fatal(found.last.seq, err)
			}
		})
	}
	if few, many := open(300), open(4300); many-few > 200 { // the chain records, and the marks
		t.Errorf("%v allocations for 300 events, %v for 4,300", few, many)
	}
}
