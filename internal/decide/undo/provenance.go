package undo

import (
	"bytes"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A By says whose a piece of a file is.
type By string

// The closed list of owners.
const (
	Baseline By = "baseline" // as committed or, without a commit, as the session found it
	User     By = "user"     // whoever else changed it, before the session or meanwhile
	Agent    By = "agent"
)

// An Owner is whose a piece is and, of the agent, from which call.
type Owner struct {
	By   By     `json:"by"`
	Call string `json:"call,omitempty"`
}

// A Piece is a range of bytes of a file that has one owner.
type Piece struct {
	Start int `json:"start"`
	End   int `json:"end"` // exclusive
	Owner
}

// maxOwned is how many bytes of a file Provenance looks at.
const maxOwned = 8 << 20

// Provenance says whose each byte of now is, which stands at path: committed is
// what the last commit has there, nil if there is none. What an undo brought back
// is whose it was. An error is of images that are not kept, or of a file too
// large to be looked at.
func (h *History) Provenance(path string, committed, now []byte, images Images) ([]Piece, error) {
	if len(now) > maxOwned {
		return nil, fmt.Errorf("provenance of %s: more than %d bytes", path, maxOwned)
	}
	t := &tracing{bytes: committed, owners: make([]Owner, len(committed)), before: make(map[string]tracing)}
	for i := range t.owners {
		t.owners[i] = Owner{By: Baseline}
	}
	first := committed == nil
	for _, c := range h.changes {
		if c.Edit.Path != path {
			continue
		}
		if err := t.change(c, first, images); err != nil {
			return nil, fmt.Errorf("provenance of %s: %w", path, err)
		}
		first = false
	}
	by := User
	if first {
		by = Baseline
	}
	t.to(now, Owner{By: by})
	return t.pieces(), nil
}

// A tracing is a file at some point of its history, and whose each byte is.
type tracing struct {
	bytes  []byte
	owners []Owner
	before map[string]tracing // how it was before a call
}

// change goes on to what c made of the file. What differs from what c found was
// changed by someone else.
func (t *tracing) change(c *Change, first bool, images Images) error {
	base, result, err := c.images(images)
	if err != nil {
		return err
	}
	by := Owner{By: User}
	if first {
		by.By = Baseline
	}
	t.to(base, by)
	t.before[c.Call] = tracing{bytes: t.bytes, owners: t.owners}
	if c.own {
		t.restore(c, result)
		return nil
	}
	full := c.Edit
	if c.Edit.Remove {
		full.Regions = edit.Between(base, nil)
	} else if full, err = full.Fill(base, result); err != nil {
		return err
	}
	t.apply(full.Regions, result, Owner{By: Agent, Call: c.Call})
	return nil
}

// images returns the file before and after c.
func (c *Change) images(images Images) (base, result []byte, err error) {
	if c.Edit.Base != "" {
		base, err = images(c.Edit.Base)
	}
	if err == nil && c.Edit.Result != "" {
		result, err = images(c.Edit.Result)
	}
	return base, result, err
}

// to goes on to next, where what is new is by's.
func (t *tracing) to(next []byte, by Owner) {
	if !bytes.Equal(t.bytes, next) {
		t.apply(edit.Between(t.bytes, next), next, by)
	}
}

func (t *tracing) apply(regions []edit.Region, next []byte, by Owner) {
	owners := make([]Owner, 0, len(next))
	at := 0
	for _, r := range regions {
		owners = append(owners, t.owners[at:r.Start]...)
		for range r.Len {
			owners = append(owners, by)
		}
		at = r.End
	}
	t.owners, t.bytes = append(owners, t.owners[at:]...), next
}

// restore goes on to what an undo made of the file: what it brought back is
// whose it was before what it took back.
func (t *tracing) restore(c *Change, next []byte) {
	back := Owner{}
	t.to(next, back)
	for i := len(c.took) - 1; i >= 0; i-- {
		was, ok := t.before[c.took[i].Call]
		if !ok {
			continue
		}
		was.to(next, back)
		for n, o := range t.owners {
			if o == back {
				t.owners[n] = was.owners[n]
			}
		}
	}
	for n, o := range t.owners {
		if o == back {
			t.owners[n] = Owner{By: User}
		}
	}
}

func (t *tracing) pieces() []Piece {
	var out []Piece
	for n, o := range t.owners {
		if last := len(out) - 1; last >= 0 && out[last].Owner == o {
			out[last].End = n + 1
			continue
		}
		out = append(out, Piece{n, n + 1, o})
	}
	return out
}
