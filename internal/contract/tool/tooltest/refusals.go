package tooltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A schema is what the suite understands of a JSON Schema.
type schema struct {
	Properties map[string]struct {
		Type    string            `json:"type"`
		Enum    []json.RawMessage `json:"enum"`
		Minimum *float64          `json:"minimum"`
		Maximum *float64          `json:"maximum"`
	} `json:"properties"`
	Required   []string        `json:"required"`
	Additional json.RawMessage `json:"additionalProperties"`
}

// checkRefusals sends what does not fit the schema.
func checkRefusals(t testing.TB, c Case) {
	t.Helper()
	w := open(t, c)
	var s schema
	if err := json.Unmarshal(w.tool.Spec().Input, &s); err != nil {
		t.Errorf("the input schema is no JSON: %v", err)
		return
	}
	before := w.snap()
	for _, bad := range unfit(s, w.in.Args) {
		in := w.in
		in.Args = json.RawMessage(bad)
		a, err := w.tool.Prepare(t.Context(), in)
		f, ok := errors.AsType[*tool.Failure](err)
		switch {
		case !ok || f.Kind != tool.Invalid || a != nil:
			t.Errorf("Prepare(%s) = %v, %v; want an invalid failure", bad, a, err)
		case f.Message == "" || f.Hint == "":
			t.Errorf("Prepare(%s) says %q and suggests %q; want both", bad, f.Message, f.Hint)
		}
	}
	w.unchanged(before, "Prepare with arguments that do not fit")
}

// unfit returns values that s does not accept, derived from good, which it does.
func unfit(s schema, good json.RawMessage) []string {
	bad := []string{``, `{`, `null`, `[]`, `"text"`, `7`}
	var args map[string]json.RawMessage
	if json.Unmarshal(good, &args) != nil {
		return bad
	}
	with := func(name, value string) {
		changed := maps.Clone(args)
		changed[name] = json.RawMessage(value)
		bad = append(bad, text(changed))
	}
	if string(s.Additional) == "false" {
		with("no_such_argument", `1`)
	}
	for _, name := range s.Required {
		changed := maps.Clone(args)
		delete(changed, name)
		bad = append(bad, text(changed))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		switch p.Type {
		case "string":
			with(name, `7`)
		case "integer", "number", "boolean", "array", "object":
			with(name, `"text"`)
		}
		if p.Type == "integer" {
			with(name, `1.5`)
		}
		if len(p.Enum) > 0 {
			with(name, `"not in the list"`)
		}
		if p.Minimum != nil {
			with(name, fmt.Sprint(int64(*p.Minimum)-1))
		}
		if p.Maximum != nil {
			with(name, fmt.Sprint(int64(*p.Maximum)+1))
		}
	}
	return bad
}

func text(args map[string]json.RawMessage) string {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err) // of JSON that was just parsed
	}
	return string(b)
}
