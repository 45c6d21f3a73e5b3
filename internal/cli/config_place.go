package cli

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A splice replaces a range of a document.
type splice struct {
	start, end int
	text       string
}

// in returns doc changed by s, whose offsets count from at.
func (s splice) in(doc []byte, at int) []byte {
	return slices.Concat(doc[:at+s.start], []byte(s.text), doc[at+s.end:])
}

// placeKey returns the splice that gives key a value, written as TOML, in doc,
// which must parse. The value there is replaced, or else the key is added beside
// its neighbours. What that would do is parsed and compared, so that a splice
// changes this key and nothing else.
func placeKey(doc []byte, key []string, value string) (splice, error) {
	want, err := valueWith(doc, key, value)
	if err != nil {
		return splice{}, err
	}
	o := outlineOf(doc)
	for _, s := range o.candidates(key, value) {
		var got map[string]any
		if toml.Unmarshal(s.in(doc, 0), &got) == nil && equalValues(got, want) {
			return s, nil
		}
	}
	return splice{}, fmt.Errorf("%s cannot be set without changing more; edit the file by hand", strings.Join(key, "."))
}

// valueWith returns what doc should mean once key has that value.
func valueWith(doc []byte, key []string, value string) (map[string]any, error) {
	whole := make(map[string]any)
	if err := toml.Unmarshal(doc, &whole); err != nil {
		return nil, err
	}
	var v struct{ V any }
	if err := toml.Unmarshal([]byte("V = "+value), &v); err != nil {
		return nil, err
	}
	table := whole
	for i, part := range key[:len(key)-1] {
		if _, there := table[part]; !there {
			table[part] = make(map[string]any)
		}
		inner, ok := table[part].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is not a table", strings.Join(key[:i+1], "."))
		}
		table = inner
	}
	last := key[len(key)-1]
	if _, isTable := table[last].(map[string]any); isTable {
		return nil, fmt.Errorf("%s is a table", strings.Join(key, "."))
	}
	table[last] = v.V
	return whole, nil
}

// equalValues is reflect.DeepEqual, but that a NaN equals a NaN.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equalValues)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalValues)
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || a != a && b != b)
	}
	return reflect.DeepEqual(a, b)
}

// An outline is where the keys and tables of a document are.
type outline struct {
	doc    []byte
	tables []heading // the first is the root
	values []binding // in order
}

type heading struct {
	path  []string // nil of the root and of all in arrays of tables
	start int      // of its line
	end   int      // of its line, line feed included
	root  bool
}

type binding struct {
	path       []string  // from the root; nil in arrays of tables
	table      int       // in outline.tables
	start      int       // of the key
	value, end int       // of the value
	inline     bool      // the value is a table ...
	within     []binding // ... of these
}

func outlineOf(doc []byte) *outline {
	o := &outline{doc: doc, tables: []heading{{root: true}}}
	var p unstable.Parser
	p.Reset(doc)
	var arrays [][]string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.KeyValue {
			at := len(o.tables) - 1
			table := o.tables[at]
			b := o.bind(e, table.path)
			b.table = at
			if table.path == nil && !table.root {
				b.path = nil
			}
			o.values = append(o.values, b)
			continue
		}
		path := keyOf(e)
		at := int(keyNode(e).Raw.Offset)
		h := heading{start: bytes.LastIndexByte(doc[:at], '\n') + 1, end: o.lineEnd(at)}
		if e.Kind == unstable.ArrayTable {
			arrays = append(arrays, path)
		}
		if !slices.ContainsFunc(arrays, func(a []string) bool { return hasPrefix(path, a) }) {
			h.path = path
		}
		o.tables = append(o.tables, h)
	}
	return o
}

func (o *outline) bind(e *unstable.Node, table []string) binding {
	b := binding{path: slices.Concat(table, keyOf(e)), start: int(e.Raw.Offset), end: int(e.Raw.Offset + e.Raw.Length)}
	var last *unstable.Node
	for it := e.Key(); it.Next(); {
		last = it.Node()
	}
	after := o.doc[last.Raw.Offset+last.Raw.Length:]
	after = after[bytes.IndexByte(after, '=')+1:]
	b.value = len(o.doc) - len(bytes.TrimLeft(after, " \t"))
	if b.inline = e.Value().Kind == unstable.InlineTable; b.inline {
		for it := e.Value().Children(); it.Next(); {
			if n := it.Node(); n.Kind == unstable.KeyValue {
				b.within = append(b.within, o.bind(n, b.path))
			}
		}
	}
	return b
}

// lineEnd returns where the line after the one at offset begins.
func (o *outline) lineEnd(offset int) int {
	if n := bytes.IndexByte(o.doc[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(o.doc)
}

func hasPrefix(key, prefix []string) bool {
	return len(prefix) <= len(key) && slices.Equal(key[:len(prefix)], prefix)
}
