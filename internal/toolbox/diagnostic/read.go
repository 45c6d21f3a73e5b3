package diagnostic

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxLine is how many bytes of a line are looked at.
const maxLine = 32 << 10

// A Reader takes an output as it comes. Make one with New.
type Reader struct {
	parsers []parser
	line    []byte
}

// New returns a reader of what command prints. The command, which may be "", only
// helps where the output leaves open which of two like tools it is of.
func New(command string) *Reader { return &Reader{parsers: parsers(command)} }

// Read returns what the tools whose output is in r say there, one report for
// each. An error is of r; the reports are then of what came before it.
func Read(command string, r io.Reader) ([]Report, error) {
	d := New(command)
	_, err := io.Copy(d, r)
	return d.Reports(), err
}

// Write takes the next piece of the output, cut anywhere. It never fails.
func (r *Reader) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			r.part(b)
			return n, nil
		}
		r.part(b[:i])
		r.next()
		b = b[i+1:]
	}
}

func (r *Reader) part(b []byte) {
	if room := maxLine - len(r.line); len(b) > room {
		b = b[:room]
	}
	r.line = append(r.line, b...)
}

func (r *Reader) next() {
	s := clean(r.line)
	r.line = r.line[:0]
	for _, p := range r.parsers {
		p.line(s)
	}
}

// Reports returns what was found, in a fixed order of tools. Nothing may be
// written after it.
func (r *Reader) Reports() []Report {
	if len(r.line) > 0 {
		r.next()
	}
	var all []Report
	for _, p := range r.parsers {
		if report, ok := p.end(); ok {
			all = append(all, report)
		}
	}
	return all
}

// clean returns what a terminal would show of a line: what was drawn last,
// without escape sequences and control characters but tabs.
func clean(raw []byte) string {
	s := strings.TrimRight(string(raw), "\r")
	if plain(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsRune(s, ansi.ESC) {
		s = ansi.Strip(s)
	}
	s = strings.TrimRight(s, "\r")
	s = s[strings.LastIndexByte(s, '\r')+1:]
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// plain reports whether there is nothing to clean.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// clip returns at most n bytes of s, of whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// message returns s, within the limit, without space around it or at the ends
// of its lines.
func message(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxMessage {
		s = clip(s, maxMessage)
	}
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n")
}

// A lines collects a message, of no more lines and bytes than it can have.
type lines struct {
	text string
	n    int
}

const maxLines = 12

func (l *lines) add(s string) {
	if l.n == maxLines || len(l.text) > maxMessage {
		return
	}
	if l.n > 0 {
		l.text += "\n"
	}
	l.n++
	l.text += clip(s, maxMessage)
}

func (l *lines) String() string { return l.text }
