package tool

// MaxTokens is how many tokens of a result's text may enter the context, by
// EstimateTokens: of what is dense, such as digests, fewer bytes than the limit
// of bytes allows.
const MaxTokens = 16_000

// EstimateTokens returns how many tokens text is to a model, roughly: a word of
// up to nine letters is one with the blank before it, as are three digits or two
// signs. The shares were fitted to o200k_base; the test says how well.
func EstimateTokens[T ~string | ~[]byte](text T) int {
	quarters := 0
	for i := 0; i < len(text); {
		start, class := i, classes[text[i]]
		for i++; i < len(text) && classes[text[i]] == class; i++ {
		}
		switch run := i - start; class {
		case lower:
			quarters += 4 * ((run + 8) / 9)
		case upper:
			if run == 1 && i < len(text) && classes[text[i]] == lower { // it begins a word
				for i++; i < len(text) && classes[text[i]] == lower; i++ {
				}
			}
			quarters += 4 * ((i - start + 8) / 9)
		case digits:
			quarters += 4 * ((run + 2) / 3)
		case signs:
			quarters += 4 * ((run + 1) / 2)
		case blanks:
			if run > 1 { // one goes with what follows
				quarters += 4 * ((run + 15) / 16)
			}
		case foreign:
			for at := start; at < i; {
				q, size := foreignCost(text[at:min(i, at+4)])
				quarters += q
				at += size
			}
		}
	}
	return quarters / 4
}

// The classes of bytes.
const (
	signs = iota
	lower
	upper
	digits
	blanks
	foreign
)

// classes is the class of each byte.
var classes = func() (c [256]uint8) {
	for b := range c {
		switch {
		case b >= 0x80:
			c[b] = foreign
		case b >= 'a' && b <= 'z':
			c[b] = lower
		case b >= 'A' && b <= 'Z':
			c[b] = upper
		case b >= '0' && b <= '9':
			c[b] = digits
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			c[b] = blanks
		}
	}
	return c
}()

// foreignCost returns what the character beyond ASCII at the start of text takes,
// in quarters of a token, and how many bytes it has.
func foreignCost[T ~string | ~[]byte](text T) (quarters, size int) {
	switch lead := text[0]; {
	case lead >= 0xf0: // pictures, rare characters
		quarters, size = 8, 4
	case lead >= 0xe2: // Chinese, Japanese, Korean and signs
		quarters, size = 3, 3
	case lead >= 0xe0:
		quarters, size = 1, 3
	case lead >= 0xc9: // other alphabets
		quarters, size = 1, 2
	case lead >= 0xc2: // Latin with marks
		quarters, size = 3, 2
	default:
		return 8, 1 // not UTF-8
	}
	if len(text) < size {
		return 8, 1
	}
	for n := 1; n < size; n++ {
		if text[n] < 0x80 || text[n] > 0xbf {
			return 8, 1
		}
	}
	return quarters, size
}
