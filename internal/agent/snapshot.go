package agent

// How many events there are between two snapshots: within a turn, and at its
// end.
const (
	snapshotEvery = 500
	snapshotAtEnd = 100
)

// snapshot hands out the state to be cached if at least so many events came
// since it last did. A state that cannot be encoded is folded from the log next
// time, as if there were no snapshot.
func (a *Agent) snapshot(least int64) {
	if a.Keep == nil || a.state.Seq()-a.kept < least {
		return
	}
	if b, err := a.state.Snapshot(); err == nil {
		a.Keep(a.state.Seq(), b)
	}
	a.kept = a.state.Seq()
}
