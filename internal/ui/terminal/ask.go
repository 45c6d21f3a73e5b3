package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Ask puts a question of a running call: its text, and one choice. The schema
// must be of an object with one property, a string out of a list; other shapes
// are an error. So is an input that ends without an answer: ErrNobody.
func (u *UI) Ask(ctx context.Context, schema json.RawMessage, text string) (json.RawMessage, error) {
	if u.input == nil {
		return nil, ErrNobody
	}
	name, choices, err := choiceOf(schema)
	if err != nil {
		return nil, err
	}
	var answer string
	err = u.ask(ctx, form{
		show: func() {
			for _, line := range unflooded(strings.Split(strings.TrimSuffix(text, "\n"), "\n")) {
				u.view.framed(normal, line)
			}
		},
		choices: func() { u.view.options(name + ": " + strings.Join(choices, ", ")) },
		take: func(line string) bool {
			answer = strings.ToLower(strings.TrimSpace(line))
			return slices.Contains(choices, answer)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	return json.Marshal(map[string]string{name: answer})
}

// choiceOf returns the one property of a schema and what it can be.
func choiceOf(schema json.RawMessage) (name string, choices []string, err error) {
	var object struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		return "", nil, fmt.Errorf("schema of a question: %w", err)
	}
	for name, p := range object.Properties {
		if len(object.Properties) == 1 && len(p.Enum) > 0 {
			return name, p.Enum, nil
		}
	}
	return "", nil, fmt.Errorf("a question that is not one choice cannot be put here: %s", schema)
}
