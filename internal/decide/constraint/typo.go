package constraint

import "strings"

// misspelled returns the verb that is one slip of the keyboard away from the word
// behind a negation, "" if there is none: do not tuoch.
func misspelled(words string) string {
	fields := strings.Fields(words)
	for i, w := range fields {
		if i == 0 || !among(fields[i-1], "not", "don't", "dont", "dnt", "never", "ever") || len(w) < 5 || isVerb(w) || infinitive(w) != "" || isIdle(w) || isAdverb(w) {
			continue
		}
		for _, verb := range strings.Fields("touch modify change update rewrite refactor delete remove") {
			if slip(w, verb) {
				return verb
			}
		}
	}
	return ""
}

// slip reports whether a is b with one letter more, less or other, or with two
// letters that changed places.
func slip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return len(b)-len(a) == 1 && a[i:] == b[i+1:]
	}
	return i < len(a) && (a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:])
}
