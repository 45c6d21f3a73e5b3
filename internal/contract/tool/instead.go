package tool

import "encoding/json"

// instead is the Detail of a failure that says which calls to make in place of
// the one that failed.
type instead struct {
	Instead []Call `json:"instead"`
}

// InsteadDetail returns the Detail of a failure of a call that those of calls
// are for.
func InsteadDetail(calls []Call) json.RawMessage {
	b, err := json.Marshal(instead{calls})
	if err != nil {
		panic("tool: the arguments of a call to make are not JSON: " + err.Error())
	}
	return b
}

// Instead returns the calls that f says to make in place of the one that failed,
// none if it says nothing of that.
func Instead(f *Failure) []Call {
	var d instead
	if len(f.Detail) == 0 || json.Unmarshal(f.Detail, &d) != nil {
		return nil
	}
	return d.Instead
}
