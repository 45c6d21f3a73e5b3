package workspace

import (
	"bytes"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"
)

// Entry returns the entry that path leads to, links followed.
func (w *Workspace) Entry(path string) (File, error) {
	at, err := w.resolve(path)
	if err != nil {
		return File{}, fmt.Errorf("stat %s: %w", path, err)
	}
	info, err := w.root.Lstat(at)
	if err != nil {
		return File{}, fmt.Errorf("stat %s: %w", path, reason(err))
	}
	return File{Path: slash(at), Type: info.Mode().Type(), at: at, root: w.root}, nil
}

// System returns the path of f from the root as the system spells it: bytes, not
// text.
func (f File) System() string { return f.at }

// maxKept is how large a buffer a Loader keeps for the next file, in bytes.
const maxKept = 4 << 20

// A Loader reads many files, one after the other, at little cost: with few
// system calls and into one buffer. It is for one goroutine.
type Loader struct {
	w   *Workspace
	buf []byte
}

// Loader returns a Loader for files of w.
func (w *Workspace) Loader() *Loader { return &Loader{w: w} }

// Load returns the text of the regular file f as Read shows it, and when it was
// last modified. It has the errors of Read. The bytes may be changed, and are
// good until the next Load.
func (l *Loader) Load(f File) ([]byte, time.Time, error) {
	if cap(l.buf) > maxKept {
		l.buf = nil
	}
	var raw []byte
	var modified time.Time
	ok := f.Type.IsRegular() // else it is not even opened
	if ok {
		raw, modified, ok = l.quick(f.at)
	}
	if !ok {
		var info fs.FileInfo
		var err error
		if raw, info, err = l.w.bytes(f.at); err != nil {
			return nil, modified, fmt.Errorf("read %s: %w", f.Path, err)
		}
		modified = info.ModTime()
	}
	text, err := Shown(raw)
	if err != nil {
		return nil, modified, fmt.Errorf("read %s: %w", f.Path, err)
	}
	return text, modified, nil
}

// room returns a buffer of at least n bytes, of which the first have stand in
// the one that it takes the place of.
func (l *Loader) room(n, have int) []byte {
	if cap(l.buf) < n {
		grown := make([]byte, max(n, 2*cap(l.buf)))
		copy(grown, l.buf[:have])
		l.buf = grown
	}
	return l.buf[:cap(l.buf)]
}

// Shown returns the text that raw is as Read shows it, or ErrBinary. It may use
// the bytes of raw for that.
func Shown(raw []byte) ([]byte, error) {
	code := detect(raw)
	if code == nil {
		return nil, ErrBinary
	}
	body := raw[len(code.mark):]
	if code != &codecUTF8 && (code != &codecUTF8Mark || !utf8.Valid(body)) {
		return []byte(decode(raw, code).Content), nil
	}
	return withoutCR(body), nil
}

// withoutCR makes each CR LF in b a LF, in place.
func withoutCR(b []byte) []byte {
	first := bytes.Index(b, []byte(CRLF))
	if first < 0 {
		return b
	}
	kept := b[:first]
	for rest := b[first+1:]; ; {
		next := bytes.Index(rest, []byte(CRLF))
		if next < 0 {
			return append(kept, rest...)
		}
		kept = append(kept, rest[:next]...)
		rest = rest[next+1:]
	}
}
