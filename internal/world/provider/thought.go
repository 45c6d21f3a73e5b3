package provider

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// A thinking takes the thoughts out of a text that begins with them, in tags: so
// do servers write that do not know the model's template. Tags that come later
// are text.
type thinking struct {
	at   stage
	held string // what may become a tag
}

// A stage is how far a thinking has come.
type stage int

const (
	beginning stage = iota
	within
	afterwards // what is said begins with its first word
	plain
)

// hear takes the next piece of the text. It returns what of it was thought and
// what was said.
func (t *thinking) hear(piece string) (thought, said string) {
	t.held += piece
	if t.at == beginning {
		start := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(start, openThink):
			t.at, t.held = within, start[len(openThink):]
		case strings.HasPrefix(openThink, start):
			return "", ""
		default:
			t.at = plain
		}
	}
	if t.at == within {
		before, after, ended := strings.Cut(t.held, closeThink)
		if !ended {
			n := len(t.held) - overlap(t.held, closeThink)
			thought, t.held = t.held[:n], t.held[n:]
			return thought, ""
		}
		t.at, t.held, thought = afterwards, after, before
	}
	if t.at == afterwards {
		t.held = strings.TrimLeft(t.held, "\r\n")
		if t.held != "" {
			t.at = plain
		}
	}
	said, t.held = t.held, ""
	return thought, said
}

// end returns what was held back, which has become no tag.
func (t *thinking) end() (thought, said string) {
	held := t.held
	t.held = ""
	if t.at == within {
		return held, ""
	}
	return "", held
}

// overlap returns how many bytes at the end of text begin tag.
func overlap(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}

// A thought is what the model thought, and how its server wants that back.
type thought struct {
	text    strings.Builder
	field   string // that it came in
	details []map[string]json.RawMessage
}

// hear takes the thoughts of one chunk. Some servers send them under both of
// their names.
func (t *thought) hear(c chatThought) (thought, said string) {
	thought = plainText(c.ReasoningContent)
	field := "reasoning_content"
	if thought == "" {
		thought, field = plainText(c.Reasoning), "reasoning"
	}
	if thought != "" && t.field == "" {
		t.field = field
	}
	var details []map[string]json.RawMessage
	if json.Unmarshal(c.ReasoningDetails, &details) == nil {
		for _, d := range details {
			t.hearDetail(d)
		}
	}
	return thought, ""
}

// hearDetail goes on with the detail before it, if it is a piece of the same.
func (t *thought) hearDetail(d map[string]json.RawMessage) {
	n := len(t.details) - 1
	if n < 0 || string(t.details[n]["type"]) != string(d["type"]) || string(t.details[n]["index"]) != string(d["index"]) {
		t.details = append(t.details, maps.Clone(d))
		return
	}
	last := t.details[n]
	for key, value := range d {
		switch {
		case string(value) == "null":
		case key == "text" || key == "summary" || key == "data":
			last[key] = json.RawMessage(quote(plainText(last[key]) + plainText(value)))
		default:
			last[key] = value
		}
	}
}

// part is what was thought, nil if that is nothing.
func (t *thought) part() model.Part {
	r := model.Reasoning{Text: t.text.String()}
	switch {
	case len(t.details) > 0:
		raw, err := marshal(map[string]any{"reasoning_details": t.details})
		if err == nil {
			r.Raw = raw
		}
	case t.field != "" && r.Text != "":
		r.Raw = json.RawMessage(`{"` + t.field + `":` + quote(r.Text) + `}`)
	}
	if r.Text == "" && r.Raw == nil {
		return nil
	}
	return r
}

// quote writes text as a JSON string, with no escape but those it needs.
func quote(text string) string {
	b, err := marshal(text)
	if err != nil { // a string always encodes
		return `""`
	}
	return string(b)
}
