// Package policy decides whether a call may run.
package policy

// A Policy is a mode and rules over it. Each part of a call is judged; the
// strictest verdict wins.
type Policy struct {
	Mode  Mode
	Rules []Rule
}

// A Mode says what passes without a rule.
type Mode string

// The closed list of modes, the strictest first.
const (
	ModePlan Mode = "plan" // only reads
	ModeAsk  Mode = "ask"  // asks before anything but reading the workspace
	ModeAuto Mode = "auto" // writes inside the workspace, and what a sandbox holds, pass too
	ModeFull Mode = "full" // asks only for the confirmations that no mode can skip
)

// A Rule is a verdict for the parts of a tool's calls that match a pattern.
type Rule struct {
	Tool    string // "" or "*" is any
	Pattern string // "" is any part
	Verdict Verdict
	Source  Source
	Match   []string // parts that must match, checked at load
	Refuse  []string // parts that must not
}

// A Source is where a rule comes from.
type Source string

// The closed list of sources.
const (
	FromUser       Source = "user"
	FromProject    Source = "project"
	FromApproval   Source = "approval"
	FromConstraint Source = "constraint"
)

// A Decision is a verdict and what led to it.
type Decision struct {
	Verdict Verdict
	Rule    string // the rule that decided, as it was written, or "mode NAME"
	Reason  string // one line for the user and the model
}

// A Verdict says whether a call may run. Later ones are stricter.
type Verdict int

// The closed list of verdicts, the mildest first.
const (
	Allow Verdict = iota
	Ask
	Deny
)
