package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type sample struct {
	Path  string `json:"path" jsonschema:"where"`
	State string `json:"state,omitempty" enum:"pending,done"`
	Limit int    `json:"limit,omitempty" min:"1" max:"2000"`
	Edits []struct {
		Old string `json:"old"`
		All bool   `json:"all,omitempty"`
	} `json:"edits,omitempty"`
}

func newSample(t *testing.T, got *sample) Tool {
	t.Helper()
	return New(Spec{Name: "Sample"}, func(_ context.Context, in sample, _ Input) (*Action, error) {
		*got = in
		return &Action{}, nil
	})
}

func TestR013_NewDerivesTheSchema(t *testing.T) {
	spec := newSample(t, new(sample)).Spec()
	const want = `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"where"},` +
		`"state":{"type":"string","enum":["pending","done"]},` +
		`"limit":{"type":"integer","minimum":1,"maximum":2000},` +
		`"edits":{"type":"array","items":{"type":"object","properties":{` +
		`"old":{"type":"string"},"all":{"type":"boolean"}},` +
		`"required":["old"],"additionalProperties":false}}},` +
		`"required":["path"],"additionalProperties":false}`
	if d := cmp.Diff(want, string(spec.Input)); d != "" {
		t.Errorf("schema (-want +got):\n%s", d)
	}
	if spec.Inline != DefaultInline {
		t.Errorf("inline = %d, want the default, %d", spec.Inline, DefaultInline)
	}
}

func TestR013_NewRefusesArgumentsThatDoNotFit(t *testing.T) {
	for _, c := range []struct{ name, args, says string }{
		{"nothing", ``, "not JSON"},
		{"cut off", `{"path":"a`, "not JSON"},
		{"two values", `{"path":"a"}{"path":"b"}`, "not JSON"},
		{"null", `null`, ""},
		{"a list", `["a"]`, ""},
		{"a string", `"a"`, ""},
		{"a field missing", `{"limit":3}`, "path"},
		{"a field null", `{"path":null}`, "path"},
		{"an unknown field", `{"path":"a","paht":"b"}`, "paht"},
		{"a name in another case", `{"path":"a","Limit":3}`, "Limit"},
		{"a number as text", `{"path":"a","limit":"3"}`, "limit"},
		{"not whole", `{"path":"a","limit":2.5}`, "limit"},
		{"under the range", `{"path":"a","limit":0}`, "minimum"},
		{"over the range", `{"path":"a","limit":2001}`, "maximum"},
		{"beyond an int", `{"path":"a","limit":1e30}`, "limit"},
		{"not in the enum", `{"path":"a","state":"started"}`, "enum"},
		{"an element's field missing", `{"path":"a","edits":[{"all":true}]}`, "old"},
		{"not UTF-8", "{\"path\":\"a\xff\"}", "UTF-8"},
		{"long and wrong", `{"path":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, `want "string"`},
		{"half a pair", `{"path":"\ud83d"}`, "surrogate"},
		{"half a pair and a letter", `{"path":"\ud83d\u0041"}`, "surrogate"},
		{"a second half", `{"path":"\\\ude00"}`, "surrogate"},
	} {
		var got sample
		a, err := newSample(t, &got).Prepare(t.Context(), Input{Args: json.RawMessage(c.args)})
		f, ok := errors.AsType[*Failure](err)
		if !ok || f.Kind != Invalid || a != nil {
			t.Errorf("%s: Prepare(%s) = %v, %v; want an invalid failure", c.name, c.args, a, err)
			continue
		}
		if !strings.HasPrefix(f.Message, "arguments of Sample: ") || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: message %q does not speak of %q", c.name, f.Message, c.says)
		}
		if len(f.Message) > 1000 {
			t.Errorf("%s: a message of %d bytes", c.name, len(f.Message))
		}
		const hint = "send {path: string, state: string (optional), limit: integer (optional), " +
			"edits: array of {old: string, all: boolean (optional)} (optional)}"
		if f.Hint != hint || f.Retry {
			t.Errorf("%s: hint %q, retryable %t; want %q, false", c.name, f.Hint, f.Retry, hint)
		}
		if d := cmp.Diff(sample{}, got); d != "" {
			t.Errorf("%s: the tool saw arguments that do not fit:\n%s", c.name, d)
		}
	}
}

func TestR013_NewDecodesArguments(t *testing.T) {
	var got sample
	const args = `{"path":"日本 \u00e9\n\ud83d\ude00\\ud83d","state":"done","limit":2000,"edits":[{"old":""},{"old":"x","all":true}]}`
	if _, err := newSample(t, &got).Prepare(t.Context(), Input{Args: json.RawMessage(args)}); err != nil {
		t.Fatal(err)
	}
	want := sample{Path: "日本 é\n😀\\ud83d", State: "done", Limit: 2000}
	want.Edits = append(want.Edits, struct {
		Old string `json:"old"`
		All bool   `json:"all,omitempty"`
	}{}, struct {
		Old string `json:"old"`
		All bool   `json:"all,omitempty"`
	}{Old: "x", All: true})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("arguments (-want +got):\n%s", d)
	}
}

func TestNewPanicsOnAnInputItCannotDescribe(t *testing.T) {
	for name, make := range map[string]func(){
		"a channel": func() {
			New(Spec{}, func(context.Context, struct{ C chan int }, Input) (*Action, error) { return nil, nil })
		},
		"a bound that is no number": func() {
			New(Spec{}, func(context.Context, struct {
				N int `min:"few"`
			}, Input) (*Action, error) {
				return nil, nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("New did not panic")
				}
			}()
			make()
		})
	}
}

// FuzzNew checks that no arguments make a typed tool panic or answer in any
// other way than with an invalid failure, and that none are silently changed.
func FuzzNew(f *testing.F) {
	f.Add([]byte(`{"path":"a","limit":3,"edits":[{"old":"x"}]}`))
	f.Add([]byte(`{"path":"a","limit":1e400}`))
	f.Add([]byte(`[[[[`))
	f.Add([]byte("\xff"))
	f.Add([]byte(`{"path":"\ud83d\ude00\\ud83d"}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		var got sample
		_, err := New(Spec{Name: "Sample"}, func(_ context.Context, in sample, _ Input) (*Action, error) {
			got = in
			return &Action{}, nil
		}).Prepare(t.Context(), Input{Args: args})
		if fail, ok := errors.AsType[*Failure](err); err != nil && (!ok || fail.Kind != Invalid) {
			t.Errorf("Prepare(%q) = %v, want an invalid failure", args, err)
		}
		sent := strings.Contains(strings.ToLower(string(args)), `\ufffd`) || strings.Contains(string(args), "\uFFFD")
		if strings.Contains(got.Path, "\uFFFD") && !sent {
			t.Errorf("Prepare(%q) puts U+FFFD into %q", args, got.Path)
		}
	})
}
