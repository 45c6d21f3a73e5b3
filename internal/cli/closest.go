package cli

import (
	"slices"
	"strings"
)

// meant says which of words was most likely meant by word, as the end of a
// message: "; did you mean `belay run`?", with what stands before the word. It is
// otherwise where none is close.
func meant(word, before string, words []string, otherwise string) string {
	if near, ok := closest(word, words); ok {
		return "; did you mean `" + before + near + "`?"
	}
	return otherwise
}

// closest returns the one of words that word is a slip of, whatever the case: one
// letter too much, too few or another, or two that changed places, and twice that
// in a word of six letters or more. Where none is, it is the only one that word
// begins or ends. Of two that are equally close it is the first.
func closest(word string, words []string) (string, bool) {
	written := []rune(strings.ToLower(word))
	best, fewest := "", slips(len(written))+1
	for _, w := range words {
		if n := distance(written, []rune(strings.ToLower(w))); n < fewest {
			best, fewest = w, n
		}
	}
	if best != "" {
		return best, true
	}
	const shortest = 3 // of a part that says anything
	if len(written) < shortest {
		return "", false
	}
	parts := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		w = strings.ToLower(w)
		return !strings.HasPrefix(w, string(written)) && !strings.HasSuffix(w, string(written))
	})
	if len(parts) != 1 {
		return "", false
	}
	return parts[0], true
}

// closestBeginning returns the beginning of one of words, as long as word, that word
// is a slip of.
func closestBeginning(word string, words []string) (string, bool) {
	begun := make([]string, 0, len(words))
	for _, w := range words {
		if len(w) >= len(word) {
			begun = append(begun, w[:len(word)])
		}
	}
	return closest(word, begun)
}

// slips returns how many slips a word of so many letters may have: where all of it
// could be another nothing is close.
func slips(letters int) int {
	switch {
	case letters < 2:
		return 0
	case letters < 6:
		return 1
	}
	return 2
}

// distance returns how many letters have to be added, taken out or replaced, or
// change places with the next, to make b of a (optimal string alignment).
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			other := 1
			if a[i-1] == b[j-1] {
				other = 0
			}
			n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = n
		}
	}
	return rows[len(a)][len(b)]
}
