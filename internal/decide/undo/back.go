package undo

import (
	"bytes"
	"fmt"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// A File is a file as it stands. The zero File is none.
type File struct {
	Exists bool
	Bytes  []byte
	Mode   string // octal permission bits; edit.Link for a link, whose bytes are where it leads
	Attrs  string // digest of its owner and attributes; "" where it does not matter
}

func (f File) link() bool { return f.Mode == edit.Link }

// An Images finds bytes by their digest.
type Images func(digest string) ([]byte, error)

// Back returns the intent that takes changes of one file, newest first, back from
// what stands there now: only the regions that they put there, so that what
// others did since stays. It is false where there is nothing to do. What cannot
// be taken back whole is left as it is, and the Left says why.
func Back(changes []Change, now File, images Images) (edit.Intent, bool, *Left) {
	file := now
	for _, c := range changes {
		next, left := back(c, file, images)
		if left != nil {
			return edit.Intent{}, false, left
		}
		file = next
	}
	i, changed := between(changes[0].Edit.Path, now, file)
	return i, changed, nil
}

// back returns file without change c.
func back(c Change, file File, images Images) (File, *Left) {
	leave := func(format string, a ...any) (File, *Left) {
		return File{}, &Left{Path: c.Edit.Path, Call: c.Call, Why: fmt.Sprintf(format, a...)}
	}
	switch e := c.Edit; {
	case e.Remove && file.Exists && edit.Digest(file.Bytes) == e.Base && file.link() == (e.Was == edit.Link):
		return file, nil
	case e.Remove && file.Exists:
		return leave("%s removed it, and someone made it anew", c.Call)
	case e.Base == "" && !file.Exists:
		return file, nil
	case !e.Remove && file.Exists && file.link() && e.Mode != edit.Link:
		return leave("it is a link now")
	case !e.Remove && file.Exists && !file.link() && e.Mode == edit.Link:
		return leave("it is no link any more")
	case e.Base == "" && edit.Digest(file.Bytes) != e.Result:
		return leave("%s created it, and it was changed since", c.Call)
	case e.Base == "":
		return File{}, nil
	case !e.Remove && !file.Exists:
		return leave("it is gone since %s changed it", c.Call)
	}
	base, err := images(c.Edit.Base)
	if err != nil {
		return leave("what it was before %s is not kept: %v", c.Call, err)
	}
	if c.Edit.Remove {
		return File{Exists: true, Bytes: base, Mode: c.Edit.Was, Attrs: c.Edit.WasAttrs}, nil
	}
	return c.carry(base, file, images)
}

// carry takes back a change of bytes and permissions.
func (c Change) carry(base []byte, file File, images Images) (File, *Left) {
	leave := func(err error) (File, *Left) {
		return File{}, &Left{Path: c.Edit.Path, Call: c.Call, Why: fmt.Sprintf("what %s made of it is not kept: %v", c.Call, err)}
	}
	out := File{Exists: true, Bytes: base, Mode: file.Mode, Attrs: file.Attrs}
	if c.Edit.Attrs != "" && c.Edit.Attrs == file.Attrs && c.Edit.WasAttrs != "" {
		out.Attrs = c.Edit.WasAttrs
	}
	if c.Edit.Mode != "" && c.Edit.Mode == file.Mode && c.Edit.Was != "" {
		out.Mode = c.Edit.Was
	}
	result, now := file.Bytes, edit.Digest(file.Bytes)
	if now == c.Edit.Base { // someone else took it back
		return out, nil
	}
	if now != c.Edit.Result {
		var err error
		if result, err = images(c.Edit.Result); err != nil {
			return leave(err)
		}
	}
	done, err := c.Edit.Fill(base, result)
	if err != nil {
		return leave(err)
	}
	inverse, err := done.Invert(base)
	if err != nil {
		return leave(err)
	}
	carried, conflicts, err := inverse.Merge(result, file.Bytes)
	if err != nil {
		return leave(err)
	}
	if len(conflicts) > 0 {
		left := &Left{Path: c.Edit.Path, Call: c.Call, Why: fmt.Sprintf("what %s wrote there was changed since", c.Call)}
		for _, r := range conflicts {
			left.Lines = append(left.Lines, lines(result, r))
		}
		return File{}, left
	}
	if out.Bytes, err = carried.Apply(file.Bytes); err != nil {
		return leave(err)
	}
	return out, nil
}

// lines returns the lines of text that r touches.
func lines(text []byte, r edit.Region) Span {
	first := 1 + bytes.Count(text[:r.Start], newline)
	last := first + bytes.Count(bytes.TrimSuffix(text[r.Start:r.End], newline), newline)
	return Span{first, last}
}

var newline = []byte("\n")

// between returns the intent that makes now what it is to become, unless it is
// that already.
func between(path string, now, then File) (edit.Intent, bool) {
	i := edit.Intent{Path: path}
	if now.Exists {
		i.Base = edit.Digest(now.Bytes)
	}
	switch {
	case !then.Exists && !now.Exists:
		return i, false
	case !then.Exists:
		i.Remove, i.Was = true, now.Mode // its attributes are kept by whoever removes it
		return i, true
	}
	i.Result, i.Regions = edit.Digest(then.Bytes), edit.Between(now.Bytes, then.Bytes)
	if then.Mode != now.Mode || then.link() {
		i.Mode, i.Was = then.Mode, now.Mode
	}
	if then.Attrs != "" && then.Attrs != now.Attrs && !then.link() {
		i.Attrs, i.WasAttrs = then.Attrs, now.Attrs
	}
	return i, i.Base != i.Result || i.Mode != i.Was || i.Attrs != ""
}
