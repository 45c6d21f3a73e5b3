package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// noOutput stands for the empty result of a call, which no API takes.
const noOutput = "(no output)"

// A place is where something stands in a request, for a Rejection.
type place struct{ message, part int }

func (p place) reject(format string, a ...any) error {
	return &model.Rejection{Message: p.message, Part: p.part, Reason: fmt.Sprintf(format, a...)}
}

// A speech is a message as it will be sent: it has parts, and none is empty.
type speech struct {
	role  model.Role
	at    int // its message in the request
	parts []spoken
}

// A spoken is one part of a speech and where it comes from.
type spoken struct {
	place
	part model.Part
}

// sendable checks req against what every API demands, before a byte is sent,
// and returns what remains once empty texts and foreign opaque parts are left
// out. Opaque parts are kept in messages that from, an API and model, made.
//
// What only a fault of the builder explains is a *model.Rejection that names
// the place: a call without exactly one result right after it, a result
// without its call, a part that its role cannot say.
func sendable(req *model.Request, from string) ([]speech, error) {
	if err := checkTools(req.Tools); err != nil {
		return nil, err
	}
	c := checker{used: map[string]bool{}}
	var out []speech
	for i, m := range req.Messages {
		s := speech{role: m.Role, at: i}
		for j, p := range m.Parts {
			p, keep, err := c.keep(place{i, j}, m, p, from != "" && m.From == from)
			if err != nil {
				return nil, err
			}
			if keep {
				s.parts = append(s.parts, spoken{place{i, j}, p})
			}
		}
		if len(s.parts) == 0 {
			continue
		}
		if err := c.take(s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if err := c.unanswered(); err != nil {
		return nil, err
	}
	switch {
	case len(out) == 0:
		return nil, &model.BadRequest{Reason: "the request says nothing", Hint: "say what is to be done"}
	case out[0].role != model.User:
		return nil, out[0].parts[0].reject("the first message is not the user's")
	case out[len(out)-1].role != model.User:
		return nil, out[len(out)-1].parts[0].reject("the last message is not the user's")
	}
	return out, nil
}

// A checker follows calls and results through a request.
type checker struct {
	open   []openCall      // calls that wait for their result
	used   map[string]bool // ids of all calls
	spoken bool            // the user has said something since the last reply
}

type openCall struct {
	place
	id string
}

// keep decides whether a part is sent, and how it reads then.
func (c *checker) keep(at place, m model.Message, p model.Part, own bool) (model.Part, bool, error) {
	switch p := p.(type) {
	case model.Text:
		if !own {
			p.Raw = nil
		}
		return p, strings.TrimSpace(p.Text) != "", nil
	case model.Reasoning:
		if m.Role != model.Assistant {
			return nil, false, at.reject("reasoning in a message of the %s", m.Role)
		}
		return p, own && len(p.Raw) > 0, nil
	case model.Call:
		if m.Role != model.Assistant {
			return nil, false, at.reject("a call in a message of the %s", m.Role)
		}
		if !own {
			p.Raw = nil
		}
		return p, true, nil
	case model.CallResult:
		if m.Role != model.User {
			return nil, false, at.reject("a result in a message of the %s", m.Role)
		}
		if strings.TrimSpace(p.Text) == "" {
			p.Text = noOutput
		}
		return p, true, nil
	case model.Image:
		if m.Role != model.User {
			return nil, false, at.reject("an image in a message of the %s", m.Role)
		}
		return p, true, nil
	}
	return nil, false, at.reject("a part of unknown type %T", p)
}

// take follows one message.
func (c *checker) take(s speech) error {
	switch s.role {
	case model.Assistant:
		if err := c.unanswered(); err != nil {
			return err
		}
		c.spoken = false
		for _, p := range s.parts {
			if call, ok := p.part.(model.Call); ok {
				if err := c.opened(p.place, call.ID); err != nil {
					return err
				}
			}
		}
	case model.User:
		for _, p := range s.parts {
			if r, ok := p.part.(model.CallResult); !ok {
				c.spoken = true
			} else if err := c.answered(p.place, r.Call); err != nil {
				return err
			}
		}
	default:
		return s.parts[0].reject("unknown role %q", s.role)
	}
	return nil
}

func (c *checker) opened(at place, id string) error {
	switch {
	case id == "":
		return at.reject("a call without an id")
	case c.used[id]:
		return at.reject("a second call with the id %s", id)
	}
	c.used[id] = true
	c.open = append(c.open, openCall{at, id})
	return nil
}

func (c *checker) answered(at place, id string) error {
	for i, o := range c.open {
		if o.id != id {
			continue
		}
		if c.spoken {
			return at.reject("the result of call %s does not come right after it", id)
		}
		c.open = append(c.open[:i:i], c.open[i+1:]...)
		return nil
	}
	if c.used[id] {
		return at.reject("a second or late result of call %s", id)
	}
	return at.reject("a result of call %q, which is not there", id)
}

func (c *checker) unanswered() error {
	if len(c.open) == 0 {
		return nil
	}
	return c.open[0].reject("call %s has no result right after it", c.open[0].id)
}

// maxName bounds the name of a tool, as the strictest API does.
const maxName = 64

// named reports whether every API takes name as that of a tool.
func named(name string) bool {
	return name != "" && len(name) <= maxName && strings.IndexFunc(name, odd) < 0
}

// odd reports whether r has no place in a tool's name.
func odd(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return false
	}
	return true
}

func checkTools(specs []tool.Spec) error {
	seen := map[string]bool{}
	for _, s := range specs {
		var schema struct {
			Type string `json:"type"`
		}
		err := json.Unmarshal(s.Input, &schema)
		switch {
		case !named(s.Name):
			return &model.BadRequest{Reason: fmt.Sprintf("tool %q: a name has 1 to %d letters, digits, _ and -", s.Name, maxName), Hint: "rename the tool"}
		case seen[s.Name]:
			return &model.BadRequest{Reason: fmt.Sprintf("tool %s is offered twice", s.Name), Hint: "remove or rename one"}
		case err != nil || schema.Type != "object":
			return &model.BadRequest{Reason: fmt.Sprintf("tool %s: its schema does not describe an object", s.Name), Hint: "mend the tool's schema"}
		}
		seen[s.Name] = true
	}
	return nil
}

// sentName is a tool's name as a call in the history has it: what the model
// made up may be a name that no API takes back.
func sentName(name string) string {
	if named(name) {
		return name
	}
	clean := strings.Map(func(r rune) rune {
		if odd(r) {
			return '_'
		}
		return r
	}, name)
	if clean == "" {
		return "unnamed"
	}
	return clean[:min(len(clean), maxName)]
}

// sentArgs are a call's arguments as an API takes them back: always an object.
func sentArgs(args json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) != nil || object == nil {
		return json.RawMessage("{}")
	}
	return args
}
