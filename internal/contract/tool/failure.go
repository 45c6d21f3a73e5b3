package tool

import "encoding/json"

// A Failure is an error the model can act on.
type Failure struct {
	Kind    Kind            `json:"kind"`
	Message string          `json:"message"`                    // what was being done, to what, and what went wrong
	Hint    string          `json:"suggested_action,omitempty"` // the next step to try
	Retry   bool            `json:"retryable"`                  // the same call may succeed later
	Detail  json.RawMessage `json:"detail,omitempty"`

	// Parts are what the call was to do, as far as Prepare knew it when it failed: what
	// is forbidden is said to be, whatever else is wrong with it. They are not recorded.
	Parts []Part `json:"-"`
}

func (f *Failure) Error() string { return f.Message }

// A Kind is one of the closed list of failure kinds.
type Kind string

// The closed list of failure kinds.
const (
	Invalid          Kind = "invalid"           // arguments that do not fit the schema, or make no sense
	NotFound         Kind = "not_found"         // no such path, tool or artifact
	IsDirectory      Kind = "is_directory"      // a file was wanted
	NotRegular       Kind = "not_regular"       // a FIFO, socket or device
	Binary           Kind = "binary"            // text was wanted
	TooLarge         Kind = "too_large"         // over a limit
	OutsideWorkspace Kind = "outside_workspace" // the path leads out of the workspace
	NotRead          Kind = "not_read"          // the model must read the file first
	Stale            Kind = "stale"             // the file changed since it was read
	NoMatch          Kind = "no_match"          // the text to replace is not in the file
	Ambiguous        Kind = "ambiguous"         // it is there more than once
	NoChange         Kind = "no_change"         // the change would change nothing
	Denied           Kind = "denied"            // by policy or by a person
	NeedsApproval    Kind = "needs_approval"    // of a person, who was not there
	TimedOut         Kind = "timed_out"         // took longer than its limit
	Idle             Kind = "idle"              // was silent for longer than its limit
	NonzeroExit      Kind = "nonzero_exit"      // a command's exit status was not 0
	Signalled        Kind = "signalled"         // a command was ended by a signal
	Cancelled        Kind = "cancelled"         // by the user
	DependencyFailed Kind = "dependency_failed" // an earlier call that it needed did not succeed
	Repeated         Kind = "repeated"          // the same call failed before, for reasons in its arguments
	CircuitOpen      Kind = "circuit_open"      // its tool failed too often in a row
	RateLimited      Kind = "rate_limited"      // by a service
	Unavailable      Kind = "unavailable"       // a service or program cannot be reached
	Overflow         Kind = "overflow"          // would not fit the context window
	NoPermission     Kind = "no_permission"     // of the operating system
	IO               Kind = "io"                // the disk or a pipe failed
	Internal         Kind = "internal"          // a fault of Belay
)

// Kinds is the closed list, in the order of its documentation.
var Kinds = []Kind{
	Invalid, NotFound, IsDirectory, NotRegular, Binary, TooLarge, OutsideWorkspace,
	NotRead, Stale, NoMatch, Ambiguous, NoChange, Denied, NeedsApproval, TimedOut,
	Idle, NonzeroExit, Signalled, Cancelled, DependencyFailed, Repeated, CircuitOpen,
	RateLimited, Unavailable, Overflow, NoPermission, IO, Internal,
}

// ByArguments reports whether a failure of this kind would come back for the
// same arguments for as long as nothing else has changed.
func (k Kind) ByArguments() bool {
	switch k {
	case Invalid, NotFound, IsDirectory, NotRegular, Binary, TooLarge, OutsideWorkspace,
		NotRead, Stale, NoMatch, Ambiguous, NoChange:
		return true
	}
	return false
}

// ByTool reports whether a failure of this kind says that the tool itself, and
// not this use of it, is in trouble.
func (k Kind) ByTool() bool {
	switch k {
	case TimedOut, Idle, Unavailable, RateLimited, Internal:
		return true
	}
	return false
}
