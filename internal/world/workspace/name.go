package workspace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// text returns a name of the system as UTF-8 text.
func text(name string) string {
	if utf8.ValidString(name) && !strings.Contains(name, `\`) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02X`, name[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

// name undoes text. A backslash that text would not have written stands for
// itself, so that a name can also be written as a shell shows it.
func name(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, `\\`):
			b.WriteByte('\\')
			i++
		case escaped(rest):
			b.WriteByte(nibble(rest[2])<<4 | nibble(rest[3]))
			i += 3
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// escaped reports whether s begins with an escape for a byte that is no ASCII.
func escaped(s string) bool {
	const high, digits = "89abcdefABCDEF", "0123456789abcdefABCDEF"
	return len(s) >= 4 && s[:2] == `\x` && strings.IndexByte(high, s[2]) >= 0 && strings.IndexByte(digits, s[3]) >= 0
}

func nibble(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
