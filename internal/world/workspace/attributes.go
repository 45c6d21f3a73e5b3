package workspace

import (
	"fmt"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Plain is the attributes of a file that has nothing but what any new one has.
const Plain = "{}"

// attributes are what a file can have beside its bytes, its permissions and its
// times, as JSON has them.
type attributes struct {
	Owner *[2]int           `json:"owner,omitempty"` // user and group; nil for those of this process
	Extra map[string][]byte `json:"extra,omitempty"` // extended attributes of users, and the access list
}

// Attributes returns the owner, the extended attributes and the access list of the
// file in one text that is the same for the same ones: Plain, if there is nothing
// to say, or nobody can.
func (r *Raw) Attributes() string { return attributesOf(r.f) }

// attribute finds out what a change needs to know of the attributes of files: what
// one has that goes or gets others, and what one is to get.
func (w *Workspace) attribute(changes []*change) error {
	known := map[string]string{edit.Digest([]byte(Plain)): Plain}
	for _, c := range changes {
		if c.info == nil || c.link || !c.Remove && c.Attrs == "" {
			continue
		}
		f, _, err := open(w.root, c.at)
		if err != nil {
			return fmt.Errorf("edit %s: %w", c.path, err)
		}
		c.had = attributesOf(f)
		_ = f.Close()
		known[edit.Digest([]byte(c.had))] = c.had
	}
	for _, c := range changes {
		if c.Attrs == "" {
			continue
		}
		if has, ok := known[c.Attrs]; ok {
			c.has = has
			continue
		}
		b, err := w.Image(c.Attrs)
		if err != nil {
			return fmt.Errorf("edit %s: its attributes are not kept: %w", c.path, err)
		}
		c.has = string(b)
	}
	return nil
}

// wasAttrs returns the digest of the attributes that an intent says the file had.
func (c *change) wasAttrs() string {
	if c.had == "" || c.had == Plain && c.Remove {
		return ""
	}
	return edit.Digest([]byte(c.had))
}
