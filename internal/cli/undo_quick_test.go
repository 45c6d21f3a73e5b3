//go:build !soak

package cli

// undoSequences is how many random sequences are taken back.
const undoSequences = 100
