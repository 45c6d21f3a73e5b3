package event

import (
	"bytes"
	"encoding/json"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR321_TheSchemaIsThatOfTheTypes: what is published is what this package
// writes, with the words of its comments. Run it with -update after a change.
func TestR321_TheSchemaIsThatOfTheTypes(t *testing.T) {
	s := lineSchema(t)
	loosen(s)
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("events.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, Schema()) {
		t.Error("events.schema.json is not that of the types: run this test with -update")
	}
}

// TestR321_EveryEventFitsTheSchema: one of each type with all its fields set, and
// all that were ever written, also where the schema allows nothing that it does
// not name.
func TestR321_EveryEventFitsTheSchema(t *testing.T) {
	strict, err := lineSchema(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var published jsonschema.Schema
	if err := json.Unmarshal(Schema(), &published); err != nil {
		t.Fatal(err)
	}
	loose, err := published.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range bodies() {
		line, err := Encode(Event{Seq: int64(i + 1), Time: when, Body: b}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := strict.Validate(decoded(t, line)); err != nil {
			t.Errorf("%s: %v", b.kind(), err)
		}
	}
	golden, err := filepath.Glob("testdata/v*/*.json")
	if err != nil || len(golden) < len(Kinds()) {
		t.Fatalf("%d golden events, %v", len(golden), err)
	}
	for _, name := range golden {
		line, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := loose.Validate(decoded(t, line)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := decoded(t, []byte(`{"q":1,"t":"asked","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{"text":"","mood":"calm"}}`))
	if err := loose.Validate(newer); err != nil || strict.Validate(newer) == nil {
		t.Errorf("a field of a later version: %v; and the closed schema lets it pass too, or not: %v", err, strict.Validate(newer))
	}
	for name, line := range map[string]string{
		"no type":              `{"q":1,"v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{}}`,
		"a result of no call":  `{"q":1,"t":"finished","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{"result":{"status":"success","text":""}}}`,
		"a number for a text":  `{"q":1,"t":"asked","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{"text":1}}`,
		"a part of no type":    `{"q":1,"t":"replied","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{"message":{"role":"user","parts":[{}]},"usage":{"input":1,"output":1},"stop":"end"}}`,
		"a negative event":     `{"q":-1,"t":"asked","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{"text":""}}`,
		"a body that is empty": `{"q":1,"t":"decided","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":1,"b":{}}`,
	} {
		if loose.Validate(decoded(t, []byte(line))) == nil {
			t.Errorf("the schema allows %s", name)
		}
	}
}

func decoded(t *testing.T, line []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lineSchema describes a line of the log, closed: nothing but what it names.
func lineSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	comments := readComments(t)
	one := 1.0
	number := func(about string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Minimum: &one, Description: about}
	}
	line := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema",
		Title:  "An event of a Belay session",
		Type:   "object",
		Properties: map[string]*jsonschema.Schema{
			"q":    number("its number: 1, 2, 3, ... within a session"),
			"t":    {Type: "string", Description: "the type of the body"},
			"v":    number("the version of that type"),
			"ts":   {Type: "string", Format: "date-time", Description: "UTC, in milliseconds; never goes back"},
			"ep":   {Type: "integer", Description: "counts the times that the session was opened"},
			"crit": {Type: "boolean", Description: "whoever does not know the type must not go on with the session"},
			"b":    {Type: "object", Description: "the body"},
		},
		PropertyOrder: []string{"q", "t", "v", "ts", "ep", "crit", "b"},
		Required:      []string{"q", "t", "v", "ts", "ep", "b"},
		Defs:          map[string]*jsonschema.Schema{},
	}
	for _, b := range bodies() {
		s, err := jsonschema.ForType(reflect.TypeOf(b), &jsonschema.ForOptions{TypeSchemas: special(t)})
		if err != nil {
			t.Fatal(err)
		}
		describe(s, reflect.TypeOf(b), comments)
		if _, ok := b.(Finished); ok {
			withContext(t, s.Properties["result"])
		}
		kind := b.kind()
		line.Defs[kind] = s
		var is any = kind
		line.AllOf = append(line.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"t": {Const: &is}}, Required: []string{"t"}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"b": {Ref: "#/$defs/" + kind}}},
		})
	}
	return line
}

// withContext lets s, a result, be an envelope: that is what is printed.
func withContext(t *testing.T, s *jsonschema.Schema) {
	t.Helper()
	context, err := jsonschema.For[tool.Context](&jsonschema.ForOptions{TypeSchemas: special(t)})
	if err != nil {
		t.Fatal(err)
	}
	context.Description = "where and how the call was made: printed, not stored"
	s.Properties["context"] = context
	s.PropertyOrder = append(s.PropertyOrder, "context")
}

// special are the types whose JSON is not that of their fields.
func special(t *testing.T) map[reflect.Type]*jsonschema.Schema {
	t.Helper()
	raw := reflect.TypeFor[json.RawMessage]()
	plain := map[reflect.Type]*jsonschema.Schema{raw: {}}
	var parts []*jsonschema.Schema
	for kind, of := range map[string]reflect.Type{
		"text": reflect.TypeFor[model.Text](), "reasoning": reflect.TypeFor[model.Reasoning](), "image": reflect.TypeFor[model.Image](),
		"call": reflect.TypeFor[model.Call](), "result": reflect.TypeFor[model.CallResult](),
	} {
		s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: plain})
		if err != nil {
			t.Fatal(err)
		}
		var is any = kind
		s.Properties["type"] = &jsonschema.Schema{Const: &is}
		s.PropertyOrder = append([]string{"type"}, s.PropertyOrder...)
		s.Required = append([]string{"type"}, s.Required...)
		s.Title = kind
		parts = append(parts, s)
	}
	slices.SortFunc(parts, func(a, b *jsonschema.Schema) int { return strings.Compare(a.Title, b.Title) })
	type fields struct {
		Role model.Role `json:"role"`
		From string     `json:"from,omitempty"`
		Seq  int64      `json:"seq,omitempty"`
	}
	message, err := jsonschema.For[fields](nil)
	if err != nil {
		t.Fatal(err)
	}
	message.Properties["parts"] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{OneOf: parts}}
	message.PropertyOrder = append(message.PropertyOrder, "parts")
	message.Required = append(message.Required, "parts")
	return map[reflect.Type]*jsonschema.Schema{raw: {}, reflect.TypeFor[model.Message](): message}
}

// loosen lets later versions add fields.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" {
		s.AdditionalProperties = nil
	}
	below := slices.Concat(slices.Collect(maps.Values(s.Properties)), slices.Collect(maps.Values(s.Defs)), s.OneOf, []*jsonschema.Schema{s.Items})
	for _, sub := range below {
		loosen(sub)
	}
}

// describe puts what the comments in the source say into s, the schema of t.
func describe(s *jsonschema.Schema, t reflect.Type, comments map[string]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice && s.Items != nil {
			s = s.Items
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || s.Properties == nil {
		return
	}
	if s.Description == "" {
		s.Description = comments[t.Name()]
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if p := s.Properties[name]; p != nil {
			describe(p, f.Type, comments)
			if about := comments[t.Name()+"."+f.Name]; about != "" {
				p.Description = about
			}
		}
	}
}

// readComments returns what is said of the types and the fields of the packages
// that events are made of, by "Type" and "Type.Field".
func readComments(t *testing.T) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, dir := range []string{"../effect", "../edit", "../recall", "../tool", "../model", "."} {
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sources {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := goparser.ParseFile(token.NewFileSet(), name, nil, goparser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				said[spec.Name.Name] = flat(spec.Doc)
				fields, ok := spec.Type.(*ast.StructType)
				if !ok {
					return true
				}
				for _, f := range fields.Fields.List {
					for _, id := range f.Names {
						said[spec.Name.Name+"."+id.Name] = strings.TrimSpace(flat(f.Doc) + " " + flat(f.Comment))
					}
				}
				return true
			})
		}
	}
	return said
}

func flat(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
