//go:build race

package toolbox

// raceSlack is how many times the memory of a program the race detector takes.
const raceSlack = 2
