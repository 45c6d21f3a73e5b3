// Package edit is what a change to files means, whatever format asked for it.
//
// An Intent is data: it can be checked, applied to bytes, taken back, and
// carried over to a file that has changed meanwhile. Nothing here touches a
// file; package workspace does, by the same rules.
package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Conditions that the functions of this package report.
var (
	// ErrInvalid reports an intent that contradicts itself, whatever it is applied to.
	ErrInvalid = errors.New("invalid intent")
	// ErrOverlap reports regions that overlap or are out of order.
	ErrOverlap = errors.New("regions overlap")
	// ErrRange reports a region that reaches beyond its base.
	ErrRange = errors.New("region out of range")
	// ErrMismatch reports bytes that are not those the intent was made against.
	ErrMismatch = errors.New("bytes are not those of the base")
)

// An Intent is one file's change. Conflict detection, audit, undo and replay
// work on it; patches, search and replace, whole files and syntax trees are
// only ways to arrive at it.
type Intent struct {
	Path     string   `json:"path"`             // relative to the workspace root
	Base     string   `json:"base"`             // digest the change was made against; "" creates
	Result   string   `json:"result,omitempty"` // digest of the file after it; "" if removed or not yet done
	Regions  []Region `json:"regions"`          // in ascending order, not overlapping
	Remove   bool     `json:"remove,omitempty"`
	Mode     string   `json:"mode,omitempty"`      // octal permission bits, such as "0755", or Link; "" keeps
	Was      string   `json:"was,omitempty"`       // the bits before, where they changed or the file is removed; "" if nobody knows
	Attrs    string   `json:"attrs,omitempty"`     // digest of the owner and attributes that the file gets; "" keeps
	WasAttrs string   `json:"was_attrs,omitempty"` // of those before, where they changed or the file is removed; "" if they were as those of any new file
	Parents  int      `json:"parents,omitempty"`   // how many directories, from the file's own up, were made to create it
	Inexact  string   `json:"inexact,omitempty"`   // how the match was loosened, if it was
}

// Link is the Mode, and the Was, of a symbolic link. Its bytes are where it leads.
const Link = "link"

// Links reports whether i is about a link, before the change or after it: Path is
// then the link itself.
func (i Intent) Links() bool { return i.Mode == Link || i.Was == Link }

// A Region is a range of bytes and what replaces it. Events keep where and how
// long it is, never the bytes: those are in the images that Base and Result
// name, which are not redacted.
type Region struct {
	Start int    `json:"start"` // in the base
	End   int    `json:"end"`   // in the base, exclusive
	Len   int    `json:"len"`   // of New
	Old   []byte `json:"-"`     // the base's bytes from Start to End
	New   []byte `json:"-"`
}

// Digest names bytes: their SHA-256 in lower-case hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Validate reports, as ErrInvalid, ErrRange or ErrOverlap, what no file could
// mend: a path, digest or mode that is none, a removal with regions or with a
// result, regions that overlap or go down. It does not need the bytes, so it
// also holds for an intent that was read back from an event.
func (i Intent) Validate() error {
	switch {
	case i.Path == "":
		return fmt.Errorf("%w: no path", ErrInvalid)
	case !digestOrNone(i.Base):
		return fmt.Errorf("%w: base %q is not a digest", ErrInvalid, i.Base)
	case !digestOrNone(i.Result):
		return fmt.Errorf("%w: result %q is not a digest", ErrInvalid, i.Result)
	case !digestOrNone(i.Attrs) || !digestOrNone(i.WasAttrs):
		return fmt.Errorf("%w: attributes %q and %q are not digests", ErrInvalid, i.Attrs, i.WasAttrs)
	case i.Parents < 0 || i.Parents > 0 && i.Base != "":
		return fmt.Errorf("%w: %d directories were made for it", ErrInvalid, i.Parents)
	case i.Remove && (i.Base == "" || i.Result != "" || len(i.Regions) > 0 || i.Mode != "" || i.Attrs != ""):
		return fmt.Errorf("%w: a removal has a base and nothing else", ErrInvalid)
	}
	for _, mode := range []string{i.Mode, i.Was} {
		if m, err := strconv.ParseUint(mode, 8, 32); mode != "" && mode != Link && (err != nil || m > 0o777) {
			return fmt.Errorf("%w: mode %q is neither octal permission bits nor a link", ErrInvalid, mode)
		}
	}
	end := 0
	for n, r := range i.Regions {
		switch {
		case r.Start < 0 || r.End < r.Start || i.Base == "" && r.End > 0:
			return fmt.Errorf("%w: region %d is %d to %d", ErrRange, n, r.Start, r.End)
		case r.Start < end:
			return fmt.Errorf("%w: region %d starts at %d, before %d", ErrOverlap, n, r.Start, end)
		case r.Len < 0:
			return fmt.Errorf("%w: region %d has length %d", ErrInvalid, n, r.Len)
		}
		end = r.End
	}
	return nil
}

func digestOrNone(s string) bool {
	b, err := hex.DecodeString(s)
	return s == "" || err == nil && len(b) == sha256.Size && hex.EncodeToString(b) == s
}
