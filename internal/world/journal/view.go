package journal

import (
	"errors"
	"io"
	"io/fs"
	"iter"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A View reads a session again and again while another process may be writing
// it. It takes no lock and changes nothing. It has one owner.
type View struct {
	dir   string
	at    mark
	last  position
	shelf freshShelf
}

// Watch returns a view of the session in dir, before its first event.
func Watch(dir string) *View {
	return &View{dir: dir, last: newPosition(), shelf: freshShelf{newDiskShelf(system{}, dir)}}
}

// Next yields what came since the Next before, as Read does: every intact event,
// a *Corrupt where something is missing, and an event beside an error where it
// cannot be shown in full. It stops quietly at an unfinished end, which a later
// Next reads once it is finished.
func (v *View) Next() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for f, err := range walk(system{}, v.dir, v.at) {
			if _, ok := errors.AsType[*torn](err); ok {
				return
			}
			if err != nil {
				v.last.gap = true
				if !yield(event.Event{}, err) {
					return
				}
				continue
			}
			v.at = mark{joint{f.Seq, f.crc}, f.segment, f.offset + int64(len(f.raw))}
			if err := v.last.follow(f); err != nil {
				v.last.gap = true
				if !yield(event.Event{}, err) {
					return
				}
			}
			if !yield(restore(f.Record, v.shelf)) {
				return
			}
		}
	}
}

// Artifact opens one for reading. The error is fs.ErrNotExist if there is none.
func (v *View) Artifact(handle string) (io.ReadSeekCloser, error) {
	digest, ok := digestOf(handle)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: handle, Err: fs.ErrNotExist}
	}
	return v.shelf.open(digest)
}

// A freshShelf also finds what another process has kept since the packs were last
// looked through.
type freshShelf struct{ *diskShelf }

func (s freshShelf) open(digest string) (io.ReadSeekCloser, error) {
	f, err := s.diskShelf.open(digest)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	s.mu.Lock()
	s.packs.index = nil
	s.mu.Unlock()
	return s.unpack(digest)
}
