package diagnostic

import (
	"strconv"
	"strings"
)

// number returns the number that s is, if it is one that can be a line.
func number(s string) (int, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// position splits "file:3:5" or "file:3" at its end.
func position(s string) (file string, line, column int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, 0, false
	}
	last, ok := number(s[i+1:])
	if !ok {
		return "", 0, 0, false
	}
	s = s[:i]
	if j := strings.LastIndexByte(s, ':'); j > 0 {
		if n, ok := number(s[j+1:]); ok {
			return s[:j], n, last, true
		}
	}
	return s, last, 0, true
}

// extension reports whether the name of file ends in one of the extensions,
// which are written ".c .h ".
func extension(file, extensions string) bool {
	i := strings.LastIndexByte(file, '.')
	return i >= 0 && !strings.ContainsAny(file[i:], " /") && strings.Contains(extensions, file[i:]+" ")
}

// indent returns how many spaces s begins with.
func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// tally adds up "3 failed, 1 passed": it returns the number before each word.
// What is not of that form is no tally.
func tally(s, sep string) (map[string]int, bool) {
	counts := make(map[string]int)
	if len(s) > 300 {
		return nil, false
	}
	for part := range strings.SplitSeq(s, sep) {
		digits, word, ok := strings.Cut(strings.TrimSpace(part), " ")
		n, digit := number(digits)
		if !ok || !digit || word == "" {
			return nil, false
		}
		counts[word] += n
	}
	return counts, true
}
