package toolbox

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/belay-agent/belay/internal/contract/tool"
)

const (
	lineMax = 64 << 10  // bytes of a line that are looked at together
	whole   = 1 << 20   // bytes of text from which on only its end is looked at
	pastMax = 256 << 10 // bytes of what is looked at then
)

// A transcript is what a terminal would be left showing of a stream of bytes,
// as text: without escape sequences, and of a line that was drawn again and
// again only the last drawing. What is not UTF-8 is U+FFFD, one for each run of
// such bytes, wherever the stream is cut into writes.
//
// It takes any length in bounded memory. Far behind what can be shown, bytes are
// counted as they came, and lines by their newlines: how they would be shown
// matters only at the end.
type transcript struct {
	room int         // bytes, and
	most int64       // lines that can be shown
	ends tool.Limits // how many lines of a long text are shown, and of which end

	line         []byte // raw, up to now
	begun        bool   // the start of line has been shown already
	head, tail   []byte // of the text: head is all of it while it fits
	bytes, lines int64  // of the text

	past []byte // the raw end of what is only counted; nil before that
	cut  bool   // it does not have all of that
}

func (t *transcript) write(b []byte) {
	for len(b) > 0 {
		if t.bytes > whole {
			t.count(b)
			return
		}
		n := min(len(b), lineMax)
		i := bytes.IndexByte(b[:n], '\n')
		if i < 0 {
			t.part(b[:n])
			b = b[n:]
			continue
		}
		t.part(b[:i])
		t.show(t.line, true)
		t.line, t.begun = t.line[:0], false
		b = b[i+1:]
	}
}

// count adds b without looking at it.
func (t *transcript) count(b []byte) {
	if t.past == nil {
		t.past = make([]byte, 0, 2*pastMax)
		b = append(t.line, b...)
		t.line, t.begun = nil, false
	}
	t.bytes += int64(len(b))
	t.lines += int64(bytes.Count(b, []byte("\n")))
	if len(t.past)+len(b) > cap(t.past) {
		b = b[max(0, len(b)-pastMax):]
		t.past = append(t.past[:0], t.past[max(0, len(t.past)-(pastMax-len(b))):]...)
		t.cut = true
	}
	t.past = append(t.past, b...)
}

// recall shows the end of what was only counted.
func (t *transcript) recall() {
	raw, size, lines := t.past, t.bytes, t.lines
	t.past = nil
	if t.cut {
		raw = raw[max(0, len(raw)-pastMax):]
		t.tail = t.tail[:0]
		if i := bytes.IndexByte(raw, '\n'); i+1 < len(raw) {
			raw = raw[i+1:]
		}
	}
	open := raw[len(raw)-1] != '\n'
	t.bytes = -1 << 62 // so that nothing is only counted
	t.write(raw)
	t.end()
	t.bytes, t.lines = size, lines
	if open {
		t.bytes, t.lines = size+1, lines+1 // the newline that ends it
	}
}

// part adds b to the line, and shows what is too long to wait for its end.
func (t *transcript) part(b []byte) {
	for len(b) > 0 {
		n := min(len(b), 2*lineMax-len(t.line))
		t.line = append(t.line, b[:n]...)
		b = b[n:]
		if len(t.line) < 2*lineMax {
			return
		}
		if i := bytes.LastIndexByte(t.line[:len(t.line)-1], '\r'); i >= 0 {
			t.line = append(t.line[:0], t.line[i+1:]...)
		}
		if len(t.line) > lineMax {
			cut := runeEnd(t.line, lineMax)
			t.show(t.line[:cut], false)
			t.line, t.begun = append(t.line[:0], t.line[cut:]...), true
		}
	}
}

// runeEnd returns the largest end up to n that cuts no character of b.
func runeEnd(b []byte, n int) int {
	for back := 1; back < min(utf8.UTFMax, n); back++ {
		if c := b[n-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[n-back : n]) {
				return n - back
			}
			break
		}
	}
	return n
}

// close ends a last line that no newline ended.
func (t *transcript) close() {
	if t.past != nil {
		t.recall()
		return
	}
	t.end()
}

func (t *transcript) end() {
	if len(t.line) > 0 || t.begun {
		t.show(t.line, true)
	}
	t.line, t.begun = nil, false
}

// show adds a line to the text, or a piece of one.
func (t *transcript) show(raw []byte, ends bool) {
	text := redrawn(raw)
	if ends {
		text = append(text, '\n')
		t.lines++
	}
	t.bytes += int64(len(text))
	t.head = append(t.head, text[:min(len(text), t.room-len(t.head))]...)
	t.tail = append(t.tail, text...)
	if len(t.tail) > 4*t.room {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-t.room:]...)
	}
}

// long reports whether the text cannot be shown as a whole.
func (t *transcript) long() bool { return t.bytes > int64(t.room) || t.lines > t.most }

// excerpt returns the text, or its first and last lines and between them how
// much is missing and where it is.
func (t *transcript) excerpt(where string) string {
	if !t.long() {
		return string(t.head)
	}
	first, last := t.ends.Ends()
	room := t.room / 2
	if first == 0 || last == 0 {
		room = t.room
	}
	head, tail := "", ""
	if first > 0 {
		head = t.first(first, room)
	}
	if last > 0 {
		tail = t.last(last, room)
	}
	bytes := t.bytes - int64(len(head)+len(tail))
	lines := t.lines - int64(strings.Count(head, "\n")+strings.Count(tail, "\n"))
	gap := fmt.Sprintf("[... %d lines (%d bytes) of %d lines (%d bytes) left out%s ...]\n",
		lines, bytes, t.lines, t.bytes, where)
	if head != "" && !strings.HasSuffix(head, "\n") {
		gap = "\n" + gap
	}
	return head + gap + tail
}

// first returns as many of the first lines, at most so many, as fit into n bytes,
// or what fits of the first one.
func (t *transcript) first(lines, n int) string {
	s := string(t.head[:min(n, len(t.head))])
	end := 0
	for range lines {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			break
		}
		end += i + 1
	}
	if end == 0 {
		return s[:runeEnd(t.head, len(s))]
	}
	return s[:end]
}

// last is first from the end.
func (t *transcript) last(lines, n int) string {
	s := string(t.tail[max(0, len(t.tail)-n):])
	start := len(s)
	for range lines {
		i := strings.LastIndexByte(s[:max(0, start-1)], '\n')
		if i < 0 {
			break
		}
		start = i + 1
	}
	if start < len(s) {
		return s[start:]
	}
	for start = 0; start < len(s) && !utf8.RuneStart(s[start]); start++ {
	}
	return s[start:]
}

// redrawn returns what a terminal shows of raw, one line, once all of it is
// drawn: what follows the last carriage return, without escape sequences,
// control characters and what backspaces took away. NUL is visible.
func redrawn(raw []byte) []byte {
	if plain(raw) {
		return bytes.Clone(raw)
	}
	line := strings.TrimRight(strings.ToValidUTF8(string(raw), "\uFFFD"), "\r")
	if strings.ContainsRune(line, ansi.ESC) {
		line = strings.TrimRight(ansi.Strip(line), "\r")
	}
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	shown := make([]byte, 0, len(line))
	for _, r := range line {
		switch {
		case r == '\b':
			_, n := utf8.DecodeLastRune(shown)
			shown = shown[:len(shown)-n]
		case r == 0:
			shown = append(shown, "\u2400"...)
		case r == '\t' || !unicode.IsControl(r):
			shown = utf8.AppendRune(shown, r)
		}
	}
	return shown
}

// plain reports whether there is nothing to do about b.
func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}
