//go:build soak

package main

// undoKills is how many runs are killed and taken back.
const undoKills = 1000
