// Package edit is what a change to files means, whatever format asked for it.
package edit

// An Intent is one file's change. Conflict detection, audit, undo and replay
// work on it; patches, search and replace, whole files and syntax trees are
// only ways to arrive at it.
type Intent struct {
	Path    string   `json:"path"`             // relative to the workspace root
	Base    string   `json:"base"`             // digest the change was made against; "" creates
	Result  string   `json:"result,omitempty"` // digest of the file after it; "" if removed or not yet done
	Regions []Region `json:"regions"`          // in ascending order, not overlapping
	Remove  bool     `json:"remove,omitempty"`
	Mode    string   `json:"mode,omitempty"`    // octal permission bits, such as "0755"; "" keeps
	Inexact string   `json:"inexact,omitempty"` // how the match was loosened, if it was
}

// A Region is a range of bytes and what replaces it. Events keep where and how
// long it is, never the bytes: those are in the images that Base and Result
// name, which are not redacted.
type Region struct {
	Start int    `json:"start"` // in the base
	End   int    `json:"end"`   // in the base, exclusive
	Len   int    `json:"len"`   // of New
	Old   []byte `json:"-"`     // the base's bytes from Start to End
	New   []byte `json:"-"`
}
