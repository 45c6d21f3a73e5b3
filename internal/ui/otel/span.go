// Package otel tells a session as OpenTelemetry spans, by the semantic
// conventions for generative AI, and sends them by OTLP.
//
// A turn is a span "invoke_agent", the root of a trace; each request to the
// model is a span "chat" and each call a span "execute_tool" below it. All of it
// is a function of the session's events: ids too, so that what is sent twice is
// the same twice.
//
// Spans hold what happened, when, to which tool and model, and how it ended. What
// was said, asked for, shown and answered is content, and is left out unless it is
// asked for.
package otel

import (
	"crypto/sha256"
	"strconv"
	"time"
)

// A Span is one operation. Its JSON is that of OTLP.
type Span struct {
	Trace   ID          `json:"traceId"`
	ID      ID          `json:"spanId"`
	Parent  ID          `json:"parentSpanId,omitempty"`
	Name    string      `json:"name"`
	Kind    int         `json:"kind"`
	Start   nanos       `json:"startTimeUnixNano"`
	End     nanos       `json:"endTimeUnixNano"`
	Attrs   []Attribute `json:"attributes,omitempty"`
	Links   []Link      `json:"links,omitempty"`
	Outcome Status      `json:"status"`
}

// A Link names a span that another one comes from, though not as its child.
type Link struct {
	Trace ID `json:"traceId"`
	Span  ID `json:"spanId"`
}

// A Status says how an operation ended: 0 is that nobody said.
type Status struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Kinds and codes of OTLP.
const (
	internalKind = 1
	clientKind   = 3
	codeOK       = 1
	codeError    = 2
)

// An ID names a trace by 16 bytes or a span by 8, in hexadecimal digits.
type ID string

// newID returns the id, of n bytes, of what parts name.
func newID(n int, parts ...string) ID {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	const digits = "0123456789abcdef"
	var id []byte
	for _, b := range h.Sum(nil)[:n] {
		id = append(id, digits[b>>4], digits[b&15])
	}
	return ID(id)
}

// nanos is a time as OTLP has it in JSON: nanoseconds as a string.
type nanos time.Time

func (n nanos) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatInt(time.Time(n).UnixNano(), 10) + `"`), nil
}

// An Attribute is a name and its value.
type Attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// A value holds one of its fields.
type value struct {
	String *string `json:"stringValue,omitempty"`
	Int    *string `json:"intValue,omitempty"`
	Bool   *bool   `json:"boolValue,omitempty"`
	Array  *array  `json:"arrayValue,omitempty"`
}

type array struct {
	Values []value `json:"values"`
}

func text(key, s string) Attribute { return Attribute{key, value{String: &s}} }

func number(key string, n int64) Attribute {
	s := strconv.FormatInt(n, 10)
	return Attribute{key, value{Int: &s}}
}

func yes(key string) Attribute {
	b := true
	return Attribute{key, value{Bool: &b}}
}

func texts(key string, list ...string) Attribute {
	a := new(array)
	for _, s := range list {
		a.Values = append(a.Values, value{String: &s})
	}
	return Attribute{key, value{Array: a}}
}

// set adds a text that is not "".
func (s *Span) set(key, v string) {
	if v != "" {
		s.Attrs = append(s.Attrs, text(key, v))
	}
}
