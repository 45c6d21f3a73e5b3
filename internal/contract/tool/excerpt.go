package tool

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLines is how many lines of a result's text may enter the context.
const MaxLines = 2_000

// EdgeLines is how many lines of a text that is too long are shown at each end.
const EdgeLines = 40

// Limits are what of a result's text may enter the context. What is 0 has its
// default.
type Limits struct {
	Lines     int // MaxLines
	Bytes     int // DefaultInline
	Tokens    int // MaxTokens, by EstimateTokens
	Edge      int // EdgeLines
	Direction Direction
}

// A Direction is which end of a text that is too long is shown.
type Direction string

// The closed list of directions. Of one end twice as many lines are shown.
const (
	HeadTail Direction = "head_tail"
	Head     Direction = "head"
	Tail     Direction = "tail"
)

// Whole returns l with its defaults.
func (l Limits) Whole() Limits {
	return Limits{
		Lines: cmp.Or(l.Lines, MaxLines), Bytes: cmp.Or(l.Bytes, DefaultInline), Tokens: cmp.Or(l.Tokens, MaxTokens),
		Edge: cmp.Or(l.Edge, EdgeLines), Direction: cmp.Or(l.Direction, HeadTail),
	}
}

// Ends returns how many lines are shown at the start and at the end of a text that
// is too long.
func (l Limits) Ends() (head, tail int) {
	switch edge := cmp.Or(l.Edge, EdgeLines); l.Direction {
	case Head:
		return 2 * edge, 0
	case Tail:
		return 0, 2 * edge
	default:
		return edge, edge
	}
}

// Excerpt is Limits.Excerpt with a limit of bytes, all else by default.
func Excerpt(text string, inline int, handle string) (short string, cut bool) {
	l := Limits{}.Whole()
	l.Bytes = inline // which may be 0
	return l.shorten(text, handle)
}

// Excerpt returns text as it may enter the context. A text over one of the limits
// is cut: its first and last lines remain, with a line between them that names
// the totals and, unless it is "", the handle under which the whole is kept. The
// excerpt has at most l.Bytes bytes. It is cut between lines, and inside a line
// that is too long by itself between characters.
func (l Limits) Excerpt(text, handle string) (short string, cut bool) {
	return l.Whole().shorten(text, handle)
}

func (l Limits) shorten(text, handle string) (short string, cut bool) {
	short, cut = l.excerpt(text, handle)
	for n := l.dense(short); n > l.Tokens; n = l.dense(short) {
		l.Bytes = min(l.Bytes, len(short)) * (l.Tokens - 1) / n // strictly less
		short, cut = l.excerpt(text, handle)
	}
	return short, cut
}

// dense returns how many tokens a text has that may have too many.
func (l Limits) dense(text string) int {
	if len(text) <= l.Tokens/2 {
		return 0
	}
	return EstimateTokens(text)
}

func (l Limits) excerpt(text, handle string) (string, bool) {
	lines := countLines(text)
	if len(text) <= l.Bytes && lines <= l.Lines {
		return text, false
	}
	room := l.Bytes - len(gap(lines, len(text), lines, len(text), handle)) - 1
	if room < 1 { // not even the line between fits
		return cutHead(text, max(l.Bytes, 0)), true
	}
	head, tail := l.ends(text, lines, room)
	left := text[len(head) : len(text)-len(tail)]
	between := gap(countLines(left), len(left), lines, len(text), handle)
	if head != "" && !strings.HasSuffix(head, "\n") {
		between = "\n" + between
	}
	return head + between + tail, true
}

// ends returns what is shown of the start and the end of a text of so many lines.
func (l Limits) ends(text string, lines, room int) (head, tail string) {
	switch first, last := l.Ends(); {
	case last == 0:
		return headWithin(firstLines(text, first), room), ""
	case first == 0:
		return "", tailWithin(lastLines(text, last), room)
	default:
		head = firstLines(text, min(first, (lines+1)/2))
		tail = lastLines(text[len(head):], last)
	}
	if half := room / 2; tail == "" { // a single line
		head, tail = cutHead(head, half), head[len(cutHead(head, half)):]
		tail = tailWithin(tail, room-len(head))
	} else if len(head)+len(tail) > room {
		head = headWithin(head, max(half, room-len(tail)))
		tail = tailWithin(tail, room-len(head))
	}
	return head, tail
}

func gap(lines, bytes, allLines, allBytes int, handle string) string {
	whole := ""
	if handle != "" {
		whole = "; the whole is in " + handle
	}
	return fmt.Sprintf("[... %d lines (%d bytes) of %d lines (%d bytes) left out%s ...]\n",
		lines, bytes, allLines, allBytes, whole)
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

func firstLines(s string, n int) string {
	end := 0
	for ; n > 0 && end < len(s); n-- {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return s
		}
		end += i + 1
	}
	return s[:end]
}

func lastLines(s string, n int) string {
	start := len(s)
	for ; n > 0 && start > 0; n-- {
		start = strings.LastIndexByte(s[:start-1], '\n') + 1
	}
	return s[start:]
}

// headWithin returns the whole lines that fit into n bytes from the start of s,
// or a piece of the first.
func headWithin(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i >= 0 {
		return s[:i+1]
	}
	return cutHead(s, n)
}

// tailWithin is headWithin from the end.
func tailWithin(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - n
	if s[from-1] == '\n' {
		return s[from:]
	}
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 && from+i+1 < len(s) {
		return s[from+i+1:]
	}
	return s[from+runeTail(s[from:]):]
}

// cutHead returns at most n bytes of s, without the start of a character that
// is not all there.
func cutHead(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := 0; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n] // not UTF-8
}

// runeTail returns how many bytes at the start of s are the rest of a character.
func runeTail(s string) int {
	for i := 0; i < utf8.UTFMax && i < len(s); i++ {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return 0
}
