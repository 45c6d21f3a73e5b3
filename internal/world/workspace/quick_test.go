//go:build !soak

package workspace

import "time"

// How long robots race, and how many trials there are; the soak has more.
const (
	racing = 150 * time.Millisecond
	trials = 150
)
