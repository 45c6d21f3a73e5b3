package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// AddConfig adds a text to a setting of several in the user's file, if it is not
// there; every other byte stays.
func AddConfig(file, key, text string) error {
	return changeList(file, key, func(k knob, items []item) ([]item, error) {
		if err := k.check(text); err != nil {
			return nil, &ConfigError{Message: fmt.Sprintf("%s: %s", key, err)}
		}
		if slices.ContainsFunc(items, func(i item) bool { return i.text == text }) {
			return items, nil
		}
		return append(items, item{text: text}), nil
	})
}

// RemoveConfig takes a text out of a setting of several in the user's file, and with
// the last one the setting. One that is not there is an error.
func RemoveConfig(file, key, text string) error {
	return changeList(file, key, func(_ knob, items []item) ([]item, error) {
		left := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.text == text })
		if len(left) == len(items) {
			return nil, &ConfigError{Message: fmt.Sprintf("%s has no %s", key, text)}
		}
		return left, nil
	})
}

func changeList(file, key string, change func(knob, []item) ([]item, error)) error {
	if file == "" {
		return &ConfigError{Message: "there is no place for settings: no home directory"}
	}
	k, ok := knobFor(strings.Split(key, "."))
	if !ok {
		return askedForKey(key)
	}
	if !k.shape.several() {
		return &ConfigError{Message: fmt.Sprintf("%s is not a setting of several texts, such as rules.allow: belay config set %s VALUE", key, key)}
	}
	return rewrite(file, func(old []byte) ([]byte, error) {
		entries, err := decodeConfig(file, layerUser, old)
		if err != nil {
			return nil, err
		}
		var before []item
		for _, e := range entries {
			if e.knob.key == key {
				before = e.items
			}
		}
		after, err := change(k, before)
		if err != nil || len(after) == len(before) {
			return old, err
		}
		doc := bytes.TrimPrefix(old, bom)
		s, err := placeList(doc, k.path(), after)
		if err != nil {
			return nil, &ConfigError{File: file, Message: err.Error()}
		}
		return s.in(old, len(old)-len(doc)), nil
	})
}

// placeList returns a splice that makes items the value of key in doc: one that
// adds or removes a single element, if one does, else one that writes them all. With
// no items the key goes, unless a comment stands in its array.
func placeList(doc []byte, key []string, items []item) (splice, error) {
	literals := make([]string, len(items))
	for i := range items {
		literals[i] = items[i].literal()
	}
	whole := "[" + strings.Join(literals, ", ") + "]"
	want, err := valueWith(doc, key, whole)
	if err != nil {
		return splice{}, err
	}
	o := outlineOf(doc)
	var small []splice
	b, ok := bound(o.values, key)
	if ok && len(items) == 0 && !o.commented(b) {
		if s, err := takeKey(doc, key); err == nil {
			return s, nil
		}
	}
	if ok {
		if len(literals) > 0 {
			small = o.appended(b, literals[len(literals)-1])
		}
		small = append(small, o.cuts(key)...)
	}
	for _, s := range small {
		var got map[string]any
		if toml.Unmarshal(s.in(doc, 0), &got) == nil && equalValues(got, want) {
			return s, nil
		}
	}
	return placeKey(doc, key, whole)
}

// bound returns where key has its value.
func bound(values []binding, key []string) (binding, bool) {
	for _, b := range values {
		if b.path != nil && slices.Equal(b.path, key) {
			return b, true
		}
		if found, ok := bound(b.within, key); ok {
			return found, true
		}
	}
	return binding{}, false
}

// appended returns the ways to add an element to the array that b is, the one
// that looks most like what is there first.
func (o *outline) appended(b binding, literal string) []splice {
	array := o.doc[b.value:b.end]
	inner := bytes.TrimSuffix(array, []byte("]"))
	end := b.value + len(bytes.TrimRight(inner, " \t\r\n"))
	same := []splice{{end, end, ", " + literal}, {end, end, " " + literal}}
	if end == b.value+1 {
		same = []splice{{end, end, literal}}
	}
	line := bytes.LastIndexByte(bytes.TrimRight(inner, " \t\r\n"), '\n')
	if line < 0 {
		return same
	}
	last := array[line+1:]
	indent := o.newline() + string(last[:len(last)-len(bytes.TrimLeft(last, " \t"))])
	return append([]splice{{end, end, indent + literal + ","}, {end, end, "," + indent + literal}}, same...)
}

// cuts returns the ways to take an element out of the array that key is, with
// the comma and the blanks behind it or before it.
func (o *outline) cuts(key []string) (all []splice) {
	ranges := o.elements(key)
	for i, r := range ranges {
		switch {
		case i+1 < len(ranges):
			all = append(all, splice{r.start, ranges[i+1].start, ""})
		case i > 0:
			all = append(all, splice{ranges[i-1].end, r.end, ""})
		default:
			all = append(all, splice{r.start, r.end, ""})
			rest := o.doc[r.end:]
			if blank := bytes.TrimLeft(rest, " \t\r\n"); bytes.HasPrefix(blank, []byte(",")) {
				all = append(all, splice{r.start, len(o.doc) - len(blank) + 1, ""})
			}
		}
	}
	return all
}

// elements returns the ranges of the strings in the array that key is; none if
// it holds anything else.
func (o *outline) elements(key []string) (ranges []splice) {
	var p unstable.Parser
	p.Reset(o.doc)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue {
			table = keyOf(e)
			continue
		}
		if !slices.Equal(slices.Concat(table, keyOf(e)), key) || e.Value().Kind != unstable.Array {
			continue
		}
		for it := e.Value().Children(); it.Next(); {
			n := it.Node()
			if n.Kind != unstable.String {
				return nil
			}
			ranges = append(ranges, splice{start: int(n.Raw.Offset), end: int(n.Raw.Offset + n.Raw.Length)})
		}
	}
	return ranges
}
