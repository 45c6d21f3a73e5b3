// Package secret knows what must not be written down: the keys that Belay holds
// itself, by their values, and those of others, by their shape. docs/secrets.md
// says what is found, and what is not.
package secret

import (
	"cmp"
	"regexp"
	"slices"
)

// Options are what a Redactor looks for. The zero Options are the rules alone.
type Options struct {
	// Held are values by name. They are found as they are and in base64, hex,
	// URL and JSON encoding, and become "[redacted:NAME]". Values that are
	// shorter than 8 bytes, or are known to stand for no key, are not looked
	// for.
	Held map[string]string

	// Key makes marks that tell secrets of one rule apart, as in
	// "[secret:github-pat:k3f7q]", and that say nothing of the secret to who
	// does not have Key. Without it they are "[secret:github-pat]".
	Key []byte

	// Once returns a function that calls its argument when it is first needed,
	// and may be called from anywhere: sync.OnceValue. Without it New compiles
	// all rules.
	Once func(func() *regexp.Regexp) func() *regexp.Regexp
}

// A Redactor replaces secrets by marks. The nil Redactor knows none. A Redactor
// never changes and may be shared.
type Redactor struct {
	held  held
	rules *rules
	key   []byte
}

// New returns a Redactor of what o says and of all rules.
func New(o Options) *Redactor {
	r := &Redactor{rules: load(o.Once), key: o.Key}
	r.held.index(o.Held)
	return r
}

// A span is a secret in a text, and what is written instead.
type span struct {
	start, end int
	mark       string
	rank       int // of rules that find the same bytes, the lowest names it
}

// find returns the secrets in b in the order of their beginnings. Some may
// overlap. If b is not whole, open is where something begins that may become a
// secret when more lines come; else it is len(b).
func (r *Redactor) find(b []byte, whole bool) (found []span, open int) {
	found, open = r.byRules(b, whole)
	ruled := len(found)
	for from := 0; ; {
		s, ok := r.held.next(b, from)
		if !ok {
			break
		}
		found = append(found, s)
		from = s.start + 1
	}
	if len(found) == 0 {
		return nil, open
	}
	for i := range found[:ruled] {
		for _, h := range found[ruled:] { // what is held has a name of its own
			if h.start < found[i].end && found[i].start < h.end {
				found[i].mark = h.mark
			}
		}
	}
	slices.SortFunc(found, func(x, y span) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end), cmp.Compare(x.rank, y.rank))
	})
	return found, open
}

// replace appends to dst what is to be written for src from done to cut, of which
// found are the secrets, and returns how far of src has been written for: beyond
// cut, if a secret reaches there. Secrets that overlap become one mark.
func replace(dst, src []byte, found []span, done, cut int) ([]byte, int) {
	for _, s := range found {
		if s.start >= cut {
			break
		}
		if s.start >= done {
			dst = append(append(dst, src[done:s.start]...), s.mark...)
		}
		done = max(done, s.end)
	}
	if done < cut {
		return append(dst, src[done:cut]...), cut
	}
	return dst, done
}

// Text returns s with all secrets replaced.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	b := []byte(s)
	found, _ := r.find(b, true)
	if len(found) == 0 {
		return s
	}
	out, _ := replace(nil, b, found, 0, len(b))
	return string(out)
}
