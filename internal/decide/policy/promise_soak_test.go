//go:build soak

package policy

const p18Sets = 1_000_000
