package cli

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"

	"github.com/belay-agent/belay/internal/ui/terminal"
)

// tame is a writer of JSON that a person may look at: what a terminal obeys, or
// what changes the order or presence of other characters, comes out as an escape
// of JSON. Every value stays what it is. Each Write must be whole JSON.
type tame struct{ io.Writer }

func (t tame) Write(p []byte) (int, error) {
	if _, err := t.Writer.Write(escaped(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func escaped(p []byte) []byte {
	if !bytes.ContainsFunc(p, obeyed) {
		return p
	}
	var b bytes.Buffer
	for _, r := range string(p) {
		switch {
		case !obeyed(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// obeyed reports the characters that are written so. Line feeds and tabs stand
// between the parts of JSON, and never in one.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || terminal.Hidden(r)
}
