//go:build linux && soak

package process_test

// cancels is how many commands are cancelled at random moments.
const cancels = 10_000

// flooding is how many bytes a terminal is flooded with.
const flooding = 2 << 30
