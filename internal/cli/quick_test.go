//go:build !soak

package cli

// undoSequences is how many random sequences are taken back.
const undoSequences = 40

// mutantsSampled says whether only some of the wrapped lines are tried.
const mutantsSampled = true
