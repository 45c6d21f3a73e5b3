package schedule

import (
	"fmt"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// BenchmarkOrder orders 32 calls of one reply: reads of files and of trees, and
// writes.
func BenchmarkOrder(b *testing.B) {
	var calls []effect.Set
	for i := range 32 {
		path := fmt.Sprintf("dir%d/file.go", i%8)
		set := effect.Set{{Kind: effect.Read, On: path}}
		switch i % 4 {
		case 2:
			set = effect.Set{{Kind: effect.Read, On: fmt.Sprintf("dir%d", i%8), Tree: true}}
		case 3:
			set = append(set, effect.Effect{Kind: effect.Write, On: path})
		}
		calls = append(calls, set)
	}
	b.ReportAllocs()
	for b.Loop() {
		if w := Order(calls); len(w) != len(calls) {
			b.Fatal(w)
		}
	}
}
