//go:build !soak

package compaction

// exhaustive says that tests may take minutes and fetch what they need.
const exhaustive = false
