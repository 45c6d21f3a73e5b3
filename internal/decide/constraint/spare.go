package constraint

import (
	"strings"
	"unicode/utf8"
)

// exception cuts words in two where they spare something: "nothing in src/ except
// a.go" is what is spared, and what it is spared from.
func exception(words string) (spared, from string, ok bool) {
	low := strings.ToLower(words)
	if len(low) != len(words) {
		return "", "", false
	}
	for _, behind := range []string{"以外", "之外", "外的", "外，"} { // it stands before its word
		if at := strings.Index(words, behind); at >= 0 {
			spared = words[:at]
			if begin := butFor(spared); begin >= 0 {
				return spared[begin:], spared[:begin] + words[at:], true
			}
			return spared, words[at:], true
		}
	}
	for _, before := range []string{" except ", " besides ", " apart from ", " other than ", "thing but ", " all but ", " outside of ", " outside "} {
		if at := strings.Index(low, before); at >= 0 {
			return words[at+len(before):], words[:at], true
		}
	}
	if at := butFor(words); at >= 0 {
		return words[at+len("除"):], words[:at], true
	}
	return "", "", false
}

// butFor returns where words have the character that means "but for", where it is
// not of a verb such as 删除; -1 if nowhere.
func butFor(words string) int {
	for at := strings.LastIndex(words, "除"); at >= 0; at = strings.LastIndex(words[:at], "除") {
		if before, _ := utf8.DecodeLastRuneInString(words[:at]); !strings.ContainsRune("删移清消排解扣去拆免", before) {
			return at
		}
	}
	return -1
}

// scope returns the globs that what is named is spared from.
func (d deed) scope() []string {
	if len(d.within) == 0 {
		return []string{"**"}
	}
	return d.within
}
