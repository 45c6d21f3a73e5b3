package repo

import (
	"regexp/syntax"
	"slices"
)

// required returns the longest text that every match of re must contain, or "".
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	}
	return ""
}

// withinLine changes re so that it matches no line break, whatever it was
// written to match.
func withinLine(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			*re = syntax.Regexp{Op: syntax.OpNoMatch}
		}
	case syntax.OpCharClass:
		if re.Rune = without(re.Rune, '\n'); len(re.Rune) == 0 {
			*re = syntax.Regexp{Op: syntax.OpNoMatch}
		}
	}
	for _, sub := range re.Sub {
		withinLine(sub)
	}
}

// without takes r out of a class, which is pairs of the first and last
// character of a range.
func without(class []rune, r rune) []rune {
	var out []rune
	for i := 0; i < len(class); i += 2 {
		first, last := class[i], class[i+1]
		if r < first || last < r {
			out = append(out, first, last)
			continue
		}
		if first < r {
			out = append(out, first, r-1)
		}
		if r < last {
			out = append(out, r+1, last)
		}
	}
	return out
}
