package cli

import (
	"bytes"
	"slices"
	"strings"
)

// candidates returns the splices that may set key, the best first.
func (o *outline) candidates(key []string, value string) []splice {
	if s, ok := replaced(o.values, key, value); ok {
		return []splice{s}
	}
	var all []splice
	parent := key[:len(key)-1]
	for i := len(o.tables) - 1; i >= 0; i-- { // under its own heading
		if t := o.tables[i]; t.path != nil && slices.Equal(t.path, parent) || t.root && len(parent) == 0 {
			all = append(all, o.under(i, assignment(key[len(t.path):], value)))
		}
	}
	for _, b := range slices.Backward(o.values) { // beside a neighbour with a dotted key
		if t := o.tables[b.table]; len(parent) > len(t.path) && len(b.path) > len(parent) && hasPrefix(b.path, parent) {
			all = append(all, o.after(b, assignment(key[len(t.path):], value)))
			break
		}
	}
	if len(parent) > 0 {
		all = append(all, o.atEnd("["+strings.Join(parent, ".")+"]", assignment(key[len(key)-1:], value)))
		all = append(all, o.under(0, assignment(key, value)))
	}
	return all
}

func assignment(key []string, value string) string { return strings.Join(key, ".") + " = " + value }

// replaced returns the splice for a key that is there, or that an inline table
// must hold.
func replaced(values []binding, key []string, value string) (splice, bool) {
	for _, b := range values {
		switch {
		case b.path == nil || !hasPrefix(key, b.path):
		case len(b.path) == len(key):
			return splice{b.value, b.end, value}, true
		case b.inline:
			if s, ok := replaced(b.within, key, value); ok {
				return s, true
			}
			a := assignment(key[len(b.path):], value)
			if n := len(b.within); n > 0 {
				end := b.within[n-1].end
				return splice{end, end, ", " + a}, true
			}
			return splice{b.value + 1, b.value + 1, " " + a + " "}, true
		}
	}
	return splice{}, false
}

// under adds a line to table i: after its last key, or after its heading, or,
// in the root, before the first heading and the comment on it.
func (o *outline) under(i int, line string) splice {
	for _, b := range slices.Backward(o.values) {
		if b.table == i {
			return o.after(b, line)
		}
	}
	if !o.tables[i].root {
		return o.insert(o.tables[i].end, line)
	}
	if len(o.tables) == 1 {
		return o.insert(len(o.doc), line)
	}
	at := o.tables[1].start
	for at > 0 {
		before := bytes.LastIndexByte(o.doc[:at-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimLeft(o.doc[before:at], " \t"), []byte("#")) {
			break
		}
		at = before
	}
	s := o.insert(at, line)
	s.text += o.newline()
	return s
}

// after adds a line below b, indented as that is.
func (o *outline) after(b binding, line string) splice {
	begin := bytes.LastIndexByte(o.doc[:b.start], '\n') + 1
	return o.insert(o.lineEnd(b.end), string(o.doc[begin:b.start])+line)
}

func (o *outline) atEnd(heading, line string) splice {
	s := o.insert(len(o.doc), heading+o.newline()+line)
	if len(bytes.TrimSpace(o.doc)) > 0 {
		s.text = o.newline() + s.text
	}
	return s
}

// insert adds a line at the beginning of another, or at the end, where the last
// line may not be ended.
func (o *outline) insert(at int, line string) splice {
	s := splice{at, at, line + o.newline()}
	if at == len(o.doc) && at > 0 && o.doc[at-1] != '\n' {
		s.text = o.newline() + s.text
	}
	return s
}

func (o *outline) newline() string {
	if bytes.Contains(o.doc, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
