package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belay-agent/belay/internal/agent"
)

// maxSchema bounds the bytes of the file of a schema, maxInsist how often an
// answer that does not fit is sent back.
const (
	maxSchema = 64 << 10
	maxInsist = 2
)

// An answerSchema is the shape that the answer must have.
type answerSchema struct {
	text     string
	resolved *jsonschema.Resolved
}

func readSchema(file string) (*answerSchema, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, usage("read the schema of the answer: %v", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSchema {
		return nil, usage("the schema of the answer, %s, is not a file of at most %d KiB", file, maxSchema>>10)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("read the schema of the answer: %v", err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(b, &schema); err != nil {
		return nil, usage("the schema of the answer, %s, is not a JSON Schema: %v", file, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, usage("the schema of the answer, %s, is not a JSON Schema: %v", file, err)
	}
	return &answerSchema{text: string(b), resolved: resolved}, nil
}

// instruct adds to a goal what its answer must look like.
func (a *answerSchema) instruct(goal string) string {
	return goal + "\n\nYour last answer is one JSON value, without anything around it, that fits this JSON Schema:\n" + a.text
}

// insist sends an answer that does not fit back to the model, at most maxInsist
// times.
func (a *answerSchema) insist(ctx context.Context, r *rig) error {
	for tries := 0; ; tries++ {
		err := a.check(r.answer)
		if err == nil {
			return nil
		}
		if tries == maxInsist {
			return &statusError{exitUnverified, fmt.Errorf("the answer does not fit the schema: %w", err)}
		}
		r.ui.Say(fmt.Sprintf("the answer does not fit the schema: %v; asking again (%d of %d)", err, tries+1, maxInsist))
		again := fmt.Sprintf("That answer does not fit the JSON Schema: %v\nSend the whole answer again, as one JSON value and nothing else.", err)
		if err := r.agent.Turn(ctx, agent.Input{Text: again}); err != nil {
			return err
		}
	}
}

func (a *answerSchema) check(answer string) error {
	d := json.NewDecoder(strings.NewReader(answer))
	var value any
	if err := d.Decode(&value); err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if d.More() {
		return errors.New("there is text after the JSON value")
	}
	return a.resolved.Validate(value)
}
