package replay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Pair is a step of the record and the one that came in its place. One of them
// is nil where the turn was longer on the other side.
type Pair struct {
	Turn, Step int // of the turn, from 1
	Was, Is    *Step
	Request    []string // what differs of the request: "system", "tools", "message 3" ...
	SameNext   bool     // both replies ask for the same calls or, without any, both answer
}

// Compare puts the steps of two runs side by side, turn by turn.
func Compare(was, is []Step) []Pair {
	var pairs []Pair
	for turn := 1; ; turn++ {
		a, b := ofTurn(was, turn), ofTurn(is, turn)
		if len(a)+len(b) == 0 {
			return pairs
		}
		for i := range max(len(a), len(b)) {
			p := Pair{Turn: turn, Step: i + 1}
			if i < len(a) {
				p.Was = &a[i]
			}
			if i < len(b) {
				p.Is = &b[i]
			}
			if p.Was != nil && p.Is != nil {
				p.Request = differences(p.Was.Request, p.Is.Request)
				p.SameNext = reflect.DeepEqual(Next(p.Was.Reply), Next(p.Is.Reply))
			}
			pairs = append(pairs, p)
		}
	}
}

func ofTurn(steps []Step, turn int) (its []Step) {
	for _, s := range steps {
		if s.Turn == turn {
			its = append(its, s)
		}
	}
	return its
}

// Next returns the calls that a reply asks for, as they are told apart, or that it
// answers.
func Next(r event.Replied) (actions []string) {
	for _, c := range r.Message.Calls() {
		actions = append(actions, c.Tool+" "+plain(c))
	}
	if actions == nil {
		return []string{"answer"}
	}
	return actions
}

// plain returns the arguments of c with their names in order.
func plain(c tool.Call) string {
	var args any
	if json.Unmarshal(c.Args, &args) != nil {
		return string(c.Args)
	}
	b, err := json.Marshal(args)
	if err != nil {
		return string(c.Args)
	}
	return string(b)
}

// differences names what a and b differ in, nil if they are the same.
func differences(a, b *model.Request) (in []string) {
	if a == nil || b == nil {
		return []string{"not kept"}
	}
	if a.System != b.System {
		in = append(in, "system")
	}
	if !reflect.DeepEqual(a.Tools, b.Tools) {
		in = append(in, "tools")
	}
	if a.Model != b.Model {
		in = append(in, "model")
	}
	if a.Effort != b.Effort {
		in = append(in, "effort")
	}
	for i := range max(len(a.Messages), len(b.Messages)) {
		if i >= len(a.Messages) || i >= len(b.Messages) || words(a.Messages[i]) != words(b.Messages[i]) {
			return append(in, fmt.Sprintf("message %d of %d", i+1, len(b.Messages)))
		}
	}
	return in
}

// words returns what a model reads of m, without what is of the occasion.
func words(m model.Message) string {
	var b strings.Builder
	b.WriteString(string(m.Role))
	for _, p := range m.Parts {
		switch p := p.(type) {
		case model.Text:
			b.WriteString("\n" + p.Text)
		case model.Reasoning:
			b.WriteString("\n" + p.Text)
		case model.Call:
			b.WriteString("\n" + p.Tool + " " + plain(p.Call))
		case model.CallResult:
			b.WriteString("\n" + p.Text)
		case model.Image:
			b.WriteString("\n" + p.Artifact.Handle)
		}
	}
	return b.String()
}

// Before returns what the calls of the step before step n of the session, from 1,
// came to: what that step had to take up.
func (r *Recording) Before(n int) (results []string) {
	if n < 2 || n > len(r.steps) || r.steps[n-2].Turn != r.steps[n-1].Turn {
		return nil
	}
	for _, c := range r.steps[n-2].Reply.Message.Calls() {
		for _, m := range r.made {
			if m.call.ID != c.ID || m.result == nil {
				continue
			}
			how := string(m.result.Status)
			if m.result.Failure != nil {
				how = fmt.Sprintf("%s: %s", m.result.Failure.Kind, m.result.Failure.Message)
			}
			results = append(results, fmt.Sprintf("%s (%s): %s", c.Tool, c.ID, how))
		}
	}
	return results
}

// maxLines bounds what Context returns.
const maxLines = 12

// Context returns lines that only the first of two requests has, and lines that
// only the second has: what was missing, and what was new, where a run left the
// path of the other.
func Context(was, is *model.Request) (missing, added []string) {
	if was == nil || is == nil {
		return nil, nil
	}
	return without(was, is), without(is, was)
}

func without(a, b *model.Request) (only []string) {
	there := make(map[string]bool)
	for _, line := range lines(b) {
		there[line] = true
	}
	for _, line := range lines(a) {
		if !there[line] && strings.TrimSpace(line) != "" && len(only) < maxLines {
			there[line] = true
			only = append(only, line)
		}
	}
	return only
}

func lines(r *model.Request) []string {
	text := r.System
	for _, t := range r.Tools {
		text += "\n" + t.Name + ": " + t.Description
	}
	for _, m := range r.Messages {
		text += "\n" + words(m)
	}
	return strings.Split(text, "\n")
}
