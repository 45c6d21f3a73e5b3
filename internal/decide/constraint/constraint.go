// Package constraint finds what the user forbids or requires in what they say,
// and turns it into bans where code can match it.
//
// Find reads English and Chinese, mixed too, with weights that were learned from
// labelled texts: the same words always give the same constraints. What is quoted,
// asked, reported, allowed, or said of how the product behaves is none. What is
// missed FromProposal takes from a model, if the user really said it.
//
// Bans are made only of what is certainly meant: a path, a command, a tool, a
// package by its name, the network. All else stays words: the model is told, and
// nothing enforces it.
package constraint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Constraint is one thing that the user forbade or required.
type Constraint struct {
	Words string // their own, as they stand in the text
	Kind  Kind
	Bans  []tool.Ban // none if nothing but the words can keep it
}

// A Kind says what sort of constraint one is.
type Kind string

// The closed list of kinds.
const (
	Forbid  Kind = "forbid"
	Require Kind = "require"
	Ask     Kind = "ask" // before something is done
)

// maxFound is how many constraints one text can have: a longer list is a document
// that was pasted, not what the user asks of us.
const maxFound = 32

// Find returns the constraints in text, which is what a user said, in the order in
// which they stand there.
func Find(text string) []Constraint {
	m := weighed(text)
	return reader(m).find(text, m)
}

// Find is the function of that name, for a reader with other weights.
func (r Reader) Find(text string) []Constraint { return r.find(text, weighed(text)) }

func (r Reader) find(text string, m message) []Constraint {
	found := r.hear(text, m)
	slices.SortStableFunc(found, func(a, b span) int { return a.start - b.start })
	var out []Constraint
	end := 0
	for _, f := range found {
		if f.start < end || len(out) == maxFound {
			continue
		}
		end = f.end
		words := text[f.start:f.end]
		out = append(out, Constraint{Words: words, Kind: f.kind, Bans: Compile(words, f.kind)})
	}
	return out
}

// A span is where in a text a constraint stands.
type span struct {
	start, end int // bytes
	kind       Kind
}

// ErrNotSaid reports a proposal that is not in the user's words.
var ErrNotSaid = errors.New("the user did not say that")

// FromProposal returns the constraint that a model heard in userText, which is one
// message of the user, and that the reader missed. It must be in the user's own
// words, or the error is ErrNotSaid; white space may differ. What it bans is asked
// about, not denied: that these words bind is the model's reading, and a piece of a
// sentence can say what the whole does not.
func FromProposal(words, userText string) (Constraint, error) {
	start, end, ok := locate(words, userText)
	if !ok {
		return Constraint{}, fmt.Errorf("constraint %q: %w", words, ErrNotSaid)
	}
	words = userText[start:end]
	kind := kindOf(words)
	var bans []tool.Ban
	if negative(words) {
		bans = Compile(words, kind)
	}
	for i := range bans {
		bans[i].Ask = true
	}
	return Constraint{Words: words, Kind: kind, Bans: bans}, nil
}

// negative reports whether words forbid, or bound, by any word of theirs. "edit a.go",
// cut out of what the user asked for, does not.
func negative(words string) bool {
	if strings.ContainsAny(words, negations) {
		return true
	}
	return slices.ContainsFunc(strings.Fields(flat(words)), func(w string) bool {
		return strings.HasSuffix(w, "n't") || among(w, "not", "no", "never", "nothing", "nobody", "none", "dont", "cannot", "without", "w/o", "only", "avoid", "stop", "except", "outside", "forbidden", "off-limits", "ask", "before", "unless", "hands", "leave", "keep")
	})
}

// locate returns where words stand in text, whatever white space is between them.
func locate(words, text string) (start, end int, ok bool) {
	want := strings.Fields(words)
	if len(want) == 0 {
		return 0, 0, false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], want[0])
		if at < 0 {
			return 0, 0, false
		}
		start, end = from+at, from+at+len(want[0])
		matched := true
		for _, w := range want[1:] {
			rest := strings.TrimLeftFunc(text[end:], unicode.IsSpace)
			if len(rest) == len(text[end:]) || !strings.HasPrefix(rest, w) {
				matched = false
				break
			}
			end = len(text) - len(rest) + len(w)
		}
		if matched {
			return start, end, true
		}
		from = start + len(want[0])
	}
}
