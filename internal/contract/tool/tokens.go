package tool

import "unicode/utf8"

// MaxTokens is how many tokens of a result's text may enter the context, by
// EstimateTokens: of what is dense, such as digests, fewer bytes than the limit
// of bytes allows.
const MaxTokens = 16_000

// EstimateTokens returns how many tokens text is to a model, roughly: a word of
// up to nine letters is one with the blank before it, as are three digits or two
// signs. The shares were fitted to o200k_base; the test says how well.
func EstimateTokens(text string) int {
	tokens, run, class := 0, 0, 0
	end := func() {
		if per := perToken[class]; per > 0 && (class != blanks || run > 1) {
			tokens += 4 * ((run + per - 1) / per)
		}
		run = 0
	}
	for i := 0; i < len(text); {
		c, size := text[i], 1
		next := signs
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			tokens += costOf(r)
			next = foreign
		case c >= 'a' && c <= 'z':
			next = letters
		case c >= 'A' && c <= 'Z':
			next = letters
			if class == letters && i > 0 && text[i-1] >= 'a' { // a word within a word
				end()
			}
		case c >= '0' && c <= '9':
			next = digits
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			next = blanks
		}
		if next != class {
			end()
			class = next
		}
		run++
		i += size
	}
	end()
	return tokens / 4
}

const (
	foreign = iota // counted by itself
	letters
	digits
	signs
	blanks
)

// perToken is how many bytes of each class are a token.
var perToken = [...]int{letters: 9, digits: 3, signs: 2, blanks: 16}

// costOf is what a character beyond ASCII takes, in quarters of a token.
func costOf(r rune) int {
	switch {
	case r == utf8.RuneError:
		return 8
	case r < 0x250: // Latin with marks
		return 3
	case r < 0x2000: // other alphabets
		return 1
	case r >= 0x1f000: // pictures
		return 8
	}
	return 3
}
