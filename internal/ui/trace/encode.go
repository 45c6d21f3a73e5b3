package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What the page gets is JSON that can stand in a script element, in which two
// things stand for what no text can hold. Text that is UTF-8 never has half of a
// surrogate pair, so nothing can imitate them:
//
//	\udc80 to \udcff   a byte that is no UTF-8
//	\udbffN\udbff      N bytes that were left out
const cutMark = `\udbff`

const (
	maxString   = 128 << 10 // bytes of a string within an event
	maxArtifact = 256 << 10 // bytes of an artifact
	maxRequest  = 16 << 20  // bytes of a request: it is to be seen as it was
)

// appendText appends text as a string of JSON. Of more than limit bytes it is the
// beginning and the end; left is how many bytes are missing.
func appendText(dst, text []byte, limit int) (_ []byte, left int64) {
	if len(text) <= limit {
		return appendEnds(dst, text, nil, int64(len(text)))
	}
	return appendEnds(dst, text[:limit/2], text[len(text)-limit/2:], int64(len(text)))
}

// appendEnds appends as a string of JSON a text of n bytes, of which head and tail
// are there. Where something is missing it cuts between characters.
func appendEnds(dst, head, tail []byte, n int64) (_ []byte, left int64) {
	if n > int64(len(head)+len(tail)) {
		head, tail = trimmed(head, tail)
	}
	dst = appendChars(append(dst, '"'), head)
	if left = n - int64(len(head)+len(tail)); left > 0 {
		dst = append(strconv.AppendInt(append(dst, cutMark...), left, 10), cutMark...)
	}
	return append(appendChars(dst, tail), '"'), left
}

// trimmed takes off what may be a part of a character.
func trimmed(head, tail []byte) (_, _ []byte) {
	for i := len(head) - 1; i >= 0 && i >= len(head)-utf8.UTFMax; i-- {
		if utf8.RuneStart(head[i]) {
			if !utf8.FullRune(head[i:]) {
				head = head[:i]
			}
			break
		}
	}
	for i := 0; i < len(tail) && i < utf8.UTFMax; i++ {
		if utf8.RuneStart(tail[i]) {
			tail = tail[i:]
			break
		}
	}
	return head, tail
}

func appendChars(dst, text []byte) []byte {
	for len(text) > 0 {
		c := text[0]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			dst = append(dst, c)
			text = text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = fmt.Appendf(dst, `\udc%02x`, c)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r < 0x80:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}

// cut returns JSON in which strings of more than maxString bytes are cut; left is
// how many bytes are missing.
func cut(b []byte) (_ json.RawMessage, left int64) {
	out := make([]byte, 0, len(b)+len(b)/8)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			out = append(out, b...)
			break
		}
		out = append(out, b[:i]...)
		n := literal(b[i:])
		s := b[i : i+n]
		b = b[i+n:]
		if len(s) > maxString {
			var text string
			if json.Unmarshal(s, &text) == nil && len(text) > maxString {
				var missing int64
				out, missing = appendText(out, []byte(text), maxString)
				left += missing
				continue
			}
		}
		out = append(out, s...)
	}
	return out, left
}

// tamed returns JSON with escapes for what would end the element that it stands in,
// and for what a terminal obeys or what changes the order or presence of other
// characters: whoever looks for something in a page with ordinary tools sees it as
// it is. Every value stays what it is.
func tamed(b []byte) []byte {
	if !bytes.ContainsFunc(b, wild) {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case !wild(r):
			out = append(out, b[:n]...)
		case r == '\r': // between values: strings have none as it is
			out = append(out, ' ')
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out
}

func wild(r rune) bool {
	if r < 0x7f {
		return r == '<' || r == '>' || r == '&' || r < ' ' && r != '\n' && r != '\t'
	}
	const fillers = "\u115f\u1160\u2800\u3164\uffa0" // they look like spaces
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r >= 0xe0100 && r <= 0xe01ef || strings.ContainsRune(fillers, r)
}

// literal returns the length of the string of JSON that b begins with.
func literal(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
