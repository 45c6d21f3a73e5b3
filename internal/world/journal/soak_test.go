//go:build soak

package journal

import "testing"

// soak says whether the long tests run whole, or take a sample.
const soak = true

func TestPromise_P03_PowerCutsForLong(t *testing.T) {
	for shard := range uint64(4) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			powerCuts(t, 1_000_000*(shard+1), 25_000)
		})
	}
}
