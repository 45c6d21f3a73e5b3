package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxComplaint is how many bytes are said about arguments that do not fit.
const maxComplaint = 800

// New makes a Tool from a typed function. It derives s.Input from In, a struct,
// and answers arguments that do not fit with an Invalid failure before prepare
// sees them.
//
// A field's json tag names it and, with omitempty, makes it optional; its
// jsonschema tag describes it. Further tags narrow it: enum:"a,b", min:"1",
// max:"2000". New panics if In cannot be described so.
func New[In any](s Spec, prepare func(context.Context, In, Input) (*Action, error)) Tool {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.Name, err))
	}
	narrow(schema, reflect.TypeFor[In]())
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.Name, err))
	}
	if s.Input, err = json.Marshal(schema); err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.Name, err))
	}
	if s.Inline == 0 {
		s.Inline = DefaultInline
	}
	return &typed[In]{spec: s, schema: schema, resolved: resolved, prepare: prepare}
}

type typed[In any] struct {
	spec     Spec
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	prepare  func(context.Context, In, Input) (*Action, error)
}

func (t *typed[In]) Spec() Spec { return t.spec }

func (t *typed[In]) Prepare(ctx context.Context, in Input) (*Action, error) {
	args, err := decodeStrictly[In](in.Args, t.resolved)
	if err != nil {
		return nil, &Failure{
			Kind:    Invalid,
			Message: fmt.Sprintf("arguments of %s: %s", t.spec.Name, brief(err)),
			Hint:    "send " + signature(t.schema),
		}
	}
	return t.prepare(ctx, args, in)
}

// brief returns what err says, without the middle where that quotes long
// arguments back.
func brief(err error) string {
	short, _ := Excerpt(err.Error(), maxComplaint, "")
	return short
}

func decodeStrictly[In any](args json.RawMessage, schema *jsonschema.Resolved) (in In, err error) {
	if !utf8.Valid(args) || halfPair(args) { // encoding/json would put U+FFFD in its place
		return in, errors.New("not UTF-8, or half of a surrogate pair")
	}
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return in, fmt.Errorf("not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return in, err
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields() // the schema is case-sensitive, encoding/json is not
	err = d.Decode(&in)
	return in, err
}

// halfPair reports whether a string in b, which is JSON or nearly, has an escape
// for half of a surrogate pair without the other: no character at all.
func halfPair(b []byte) bool {
	open := false // the escape before was for a first half
	for i := 0; i < len(b); {
		var r rune
		size := 1
		if b[i] == '\\' {
			size = 2
			if n, err := strconv.ParseUint(string(b[min(i+2, len(b)):min(i+6, len(b))]), 16, 16); err == nil && i+1 < len(b) && b[i+1] == 'u' {
				r, size = rune(n), 6
			}
		}
		first, second := r >= 0xD800 && r < 0xDC00, r >= 0xDC00 && r < 0xE000
		if open != second {
			return true
		}
		open = first
		i += size
	}
	return open
}

// narrow adds to s what the tags of t say beyond names and descriptions.
func narrow(s *jsonschema.Schema, t reflect.Type) {
	if len(s.Types) == 2 && s.Types[0] == "null" { // of a slice: nothing is gained by null
		s.Type, s.Types = s.Types[1], nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		if s.Items != nil {
			narrow(s.Items, t.Elem())
		}
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			name = cmp.Or(name, f.Name)
			p := s.Properties[name]
			if p == nil {
				continue
			}
			narrow(p, f.Type)
			if values := f.Tag.Get("enum"); values != "" {
				for v := range strings.SplitSeq(values, ",") {
					p.Enum = append(p.Enum, v)
				}
			}
			p.Minimum = bound(f.Tag.Get("min"))
			p.Maximum = bound(f.Tag.Get("max"))
		}
	}
}

func bound(tag string) *float64 {
	if tag == "" {
		return nil
	}
	n, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic("tool: bound in a struct tag: " + err.Error())
	}
	return &n
}

// signature says in one line what s accepts.
func signature(s *jsonschema.Schema) string {
	var fields []string
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		field := name + ": " + p.Type
		if p.Items != nil {
			field += " of " + p.Items.Type
			if p.Items.Type == "object" {
				field = name + ": array of " + signature(p.Items)
			}
		}
		if !slices.Contains(s.Required, name) {
			field += " (optional)"
		}
		fields = append(fields, field)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
