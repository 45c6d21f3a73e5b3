// Package policy decides whether a call may run.
//
// A mode says what passes by itself, rules change that for what they name, and
// a few floors hold whatever mode and rules say:
//
//   - in plan mode nothing but reading the workspace passes;
//   - what is permanent is at least asked about;
//   - reading a known secret is at least asked about, unless a rule of the user
//     or an approval allows it and its pattern is itself the name of a secret:
//     ".env" or "**/*.pem" lifts the floor, "**" does not;
//   - writing a protected path, which other programs or later sessions would
//     trust, is at least asked about, but in full mode.
//
// A rule is for what its pattern names. Of a tool that only touches paths, the
// pattern is a glob for resolved workspace paths: "src/**", "**/*.go", "docs/"
// for all below; whole elements count, so "src/" is not for "src2". A search is
// named by the tree that it searches, not by the files it finds.
//
// Of any other tool the pattern is the words of one command, as a shell reads
// them: blanks and quotes mean nothing. What the shell would put something else
// for, and where it would send output, count as they are written. The last word
// may be open: "*" is one or more operands, each a file of the workspace, and "**"
// is any words. A line of several commands has a part for each, which are judged
// each by itself.
//
// A rule that allows is read narrowly: its command is the whole part, wrappers,
// assignments and redirections included, and its relative glob never leaves the
// workspace. One that asks or denies is read widely: one for Edit, MultiEdit,
// Patch, Rename or Write is for all of these, one for Read also for Grep, one for
// Bash also for Test, and one for files also for the commands that are known to
// touch them; an absolute pattern also finds the files of the workspace; and a
// command is found wherever its program may run with its operands and options,
// whatever else is there: see forbids.
package policy

// A Policy is a mode and rules over it. Each part of a call is judged; the
// strictest verdict wins. The order of the rules means nothing.
type Policy struct {
	Mode  Mode
	Rules []Rule
	Root  string   // of the workspace, absolute: what an absolute pattern that asks or denies counts from
	Of    *Subject // the call that is judged, where that is known: see About
}

// A Mode says what passes without a rule. The zero Mode is ModeAsk, and one that
// is not in the closed list is ModePlan.
type Mode string

// The closed list of modes, the strictest first.
const (
	ModePlan Mode = "plan" // only reads
	ModeAsk  Mode = "ask"  // asks before anything but reading the workspace
	ModeAuto Mode = "auto" // writes inside the workspace, and what a sandbox holds, pass too
	ModeFull Mode = "full" // asks only for the confirmations that no mode can skip
)

// A Rule is a verdict for the parts of a tool's calls that match a pattern. Of
// the rules that match a part, the strictest replaces the verdict of the mode.
// Only FromUser and FromApproval may loosen: an Allow of another source is
// ignored.
type Rule struct {
	Tool    string // "" or "*" is any
	Pattern string // "" is any part
	Verdict Verdict
	Source  Source
	Match   []string // examples that must match: see Check
	Refuse  []string // examples that must not
	Ban     *Ban     // what narrows it further, and whose words it is; nil for a rule of settings
}

// A Source is where a rule comes from.
type Source string

// The closed list of sources.
const (
	FromUser       Source = "user"
	FromProject    Source = "project"
	FromApproval   Source = "approval"
	FromConstraint Source = "constraint" // what the user said
	FromNote       Source = "note"       // what was tried or weighed and ruled out
)

// A Decision is a verdict and what led to it.
type Decision struct {
	Verdict Verdict
	Rule    string // the rule that decided, as it was written, or "mode NAME", "permanent", "secret", "protected path"
	Reason  string // one line for the user and the model
	Ban     string // the ID of the constraint or note that decided, "" if none did
}

// A Verdict says whether a call may run. Later ones are stricter.
type Verdict int

// The closed list of verdicts, the mildest first.
const (
	Allow Verdict = iota
	Ask
	Deny
)
