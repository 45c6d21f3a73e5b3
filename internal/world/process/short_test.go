//go:build linux && !soak

package process_test

// cancels is how many commands are cancelled at random moments.
const cancels = 99
