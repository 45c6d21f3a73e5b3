package edit

import (
	"bytes"
	"fmt"
)

// Merge carries i over to a file that changed from base to theirs: the intent
// it returns has the digest of theirs as its Base, no Result, and the regions at
// their new places. If nothing changed it is i itself. It also reports the regions of i that cannot be carried
// over; they are not in the intent.
//
// A region cannot be carried over if it shares a byte with a line that changed,
// or touches one; for an insertion, if it lies within such a line or at its
// edge. A removal, which is of the whole file, cannot be carried over to a file
// that changed at all: it returns an intent without regions that removes
// nothing, and one region for all of base. Errors are those of Apply.
func (i Intent) Merge(base, theirs []byte) (Intent, []Region, error) {
	if err := i.check(base); err != nil {
		return Intent{}, nil, err
	}
	if bytes.Equal(base, theirs) {
		return i, nil, nil
	}
	out := i
	out.Base, out.Result, out.Regions = Digest(theirs), "", nil
	if i.Remove {
		out.Remove = false
		return out, []Region{{End: len(base), Old: bytes.Clone(base)}}, nil
	}
	var conflicts []Region
	changes, shift := Between(base, theirs), 0
	for _, r := range i.Regions {
		for len(changes) > 0 && changes[0].End < r.Start {
			shift += changes[0].Len - (changes[0].End - changes[0].Start)
			changes = changes[1:]
		}
		if len(changes) > 0 && changes[0].Start <= r.End {
			conflicts = append(conflicts, r)
			continue
		}
		r.Start, r.End = r.Start+shift, r.End+shift
		out.Regions = append(out.Regions, r)
	}
	if err := out.check(theirs); err != nil {
		return Intent{}, nil, fmt.Errorf("merge %s: %w", i.Path, err)
	}
	return out, conflicts, nil
}
