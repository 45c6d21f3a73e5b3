package process_test

import (
	"cmp"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/world/process"
)

// BenchmarkSandbox runs the program true in every profile. It reports the
// median, since a machine that does other things now and then spoils the mean.
func BenchmarkSandbox(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range slices.Concat([]process.Profile{process.None}, profiles) {
		b.Run(string(p), func(b *testing.B) {
			root := b.TempDir()
			h, err := process.Sandbox{Program: exe, Root: root, Only: p, Limits: process.UsualLimits()}.Open("")
			if err != nil {
				b.Fatal(err)
			}
			defer h.Close()
			if h.Profile() != p {
				b.Skip(h.Gaps()[p])
			}
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				_, err := h.Run(b.Context(), process.Command{
					Argv: []string{"true"}, Dir: root, Env: []string{path}, Keep: 1 << 10, Allowed: writes,
				})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.SortFunc(took, cmp.Compare)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
		})
	}
}
