package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLines is how many lines of a result's text may enter the context.
const MaxLines = 2_000

// edgeLines is how many lines of a text that is too long are shown at each end.
const edgeLines = 40

// Excerpt returns text as it may enter the context. A text of more than inline
// bytes, MaxLines lines or MaxTokens tokens is cut: its first and last 40 lines remain, with a
// line between them that names the totals and, unless it is "", the handle
// under which the whole is kept. The excerpt has at most inline bytes. It is cut
// between lines, and inside a line that is too long by itself between
// characters.
func Excerpt(text string, inline int, handle string) (short string, cut bool) {
	short, cut = excerpt(text, inline, handle)
	for n := dense(short); n > MaxTokens; n = dense(short) {
		inline = min(inline, len(short)) * (MaxTokens - 1) / n // strictly less
		short, cut = excerpt(text, inline, handle)
	}
	return short, cut
}

// dense returns how many tokens a text has that may have too many.
func dense(text string) int {
	if len(text) <= MaxTokens/2 {
		return 0
	}
	return EstimateTokens(text)
}

func excerpt(text string, inline int, handle string) (short string, cut bool) {
	lines := countLines(text)
	if len(text) <= inline && lines <= MaxLines {
		return text, false
	}
	room := inline - len(gap(lines, len(text), lines, len(text), handle)) - 1
	if room < 1 { // not even the line between fits
		return cutHead(text, max(inline, 0)), true
	}
	head := firstLines(text, min(edgeLines, (lines+1)/2))
	tail := lastLines(text[len(head):], edgeLines)
	if half := room / 2; tail == "" { // a single line
		head, tail = cutHead(head, half), head[len(cutHead(head, half)):]
		tail = tailWithin(tail, room-len(head))
	} else if len(head)+len(tail) > room {
		head = headWithin(head, max(half, room-len(tail)))
		tail = tailWithin(tail, room-len(head))
	}
	left := text[len(head) : len(text)-len(tail)]
	between := gap(countLines(left), len(left), lines, len(text), handle)
	if head != "" && !strings.HasSuffix(head, "\n") {
		between = "\n" + between
	}
	return head + between + tail, true
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
