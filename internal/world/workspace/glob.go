package workspace

import "strings"

// matchPath reports whether the elements of a path match those of a pattern,
// where ** stands for any number of them, at its end for at least one.
func matchPath(pattern, elements []string) bool {
	p, e := 0, 0
	retry, from := -1, 0 // after the last **, and where it ends
	for {
		switch {
		case p < len(pattern) && doubleStar(pattern[p]):
			if p == len(pattern)-1 {
				return e < len(elements)
			}
			p++
			retry, from = p, e
		case p < len(pattern) && e < len(elements) && matchName(pattern[p], elements[e]):
			p++
			e++
		case p == len(pattern) && e == len(elements):
			return true
		case retry >= 0 && from < len(elements):
			from++
			p, e = retry, from
		default:
			return false
		}
	}
}

func doubleStar(element string) bool {
	return len(element) >= 2 && strings.Trim(element, "*") == ""
}

// matchName reports whether a name matches a pattern of git's wildmatch without
// slashes. It goes by bytes, as git does.
func matchName(pattern, name string) bool {
	p, n := 0, 0
	retry, from := -1, 0 // after the last star, and where it ends
	for {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			retry, from = p, n
			continue
		}
		if p < len(pattern) && n < len(name) {
			ok, width := matchByte(pattern[p:], name[n])
			if width == 0 {
				return false
			}
			if ok {
				p += width
				n++
				continue
			}
		}
		switch {
		case p == len(pattern) && n == len(name):
			return true
		case retry >= 0 && from < len(name):
			from++
			p, n = retry, from
		default:
			return false
		}
	}
}

// matchByte matches c with what the pattern begins with, and returns how long
// that is: 0 if it has no end.
func matchByte(pattern string, c byte) (ok bool, width int) {
	switch pattern[0] {
	case '?':
		return true, 1
	case '\\':
		if len(pattern) < 2 {
			return false, 0
		}
		return pattern[1] == c, 2
	case '[':
		return matchSet(pattern, c)
	}
	return pattern[0] == c, 1
}

// matchSet matches c with a bracket expression.
func matchSet(pattern string, c byte) (ok bool, width int) {
	at := 1
	negated := at < len(pattern) && (pattern[at] == '!' || pattern[at] == '^')
	if negated {
		at++
	}
	var before byte // that a range can start with
	for first := true; ; first = false {
		if at >= len(pattern) {
			return false, 0
		}
		if pattern[at] == ']' && !first {
			return ok != negated, at + 1
		}
		if class, size := className(pattern[at:]); size > 0 {
			in, known := inClass(class, c)
			if !known {
				return false, 0
			}
			ok, before, at = ok || in, 0, at+size
			continue
		}
		ranged := pattern[at] == '-' && before != 0 && at+1 < len(pattern) && pattern[at+1] != ']'
		if ranged {
			at++
		}
		if pattern[at] == '\\' {
			if at++; at >= len(pattern) {
				return false, 0
			}
		}
		b := pattern[at]
		at++
		if ranged {
			ok, before = ok || before <= c && c <= b, 0
		} else {
			ok, before = ok || b == c, b
		}
	}
}

// className returns the name in "[:name:]", and how long that is, if s begins so.
func className(s string) (class string, size int) {
	if !strings.HasPrefix(s, "[:") {
		return "", 0
	}
	end := strings.IndexByte(s[2:], ']')
	if end < 1 || s[2+end-1] != ':' {
		return "", 0
	}
	return s[2 : 2+end-1], end + 3
}

func inClass(class string, c byte) (in, known bool) {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	print := c >= 0x20 && c < 0x7F
	switch class {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < 0x20 || c == 0x7F, true
	case "digit":
		return digit, true
	case "graph":
		return print && c != ' ', true
	case "lower":
		return lower, true
	case "print":
		return print, true
	case "punct":
		return print && c != ' ' && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || c == '\t' || c == '\n' || c == '\r', true // and no others, in git
	case "upper":
		return upper, true
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F', true
	}
	return false, false
}
