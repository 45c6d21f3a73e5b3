package tool

import "github.com/belay-agent/belay/internal/contract/effect"

// A Ban is what calls must not do, in a form that code can match: a call that
// fits all that is set is stopped. The zero Ban stops nothing.
type Ban struct {
	Rule    string      `json:"rule,omitempty"`    // "Tool(pattern)", as settings write a rule
	Except  string      `json:"except,omitempty"`  // a pattern for what Rule is not for, as in "only change docs/"
	Effect  effect.Kind `json:"effect,omitempty"`  // a kind of effect, such as network
	Removes bool        `json:"removes,omitempty"` // only what removes a file
	Text    string      `json:"text,omitempty"`    // a name, such as a package's, that a call must not newly write or run
	Call    string      `json:"call,omitempty"`    // of an equal call, by tool and arguments: see Call.Signature
	Ask     bool        `json:"ask,omitempty"`     // a person may allow it, call by call
}
