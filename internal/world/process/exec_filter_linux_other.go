//go:build linux && !amd64

package process

// refusedHere and modesHere are calls that only older architectures have.
var refusedHere, modesHere []uint32
