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

// Read returns the text file that path leads to.
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
	if bytes.HasPrefix(raw, []byte(mark)) {
		t.Encoding = UTF8Mark
		t.drift = append(t.drift, drift{0, len(mark)})
	}
	at := len(raw) - len(bytes.TrimPrefix(raw, []byte(mark)))
	content := make([]byte, 0, len(raw)-at)
	lf, crlf := 0, 0
	for at < len(raw) {
		c := raw[at]
		switch {
		case c == '\r' && at+1 < len(raw) && raw[at+1] == '\n':
			crlf++
			content = append(content, '\n')
			at += 2
			t.drift = append(t.drift, drift{len(content), at})
			continue
		case c == '\n':
			lf++
		case c >= utf8.RuneSelf:
			if r, size := utf8.DecodeRune(raw[at:]); r == utf8.RuneError && size == 1 {
				t.Encoding = Unknown
				content = append(content, instead...)
				at++
				t.drift = append(t.drift, drift{len(content), at})
			} else {
				content = append(content, raw[at:at+size]...)
				at += size
			}
			continue
		}
		content = append(content, c)
		at++
	}
	t.Content = string(content)
	t.Newline = newline(lf, crlf)
	return t
}

func newline(lf, crlf int) string {
	switch {
	case lf > 0 && crlf > 0:
		return Mixed
	case crlf > 0:
		return CRLF
	case lf > 0:
		return LF
	}
	return ""
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
