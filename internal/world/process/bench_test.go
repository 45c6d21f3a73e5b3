//go:build linux

package process_test

import (
	"strconv"
	"testing"

	"github.com/belay-agent/belay/internal/world/process"
)

// BenchmarkRun runs the program true: without a record, and with one that
// survives a power cut.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"bare", "recorded"} {
		b.Run(name, func(b *testing.B) {
			spool := ""
			if name == "recorded" {
				spool = b.TempDir()
			}
			h, err := process.Open(spool)
			if err != nil {
				b.Fatal(err)
			}
			defer h.Close()
			dir := b.TempDir()
			for i := 0; b.Loop(); i++ {
				_, err := h.Run(b.Context(), process.Command{
					Call: "c" + strconv.Itoa(i), Argv: []string{"true"}, Dir: dir, Env: []string{path}, Keep: 1 << 10,
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
