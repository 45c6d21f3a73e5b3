// Package effect describes what a call may do to the world.
//
// Effects are the waist of the program: policy judges them, the scheduler
// orders by them, the sandbox confines to them and the journal records them.
// There is no second notion of risk, category or mutation.
package effect

import "strings"

// A Kind is one way of touching the world.
type Kind string

// The closed list of kinds.
const (
	Read      Kind = "read"      // reads a path
	Write     Kind = "write"     // creates, changes or removes a path
	Process   Kind = "process"   // starts a program
	Network   Kind = "network"   // talks to a host
	Git       Kind = "git"       // changes the index, a ref or the stash
	Resource  Kind = "resource"  // holds a named thing: "port:8080", "cache:go-build", "db:test"
	Permanent Kind = "permanent" // cannot be undone by us: history rewritten, published, deleted outside
	Anything  Kind = "anything"  // cannot be bounded: the whole workspace and more
)

// An Effect is a kind and what it touches: a path, a host, a name, or "" where
// the kind says it all.
//
// A path is slash-separated. Inside the workspace it is relative to the root,
// without "." and ".." elements, and the root itself is "."; outside it is
// absolute. Whoever declares an effect resolves its path first, and writes a
// host in lower case and without a port.
type Effect struct {
	Kind Kind   `json:"kind"`
	On   string `json:"on,omitempty"`
	Tree bool   `json:"tree,omitempty"` // On and all below it
}

// String returns e as a log shows it: "write src/a.go", "read src/**", "git".
func (e Effect) String() string {
	switch {
	case e.On == "":
		return string(e.Kind)
	case e.Tree:
		return string(e.Kind) + " " + strings.TrimSuffix(e.On, "/") + "/**"
	}
	return string(e.Kind) + " " + e.On
}

// A Set is the most a call may do. The zero Set does nothing.
type Set []Effect

// Commanded reports whether a program may change files, and which paths: all if
// none are named. A call that writes without a program is not meant: its tool knows
// what it changes.
func (s Set) Commanded() (scope []string, ok bool) {
	runs := false
	for _, e := range s {
		switch e.Kind {
		case Anything:
			return nil, true
		case Process:
			runs = true
		case Write:
			scope = append(scope, e.On)
		}
	}
	return scope, runs && scope != nil
}

// OnlyReads reports whether s does no more than read. So does a Set that does
// nothing.
func (s Set) OnlyReads() bool {
	for _, e := range s {
		if e.Kind != Read {
			return false
		}
	}
	return true
}
