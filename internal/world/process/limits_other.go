//go:build !linux

package process

// UsualLimits returns none: nothing here bounds what a command uses.
func UsualLimits() Limits { return Limits{} }
