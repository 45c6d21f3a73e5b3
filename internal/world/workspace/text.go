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

// Encodings of a Text.
const (
	UTF8     = "utf-8"
	UTF8Mark = "utf-8 with byte-order mark"
	Unknown  = "unknown" // UTF-8 but for some bytes
)

// Newlines of a Text. One without any line ending has "".
const (
	LF    = "\n"
	CRLF  = "\r\n"
	Mixed = "mixed"
)

// A Text is a file as it was read. Content is how it is shown: lines end in LF,
// there is no byte-order mark, and each undecodable byte is one U+FFFD. The
// file's own bytes are kept beside it, so that Region can name them.
type Text struct {
	Path     string // canonical
	Content  string
	Digest   string // of the file's own bytes; what an Intent on it must name
	Newline  string
	Encoding string
	Size     int64 // of the file, in bytes
	Mode     fs.FileMode
	ModTime  time.Time

	raw   []byte
	drift []drift
}

// A drift is a place from which on content and bytes lie at a new distance.
type drift struct{ content, raw int }

// Read returns the text file that path leads to, as it is at one moment unless
// it is being written to. It does not wait for anyone: what is no regular file is
// ErrIsDirectory or ErrNotRegular, what is no text ErrBinary, and what has more
// than MaxFile bytes ErrTooLarge.
func (w *Workspace) Read(path string) (Text, error) {
	at, err := w.resolve(path)
	if err != nil {
		return Text{}, fmt.Errorf("read %s: %w", path, err)
	}
	raw, info, err := w.bytes(at)
	if err != nil {
		return Text{}, fmt.Errorf("read %s: %w", path, err)
	}
	if binary(raw) {
		return Text{}, fmt.Errorf("read %s: %w", path, ErrBinary)
	}
	t := decode(raw)
	t.Path, t.Digest = slash(at), edit.Digest(raw)
	t.Size, t.Mode, t.ModTime = int64(len(raw)), info.Mode(), info.ModTime()
	return t, nil
}

// bytes returns what the regular file at a resolved path holds.
func (w *Workspace) bytes(at string) ([]byte, fs.FileInfo, error) {
	f, info, err := open(w.root, at)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
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

// binary reports whether raw is no text in an encoding that can be shown. No
// text holds a NUL, so that none reaches a model or a screen.
func binary(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF}) ||
		bytes.IndexByte(raw, 0) >= 0
}

const (
	mark    = "\uFEFF" // the byte-order mark
	instead = "\uFFFD" // stands for an undecodable byte
)

// decode makes the content of raw and the way back.
func decode(raw []byte) Text {
	t := Text{raw: raw, Encoding: UTF8}
	body, marked := bytes.CutPrefix(raw, []byte(mark))
	if marked {
		t.Encoding = UTF8Mark
		t.drift = append(t.drift, drift{0, len(mark)})
	}
	if bytes.IndexByte(body, '\r') < 0 && utf8.Valid(body) {
		t.Content = string(body)
		if bytes.IndexByte(body, '\n') >= 0 {
			t.Newline = LF
		}
		return t
	}
	t.convert(len(raw) - len(body))
	return t
}

// convert sets the content to the bytes from an offset on, line endings and
// undecodable bytes replaced.
func (t *Text) convert(at int) {
	content := make([]byte, 0, len(t.raw))
	lf, crlf := false, false
	for at < len(t.raw) {
		rest := t.raw[at:]
		if n := plain(rest); n > 0 {
			lf = lf || bytes.IndexByte(rest[:n], '\n') >= 0
			content, at = append(content, rest[:n]...), at+n
			continue
		}
		r, size := utf8.DecodeRune(rest)
		switch {
		case bytes.HasPrefix(rest, []byte(CRLF)):
			crlf = true
			content, at = append(content, '\n'), at+len(CRLF)
			t.drift = append(t.drift, drift{len(content), at})
		case r == utf8.RuneError && size == 1:
			t.Encoding = Unknown
			content, at = append(content, instead...), at+1
			t.drift = append(t.drift, drift{len(content), at})
		default:
			content, at = append(content, rest[:size]...), at+size
		}
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
	i := sort.Search(len(t.drift), func(i int) bool { return t.drift[i].content > offset })
	if i == 0 {
		return offset
	}
	d := t.drift[i-1]
	return d.raw + offset - d.content
}
