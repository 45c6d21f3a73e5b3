//go:build !linux

package workspace

import (
	"os"
	"sync/atomic"
	"testing"
)

func fifo(t *testing.T, full string) {
	t.Helper()
	t.Skip("no fifo here: ", full)
}

func device(t *testing.T, full string) {
	t.Helper()
	t.Skip("no device here: ", full)
}

func bind(t *testing.T, from, to string) {
	t.Helper()
	t.Skip("no mount here: ", from, to)
}

// swap exchanges two names as well as it can until stop is set.
func swap(t *testing.T, stop *atomic.Bool, a, b string) {
	for !stop.Load() {
		for _, names := range [][2]string{{a, a + "~"}, {b, a}, {a + "~", b}} {
			if err := os.Rename(names[0], names[1]); err != nil {
				t.Logf("rename: %v", err)
			}
		}
	}
}
