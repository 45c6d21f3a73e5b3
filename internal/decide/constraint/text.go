package constraint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// negations are the Chinese characters of which one is in all that forbids.
const negations = "不别勿禁杜只仅避停没未限"

// contains reports whether text has one of those.
func contains(text string, any []string) bool {
	return slices.ContainsFunc(any, func(a string) bool { return strings.Contains(text, a) })
}

// longestBeginning is more than any beginning that is looked for has, in bytes.
const longestBeginning = 64

// startsAny reports whether text begins with one of those, whatever its case and
// behind blanks.
func startsAny(text string, any []string) bool {
	text = strings.TrimLeft(text, " \t")
	text = strings.ToLower(text[:min(len(text), longestBeginning)])
	return slices.ContainsFunc(any, func(a string) bool { return strings.HasPrefix(text, a) })
}

func among(w string, of ...string) bool { return slices.Contains(of, w) }

// latin reports whether a character is of a name or a path.
func latin(r rune) bool {
	return r == rune(code) || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/' || r == '.')
}
