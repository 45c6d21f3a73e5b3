package workspace

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"time"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Newlines of a Text. One without any line ending has "".
const (
	LF    = "\n"
	CRLF  = "\r\n"
	Mixed = "mixed"
)

// A Text is a file as it was read. Content is how it is shown: UTF-8, lines end
// in LF, there is no byte-order mark, and each byte that cannot be decoded (of
// UTF-16, each two) is one U+FFFD. The file's own bytes are kept beside it, so
// that Region can name them.
type Text struct {
	Path     string // canonical
	Content  string
	Digest   string // of the file's own bytes; what an Intent on it must name
	Newline  string
	Encoding string
	Size     int64 // of the file, in bytes
	Mode     fs.FileMode
	ModTime  time.Time

	raw      []byte
	code     *codec
	straight bool    // Content is raw but for a mark
	places   []place // some, where straight is not so; ascending
	gaps     bool    // something cannot be decoded
}

// A place is where a character starts, in the content and in the file's own bytes.
type place struct{ content, raw int }

// apart is how many bytes of content lie between two places that are kept, at
// most but for a character or a run of ASCII.
const apart = 512

// Read returns the text file that path leads to, as it is at one moment unless
// it is being written to. What a Write through w has made and may still take back
// it does not show: it waits for that, and for nobody else. What is no regular file is
// ErrIsDirectory or ErrNotRegular, what is no text ErrBinary, and what has more
// than MaxFile bytes ErrTooLarge.
func (w *Workspace) Read(path string) (Text, error) {
	at, err := w.resolve(path)
	if err != nil {
		return Text{}, fmt.Errorf("read %s: %w", path, err)
	}
	w.writing.RLock()
	raw, info, err := w.bytes(at)
	w.writing.RUnlock()
	if err != nil {
		return Text{}, fmt.Errorf("read %s: %w", path, err)
	}
	code := detect(raw)
	if code == nil {
		return Text{}, fmt.Errorf("read %s: %w", path, ErrBinary)
	}
	t := decode(raw, code)
	t.Path, t.Digest = slash(at), edit.Digest(raw)
	t.Size, t.Mode, t.ModTime = int64(len(raw)), info.Mode(), info.ModTime()
	return t, nil
}

// bytes returns what the regular file at a resolved path holds.
func (w *Workspace) bytes(at string) ([]byte, fs.FileInfo, error) {
	f, info, err := w.openFile(at)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if err := small(info); err != nil {
		return nil, nil, err
	}
	raw, err := slurp(f, info.Size())
	return raw, info, err
}

// slurp reads all of r, which should have size bytes and may not have more than MaxFile.
func slurp(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, reason(err)
	}
	if n > MaxFile {
		return nil, fmt.Errorf("%w: at most %d bytes can be read", ErrTooLarge, MaxFile)
	}
	return b.Bytes(), nil
}

const (
	mark    = "\uFEFF" // the byte-order mark, decoded
	instead = "\uFFFD" // stands for what cannot be decoded
)

// decode makes the content of raw, which is written in code, and the way back.
func decode(raw []byte, code *codec) Text {
	t := Text{raw: raw, Encoding: code.name, code: code}
	body := raw[len(code.mark):]
	if code.put == nil && bytes.IndexByte(body, '\r') < 0 && utf8.Valid(body) {
		t.Content, t.straight = string(body), true
		if bytes.IndexByte(body, '\n') >= 0 {
			t.Newline = LF
		}
		return t
	}
	t.convert()
	return t
}

// convert sets the content, and what goes with it, character by character.
func (t *Text) convert() {
	content, at := make([]byte, 0, len(t.raw)), len(t.code.mark)
	t.places = append(t.places, place{0, at})
	lf, crlf := false, false
	for at < len(t.raw) {
		if len(content)-t.places[len(t.places)-1].content >= apart {
			t.places = append(t.places, place{len(content), at})
		}
		if t.code.ascii {
			run := t.raw[at:]
			if n := plain(run); n > 0 {
				lf = lf || bytes.IndexByte(run[:n], '\n') >= 0
				content, at = append(content, run[:n]...), at+n
				continue
			}
		}
		r, size := t.code.step(t.raw[at:])
		switch {
		case r == undecoded:
			t.gaps = true
			content = append(content, instead...)
		case r == '\n':
			long := t.isCRLF(at, size)
			lf, crlf = lf || !long, crlf || long
			content = append(content, '\n')
		default:
			content = utf8.AppendRune(content, r)
		}
		at += size
	}
	t.Content = string(content)
	switch {
	case lf && crlf:
		t.Newline = Mixed
	case crlf:
		t.Newline = CRLF
	case lf:
		t.Newline = LF
	}
}

// isCRLF reports whether the line ending of size bytes is two characters.
func (t *Text) isCRLF(at, size int) bool {
	_, first := t.code.next(t.raw[at:])
	return first < size
}

// plain returns how many bytes at the start of b stand for themselves for sure.
func plain(b []byte) int {
	for i, c := range b {
		if c >= utf8.RuneSelf || c == '\r' {
			return i
		}
	}
	return len(b)
}

// own returns where in the file's own bytes the character at offset in Content
// starts. The offset must be where a character starts, or the end.
func (t Text) own(offset int) int {
	if t.straight {
		return offset + len(t.code.mark)
	}
	i := sort.Search(len(t.places), func(i int) bool { return t.places[i].content > offset })
	p := t.places[i-1]
	for p.content < offset {
		if t.code.ascii {
			if n := plain(t.raw[p.raw:min(len(t.raw), p.raw+offset-p.content)]); n > 0 {
				p.content, p.raw = p.content+n, p.raw+n
				continue
			}
		}
		r, size := t.code.step(t.raw[p.raw:])
		p.content, p.raw = p.content+shown(r), p.raw+size
	}
	return p.raw
}

// shown returns how many bytes of content a character is.
func shown(r rune) int {
	if r == undecoded {
		return len(instead)
	}
	return utf8.RuneLen(r)
}
