package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// frame begins every line of a question. Safe shows it escaped wherever else it
// comes from, so that no text of a model, tool or file can look like a
// question.
const frame = '▎'

// Safe returns s with nothing left in it that a terminal obeys or that changes
// the order or presence of other characters: control and format characters,
// bidirectional controls, invalid UTF-8 and lone carriage returns come out as
// escapes such as \x1b or \u202e. Line feeds and tabs stay, CR LF becomes a
// line feed, and the joiners stay where they join something.
func Safe(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i+n:], "\n"): // the line feed says it
		case r == '\n' || r == '\t' || !hidden(r) && !(joiner(r) && amongASCII(s, i, n)):
			b.WriteString(s[i : i+n])
		default:
			b.WriteString(escape(r))
		}
		i += n
	}
	return b.String()
}

// Line returns s as one line of at most width cells, however a terminal counts
// them: line feeds and tabs are shown as escapes too, and what does not fit is
// cut between characters as a reader sees them and ends in an ellipsis.
func Line(s string, width int) string {
	return cut(oneLine(s), width)
}

func oneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Safe(s))
}

func cut(s string, width int) string {
	if fitting(s, width) == len(s) {
		return s
	}
	if width < 1 {
		return ""
	}
	return s[:fitting(s, width-1)] + "…"
}

// fitting returns how many bytes of s fit into width cells.
func fitting(s string, width int) int {
	fits := 0
	for fits < len(s) {
		cluster, cells := next(s[fits:])
		if cells > width {
			break
		}
		width -= cells
		fits += len(cluster)
	}
	return fits
}

// wrap returns the lines of s, each of at most width cells; tabs become spaces.
// A character that is wider than a line is shown as an ellipsis.
func wrap(s string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(Safe(s), "\n") {
		lines = append(lines, wrapLine(line, width)...)
	}
	return lines
}

func wrapLine(s string, width int) []string {
	var lines []string
	var b strings.Builder
	cells := 0
	put := func(cluster string, w int) {
		if w > width {
			cluster, w = "…", 1
		}
		if cells+w > width {
			lines = append(lines, b.String())
			b.Reset()
			cells = 0
		}
		b.WriteString(cluster)
		cells += w
	}
	for len(s) > 0 {
		cluster, w := next(s)
		s = s[len(cluster):]
		if cluster == "\t" {
			for range 8 - cells%8 {
				put(" ", 1)
			}
			continue
		}
		put(cluster, w)
	}
	return append(lines, b.String())
}

// next returns the first grapheme cluster of s and the cells it takes at most:
// some terminals show the characters of a cluster one after the other.
func next(s string) (cluster string, cells int) {
	if s[0] >= ' ' && s[0] < 0x7f && (len(s) == 1 || s[1] < 0x80) {
		return s[:1], 1
	}
	cluster, cells = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	apart := 0
	for _, r := range cluster {
		apart += ansi.StringWidth(string(r))
	}
	// A mark without a letter may get a cell.
	return cluster, max(cells, apart, ansi.StringWidthWc(cluster), 1)
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Hidden reports whether Safe shows r as an escape wherever it stands.
func Hidden(r rune) bool { return r != '\n' && r != '\t' && hidden(r) }

// fillers take no room, or look like spaces.
var fillers = &unicode.RangeTable{
	R16: []unicode.Range16{{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x2800, 0x2800, 1}, {0x3164, 0x3164, 1}, {0xffa0, 0xffa0, 1}},
	R32: []unicode.Range32{{0xe0100, 0xe01ef, 1}},
}

// hidden reports whether r must be shown as an escape.
func hidden(r rune) bool {
	switch {
	case joiner(r):
		return false
	case r == frame || unicode.Is(fillers, r):
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// amongASCII reports whether the n bytes at i of s touch a letter that nothing
// joins: there a joiner only hides.
func amongASCII(s string, i, n int) bool {
	return i > 0 && s[i-1] < 0x80 || i+n < len(s) && s[i+n] < 0x80
}

func escape(r rune) string {
	switch {
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// A filter makes text that comes in pieces safe.
type filter struct{ held bool } // a carriage return, until it is known what follows

func (f *filter) piece(s string) string {
	if f.held {
		s = "\r" + s
	}
	s, f.held = strings.CutSuffix(s, "\r")
	return Safe(s)
}

func (f *filter) end() string {
	if !f.held {
		return ""
	}
	f.held = false
	return escape('\r')
}
