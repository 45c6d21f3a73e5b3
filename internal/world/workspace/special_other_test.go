//go:build !linux

package workspace

import "testing"

func fifo(t *testing.T, full string) {
	t.Helper()
	t.Skip("no fifo here: ", full)
}

func device(t *testing.T, full string) {
	t.Helper()
	t.Skip("no device here: ", full)
}
