//go:build !soak

package policy

const p18Sets = 20_000
