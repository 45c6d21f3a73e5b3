//go:build soak

package workspace

import "time"

// How long robots race, and how many trials there are.
const (
	racing = time.Minute
	trials = 3000
)
