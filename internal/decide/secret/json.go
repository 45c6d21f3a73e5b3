package secret

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Bytes returns b, which is JSON, without secrets; it is still JSON of the same
// shape. Strings, also those that are keys, lose what is secret in them. A value
// under the key "raw" is a provider's own and of no use when changed: if it
// holds a secret it becomes null. A number that holds a secret becomes 0. A key
// in lower-case letters and underscores is a name in a format, and stays.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil {
		return b
	}
	e := editor{r: r, src: b}
	for e.at < len(b) {
		e.token()
	}
	if e.dst == nil {
		return b
	}
	return append(e.dst, b[e.from:]...)
}

// An editor goes through JSON token by token and copies it with changes.
type editor struct {
	r       *Redactor
	src     []byte
	at      int    // where the next token begins
	from    int    // what comes before is in dst
	dst     []byte // nil as long as nothing has changed
	key     []byte // what the value at at is given to
	scratch []byte
}

// put writes text for the bytes from start to at.
func (e *editor) put(start int, text []byte) {
	e.dst = append(append(e.dst, e.src[e.from:start]...), text...)
	e.from = e.at
}

// token takes the next token, or a byte between tokens.
func (e *editor) token() {
	start := e.at
	switch c := e.src[e.at]; {
	case c == '"':
		e.at = stringEnd(e.src, e.at)
		inner := e.src[start+1 : max(e.at-1, start+1)]
		if !isKey(e.src, e.at) {
			e.text(start, inner)
			e.key = nil
			return
		}
		e.key = nil
		if !isName(inner) {
			e.text(start, inner)
		}
		e.key = inner
		if string(inner) == "raw" {
			e.raw()
		}
	case isNumber(c):
		for e.at++; e.at < len(e.src) && isNumber(e.src[e.at]); e.at++ {
		}
		if _, held := e.r.held.next(e.src[start:e.at], 0); held {
			e.put(start, []byte("0"))
		}
	default:
		if c == '{' || c == '[' || c == ',' {
			e.key = nil
		}
		e.at++
	}
}

// text replaces what is secret in one string.
func (e *editor) text(start int, inner []byte) {
	if len(inner) < shortest {
		return
	}
	if bytes.IndexByte(inner, '\\') >= 0 {
		e.scratch = unescape(slices.Grow(e.scratch[:0], len(inner)), inner)
		inner = e.scratch
	}
	found, _ := e.r.find(inner, true)
	if len(found) == 0 {
		found = e.r.given(e.key, inner)
	}
	if len(found) == 0 {
		return
	}
	clean, _ := replace(nil, inner, found, 0, len(inner))
	e.put(start, quote(clean))
}

// given returns the secrets in text that are such only by the key it is under.
func (r *Redactor) given(key, text []byte) []span {
	if at, _ := r.rules.next(key, 0); at == len(key) || len(text) > maxValue {
		return nil
	}
	line := slices.Concat(key, []byte(`:"`), text, []byte(`"`))
	found, _ := r.find(line, true)
	before := len(key) + len(`:"`)
	found = slices.DeleteFunc(found, func(s span) bool { return s.start < before || s.end > before+len(text) })
	for i := range found {
		found[i].start -= before
		found[i].end -= before
	}
	return found
}

// raw takes the value of the key that ended, and drops it if it is not clean.
func (e *editor) raw() {
	e.at = skip(e.src, e.at) + 1 // the colon
	e.at = skip(e.src, e.at)
	start := e.at
	e.at = valueEnd(e.src, e.at)
	value := e.src[start:e.at]
	if clean := e.r.Bytes(value); !bytes.Equal(clean, value) {
		e.put(start, []byte("null"))
	}
}

// stringEnd returns where the string that begins at ends.
func stringEnd(b []byte, at int) int {
	for at++; at < len(b); at++ {
		switch b[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return len(b)
}

// valueEnd returns where the value that begins at ends.
func valueEnd(b []byte, at int) int {
	for depth := 0; at < len(b); {
		switch c := b[at]; c {
		case '"':
			at = stringEnd(b, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']', ',':
			if depth == 0 {
				return at
			}
			if at++; c == ',' {
				continue
			}
			depth--
		default:
			at++
			if depth > 0 || at < len(b) && isScalar(b[at]) {
				continue
			}
		}
		if depth == 0 {
			return at
		}
	}
	return len(b)
}

func isScalar(c byte) bool { return isNumber(c) || 'a' <= c && c <= 'z' }

func isNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func isKey(b []byte, end int) bool {
	at := skip(b, end)
	return at < len(b) && b[at] == ':'
}

func isName(key []byte) bool {
	for _, c := range key {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return len(key) <= 32
}

// skip passes over white space.
func skip(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
		at++
	}
	return at
}

// unescape appends the text that the inside of a JSON string stands for.
func unescape(dst, b []byte) []byte {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 == len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		if c != 'u' {
			dst = append(dst, plainEscape(c))
			continue
		}
		r := hexRune(b)
		b = b[min(4, len(b)):]
		if utf16.IsSurrogate(r) && len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
			if both := utf16.DecodeRune(r, hexRune(b[2:])); both != utf8.RuneError {
				r, b = both, b[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func plainEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // a quote, a slash or a backslash
}

// hexRune reads four hex digits.
func hexRune(b []byte) rune {
	var r rune
	for i := range min(4, len(b)) {
		c := b[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return utf8.RuneError
		}
		r = r<<4 | rune(c)
	}
	return r
}

func quote(text []byte) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(text)); err != nil {
		panic("secret: a string is always JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
