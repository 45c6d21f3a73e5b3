package edit

import (
	"bytes"
	"fmt"
)

// Apply returns base with the regions replaced and every other byte as it was;
// nil for a removal. It is for intents that hold their bytes: a region whose Old
// or New is not as long as it says, or whose Old is not what base has there, is
// ErrMismatch. The digests are not looked at: whoever read base has compared
// them. base stays untouched and is not kept.
func (i Intent) Apply(base []byte) ([]byte, error) {
	if err := i.check(base); err != nil {
		return nil, err
	}
	if i.Remove {
		return nil, nil
	}
	size := len(base)
	for _, r := range i.Regions {
		size += len(r.New) - (r.End - r.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, r := range i.Regions {
		out = append(out, base[at:r.Start]...)
		out = append(out, r.New...)
		at = r.End
	}
	return append(out, base[at:]...), nil
}

// Invert returns the intent that takes i back, given the bytes of its base: it
// applies to what i.Apply(base) returns and gives base again. What created a
// file is taken back by its removal, and the other way round. Permission bits
// come back as far as Was says what they were.
func (i Intent) Invert(base []byte) (Intent, error) {
	result, err := i.Apply(base)
	if err != nil {
		return Intent{}, err
	}
	back := Intent{Path: i.Path, Base: Digest(result), Result: Digest(base), Mode: i.Was, Was: i.Mode, Attrs: i.WasAttrs, WasAttrs: i.Attrs}
	switch {
	case i.Remove:
		back.Base = ""
		if len(base) > 0 {
			back.Regions = []Region{{Len: len(base), New: bytes.Clone(base)}}
		}
		return back, nil
	case i.Base == "":
		return Intent{Path: i.Path, Base: back.Base, Remove: true, Was: i.Mode, WasAttrs: i.Attrs}, nil
	}
	shift := 0
	for _, r := range i.Regions {
		start := r.Start + shift
		back.Regions = append(back.Regions, Region{
			Start: start, End: start + r.Len, Len: r.End - r.Start,
			Old: bytes.Clone(r.New), New: bytes.Clone(r.Old),
		})
		shift += r.Len - (r.End - r.Start)
	}
	return back, nil
}

// check reports what keeps i from being applied to base.
func (i Intent) check(base []byte) error {
	if err := i.Validate(); err != nil {
		return err
	}
	if i.Base == "" && len(base) > 0 {
		return fmt.Errorf("%w: %s is to be created, and the base has %d bytes", ErrMismatch, i.Path, len(base))
	}
	for n, r := range i.Regions {
		switch {
		case r.End > len(base):
			return fmt.Errorf("%w: region %d ends at %d of %d bytes", ErrRange, n, r.End, len(base))
		case len(r.New) != r.Len:
			return fmt.Errorf("%w: region %d has %d new bytes, not %d", ErrMismatch, n, len(r.New), r.Len)
		case !bytes.Equal(r.Old, base[r.Start:r.End]):
			return fmt.Errorf("%w: region %d, bytes %d to %d", ErrMismatch, n, r.Start, r.End)
		}
	}
	return nil
}

// Fill returns i with the bytes of its regions, from the images that its Base and
// Result name: an intent that was read back from an event has none. ErrMismatch
// reports images between which i does not lead.
func (i Intent) Fill(base, result []byte) (Intent, error) {
	if err := i.Validate(); err != nil {
		return Intent{}, err
	}
	full, shift := i, 0
	full.Regions = nil
	for n, r := range i.Regions {
		start := r.Start + shift
		if r.End > len(base) || start+r.Len > len(result) {
			return Intent{}, fmt.Errorf("%w: region %d of %s", ErrRange, n, i.Path)
		}
		r.Old, r.New = base[r.Start:r.End], result[start:start+r.Len]
		full.Regions = append(full.Regions, r)
		shift += r.Len - (r.End - r.Start)
	}
	if got, err := full.Apply(base); err != nil || !i.Remove && !bytes.Equal(got, result) {
		return Intent{}, fmt.Errorf("%w: the regions of %s do not lead from one image to the other", ErrMismatch, i.Path)
	}
	return full, nil
}
