package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// UnsetConfig takes a setting out of the user's file, so that what is below it holds
// again, and with it the heading of a table that is empty then; every other byte
// stays. A key that is no setting can be taken out too, since it makes the file
// unusable. One that is not there is an error.
func UnsetConfig(file, key string) error {
	if file == "" {
		return &ConfigError{Message: "there is no place for settings: no home directory"}
	}
	path := strings.Split(key, ".")
	return rewrite(file, func(old []byte) ([]byte, error) {
		doc := bytes.TrimPrefix(old, bom)
		if err := checkSyntax(file, doc); err != nil {
			return nil, err
		}
		_, known := knobFor(path)
		b, there := bound(outlineOf(doc).values, path)
		switch {
		case there && b.inline && isTable(path), !there && !known:
			return nil, askedForKey(key)
		case !there:
			return nil, &ConfigError{Message: key + " is not set in " + file}
		}
		s, err := takeKey(doc, path)
		if err != nil {
			return nil, &ConfigError{File: file, Message: err.Error()}
		}
		return s.in(old, len(old)-len(doc)), nil
	})
}

// takeKey returns the splice that takes key, which is there, out of doc: the first
// that changes nothing else but tables that are empty then.
func takeKey(doc []byte, key []string) (splice, error) {
	var want map[string]any
	if err := toml.Unmarshal(doc, &want); err != nil {
		return splice{}, err
	}
	prune(want, key)
	o := outlineOf(doc)
	for _, s := range o.removals(key) {
		var got map[string]any
		after := s.in(doc, 0)
		if toml.Unmarshal(after, &got) != nil {
			continue
		}
		if _, there := bound(outlineOf(after).values, key); there {
			continue
		}
		if prune(got, key); equalValues(got, want) {
			return s, nil
		}
	}
	return splice{}, fmt.Errorf("%s cannot be taken out without changing more; edit the file by hand", strings.Join(key, "."))
}

// prune takes key out of m, and the tables on the way to it that are empty then.
func prune(m map[string]any, key []string) {
	inner, isTable := m[key[0]].(map[string]any)
	if len(key) > 1 && isTable {
		prune(inner, key[1:])
	}
	if len(key) == 1 || isTable && len(inner) == 0 {
		delete(m, key[0])
	}
}

// removals returns the splices that may take key out, the best first.
func (o *outline) removals(key []string) (all []splice) {
	for i, b := range o.values {
		switch {
		case b.path == nil || !hasPrefix(key, b.path):
		case len(b.path) == len(key) || b.inline && sole(b.within, key):
			return append(o.withHeading(i), splice{o.lineStart(b.start), o.lineEnd(b.end), ""})
		case b.inline:
			return o.removalsWithin(b.within, key)
		}
	}
	return nil
}

// sole reports whether key is all there is in an inline table.
func sole(within []binding, key []string) bool {
	if len(within) != 1 {
		return false
	}
	b := within[0]
	return b.path != nil && (slices.Equal(b.path, key) || b.inline && hasPrefix(key, b.path) && sole(b.within, key))
}

// removalsWithin is removals for what an inline table holds: key goes with the comma
// behind it or before it.
func (o *outline) removalsWithin(within []binding, key []string) []splice {
	for i, b := range within {
		switch {
		case b.path == nil || !hasPrefix(key, b.path):
		case len(b.path) < len(key) && b.inline && !sole(b.within, key):
			return o.removalsWithin(b.within, key)
		case i+1 < len(within):
			return []splice{{b.start, within[i+1].start, ""}}
		case i > 0:
			return []splice{{within[i-1].end, b.end, ""}}
		}
	}
	return nil
}

// withHeading returns the splice that takes out value i and the heading it stands
// under, with the blank lines before that; none where more stands there, be it a
// comment.
func (o *outline) withHeading(i int) []splice {
	b := o.values[i]
	t, end := o.tables[b.table], len(o.doc)
	if b.table+1 < len(o.tables) {
		end = o.tables[b.table+1].start
	}
	rest := slices.Concat(o.doc[t.end:o.lineStart(b.start)], o.doc[o.lineEnd(b.end):end])
	start := t.start - blankBefore(o.doc[:t.start])
	above := o.doc[o.lineStart(max(0, start-1)):start]
	switch {
	case t.root, len(bytes.TrimSpace(rest)) > 0, bytes.Contains(o.doc[t.start:t.end], []byte("#")):
		return nil
	case start == t.start && bytes.HasPrefix(bytes.TrimSpace(above), []byte("#")): // it is about the table
		return nil
	case start == 0:
		return []splice{{0, end, ""}}
	}
	return []splice{{start, o.lineEnd(b.end), ""}}
}

// blankBefore returns how many bytes of blank lines doc ends in.
func blankBefore(doc []byte) int {
	rest := bytes.TrimRight(doc, " \t\r\n")
	if len(rest) == 0 {
		return len(doc)
	}
	line := bytes.IndexByte(doc[len(rest):], '\n')
	if line < 0 {
		return 0
	}
	return len(doc) - len(rest) - line - 1
}

// lineStart returns where the line that offset is in begins.
func (o *outline) lineStart(offset int) int {
	return bytes.LastIndexByte(o.doc[:offset], '\n') + 1
}

// commented reports whether a comment stands in the array that b is.
func (o *outline) commented(b binding) bool {
	array := slices.Clone(o.doc[b.value:b.end])
	for _, r := range o.elements(b.path) {
		clear(array[r.start-b.value : r.end-b.value])
	}
	return bytes.Contains(array, []byte("#"))
}
