package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belay-agent/belay/internal/contract/event"
)

// TestR321_WhatIsPrintedFitsTheSchema: what `belay log` prints of sessions of
// every version.
func TestR321_WhatIsPrintedFitsTheSchema(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(event.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := filepath.Glob("testdata/sessions/*/printed.jsonl")
	if err != nil || len(printed) == 0 {
		t.Fatalf("%d golden sessions, %v", len(printed), err)
	}
	seen := make(map[any]bool)
	for _, name := range printed {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(log) {
			var e map[string]any
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			seen[e["t"]] = true
			if err := resolved.Validate(e); err != nil {
				t.Errorf("%s, event %v: %v", name, e["q"], err)
			}
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %d types of events are printed: %v", len(seen), seen)
	}
}
