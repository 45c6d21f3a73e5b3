package provider

import (
	"encoding/json"
	"slices"
)

// A loose value is nil where what came has another shape. It is for what a reply
// can do without, such as counts of tokens: servers write those as "" and [].
type loose[T any] struct{ is *T }

// UnmarshalJSON implements json.Unmarshaler. It has no errors.
func (l *loose[T]) UnmarshalJSON(b []byte) error {
	l.is = nil
	var v T
	if string(b) != "null" && json.Unmarshal(b, &v) == nil {
		l.is = &v
	}
	return nil
}

// saysError reports whether the field of an error holds one: some servers have it
// in every event, empty.
func saysError(raw json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", `""`, "{}", "[]", "false"}, string(raw))
}
