package compaction

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// Labels are what a person found in a session, before any code was measured by
// them. They list facts, not fields: where a fact is kept is no matter.
type labels struct {
	Facts    []fact    `json:"facts"`
	Herrings []herring `json:"herrings"`
	Next     fact      `json:"next"`
	Trap     struct {
		Plan     string `json:"plan"`     // A
		Rejected string `json:"rejected"` // by whom, and why
		Clue     string `json:"clue"`     // what makes it look right again
	} `json:"trap"`
}

// A fact is recognised in what the model sees where all of Near match within
// reach bytes of one another.
type fact struct {
	ID    string   `json:"id"`
	Kind  string   `json:"kind"`
	Proof string   `json:"proof"` // "log": code must keep it; "judgement": somebody must have noted it
	Says  string   `json:"says"`
	Near  patterns `json:"near"`
}

// A herring only sounds like a constraint: RE matches words that must not become
// one.
type herring struct {
	Says string  `json:"says"`
	RE   pattern `json:"re"`
}

// reach is how far apart the parts of a fact may be: a long line, or a few short
// ones.
const reach = 400

type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	var err error
	p.Regexp, err = regexp.Compile(text)
	return err
}

type patterns []pattern

// in reports whether all patterns match close together in text.
func (p patterns) in(text string) bool {
	for _, at := range p[0].FindAllStringIndex(text, -1) {
		around := text[max(0, at[0]-reach):min(len(text), at[1]+reach)]
		found := true
		for _, other := range p[1:] {
			found = found && other.MatchString(around)
		}
		if found {
			return true
		}
	}
	return false
}

func labelsOf(name string) (labels, error) {
	var l labels
	text, err := files.ReadFile("labels/" + name + ".json")
	if err != nil {
		return l, fmt.Errorf("session %q has no labels", name)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("labels of %s: %w", name, err)
	}
	return l, nil
}

// rendered returns all words of a request that a model gets, but for the tools'
// schemas.
func rendered(req *model.Request) string {
	var b strings.Builder
	b.WriteString(req.System)
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			b.WriteString("\n\n")
			switch p := p.(type) {
			case model.Text:
				b.WriteString(p.Text)
			case model.Call:
				b.WriteString(p.Tool + " " + spelled(p.Args))
			case model.CallResult:
				b.WriteString(p.Text)
			}
		}
	}
	return b.String()
}

// spelled returns the strings in arguments without the escapes of JSON.
func spelled(args json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(args, &fields) != nil {
		return string(args)
	}
	var b strings.Builder
	for _, v := range fields {
		fmt.Fprintf(&b, "%v ", v)
	}
	return b.String()
}
