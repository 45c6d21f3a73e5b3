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
	low = strings.NewReplacer(":\n", "  ", ": \n", "   ").Replace(low)          // a list follows
	for _, behind := range []string{"除外", "例外", "以外", "之外", "外面", "外的", "外，"} { // it stands before its word
		if at := strings.Index(words, behind); at >= 0 && !ofOtherWord(words[:at]) {
			spared = words[:at]
			if begin := butFor(spared); begin >= 0 {
				return spared[begin:], spared[:begin] + words[at:], true
			}
			if mark := strings.LastIndexAny(spared, ",;，；。（("); mark >= 0 { // what stands before a mark is not spared
				_, size := utf8.DecodeRuneInString(spared[mark:])
				return spared[mark+size:], spared[:mark+size] + words[at:], true
			}
			return spared, words[at:], true
		}
	}
	for _, before := range []string{" except ", "\nexcept ", "exception: ", "exceptions: ", " besides ", " apart from ", " other than ", "thing but ", " all but ", " file but ", " files but ", " outside of ", " outside ", " aside from ", " else than ", " other file than ", " other files than ",
		" with the exception of ", " that is not in ", " that isn't in ", " that are not in ", " that aren't in ", " files not in ", " file not in ", " anything not in ", " code not in "} {
		if at := strings.Index(" "+low, before); at >= 0 {
			return words[at+len(before)-1:], words[:max(at-1, 0)], true
		}
	}
	if at := butFor(words); at >= 0 {
		return words[at+len("除"):], words[:at], true
	}
	return "", "", false
}

// ofOtherWord reports whether the character 外 that follows is of a word such as 另外.
func ofOtherWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune("另此意额国海户野", r)
}

// unclear reports whether words bound what they are about in a way that nothing
// here reads: to take it for the plain thing could ban just what may be done.
func unclear(words string) bool {
	return contains(words, []string{"不在", "除非", "非 ", " beyond ", " never leave ", " not leave ", " don't leave ", " instead of ", " rather than "})
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
