// Package schedule decides which calls may overlap.
package schedule

import "github.com/belay-agent/belay/internal/contract/effect"

// Waits holds, for each call, the earlier calls it must wait for, in order.
type Waits [][]int

// Order makes every call wait for the earlier ones it conflicts with. Any run
// that keeps to it ends as if the calls had run one by one. That the model
// asked for calls together counts for nothing: only effects do.
func Order(calls []effect.Set) Waits {
	waits := make(Waits, len(calls))
	for i, call := range calls {
		for j, earlier := range calls[:i] {
			if call.Conflicts(earlier) {
				waits[i] = append(waits[i], j)
			}
		}
	}
	return waits
}
