// Package secret knows what must not be written down: the values of keys and
// tokens, in all the forms in which they turn up in text.
package secret

import (
	"sort"
	"strings"
)

// shortest is the least length of a value that is looked for. Shorter ones turn
// up by chance.
const shortest = 8

// A Redactor replaces secrets by their names, as in "[redacted:API_KEY]". It
// finds each value as it is and in base64, hex, URL and JSON encoding. The nil
// Redactor knows none. A Redactor never changes and may be shared.
type Redactor struct {
	first   map[[shortest]byte][]pattern // by how they begin; the longest first
	shift   []uint8                      // by the last two bytes of a window: how far to move on
	longest int
}

// A pattern is one form of a secret, and what is written instead.
type pattern struct{ text, mark string }

// New returns a Redactor of values, by name. Values shorter than 8 bytes are not
// looked for.
func New(values map[string]string) *Redactor {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	all := map[string]string{} // text to mark
	for _, name := range names {
		if len(values[name]) < shortest {
			continue
		}
		for _, text := range forms(values[name]) {
			if _, known := all[text]; !known {
				all[text] = "[redacted:" + label(name) + "]"
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	r := &Redactor{}
	r.index(all)
	return r
}

// label makes name harmless inside a JSON string, a URL or a terminal.
func label(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
			return c
		}
		return '_'
	}, name[:min(len(name), 64)])
}

// index prepares the search of Wu and Manber: a window of the shortest length
// moves along the text, and the table says from its last two bytes how far it
// can move without missing the beginning of a pattern.
func (r *Redactor) index(all map[string]string) {
	r.first = map[[shortest]byte][]pattern{}
	r.shift = make([]uint8, 1<<16)
	for i := range r.shift {
		r.shift[i] = shortest - 1
	}
	given := givenAway(all)
	for text, mark := range all {
		if given[mark] {
			mark = "[redacted]"
		}
		r.longest = max(r.longest, len(text))
		start := [shortest]byte([]byte(text))
		r.first[start] = append(r.first[start], pattern{text, mark})
		for i := range shortest - 1 {
			at := pair(start[i], start[i+1])
			r.shift[at] = min(r.shift[at], uint8(shortest-2-i))
		}
	}
	for _, same := range r.first {
		sort.Slice(same, func(i, j int) bool { return len(same[i].text) > len(same[j].text) })
	}
}

// givenAway returns the marks that would themselves be taken for a secret, as
// happens when a secret is its own name.
func givenAway(all map[string]string) map[string]bool {
	given := map[string]bool{}
	for _, mark := range all {
		if _, known := given[mark]; known {
			continue
		}
		given[mark] = false
		for text := range all {
			given[mark] = given[mark] || strings.Contains(mark, text)
		}
	}
	return given
}

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// next returns the first secret in b that begins at from or later; start is -1
// if there is none.
func (r *Redactor) next(b []byte, from int) (start, end int, mark string) {
	for at := from; at+shortest <= len(b); {
		if skip := r.shift[pair(b[at+shortest-2], b[at+shortest-1])]; skip > 0 {
			at += int(skip)
			continue
		}
		for _, p := range r.first[[shortest]byte(b[at:])] {
			if len(p.text) <= len(b)-at && p.text == string(b[at:at+len(p.text)]) {
				return at, at + len(p.text), p.mark
			}
		}
		at++
	}
	return -1, 0, ""
}

// replace appends to dst what is to be written for the bytes of src up to cut.
// Of src, done bytes at the front have been written for already, by the mark of
// a secret that reached into them; replace returns how many bytes there are of
// that kind behind cut. Secrets that overlap become one mark.
func (r *Redactor) replace(dst, src []byte, done, cut int) ([]byte, int) {
	for from := 0; ; {
		start, end, mark := r.next(src, from)
		if start < 0 || start >= cut {
			break
		}
		if start >= done {
			dst = append(append(dst, src[done:start]...), mark...)
		}
		done = max(done, end)
		from = start + 1
	}
	if done < cut {
		return append(dst, src[done:cut]...), 0
	}
	return dst, done - cut
}

// Text returns s with all secrets replaced.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	b := []byte(s)
	if start, _, _ := r.next(b, 0); start < 0 {
		return s
	}
	out, _ := r.replace(nil, b, 0, len(b))
	return string(out)
}
