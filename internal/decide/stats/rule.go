package stats

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
)

// ID names g for as long as its failures have the same signature: eight digits of
// the SHA-256 of it, in hex.
func (g Group) ID() string {
	sum := sha256.Sum256([]byte(g.Signature))
	return hex.EncodeToString(sum[:4])
}

// Rule words the lesson of g for a rule file, as one line. It has no figures, so that
// the same lesson has the same words later.
func (g Group) Rule() (string, bool) {
	w, ok := g.Lesson()
	if !ok {
		return "", false
	}
	_, message, _ := strings.Cut(g.Signature, ": ")
	if message = plain(message); message != "" {
		message = " (" + message + ")"
	}
	return fmt.Sprintf("When %s fails with %s%s: %s.", g.Newest.Call.Tool, g.Newest.Kind, message, w.advice()), true
}

// advice is w as what to do. Calls that failed on the way helped nobody.
func (w Way) advice() string {
	var before []string
	for _, n := range w.then[:len(w.then)-1] {
		if n.Kind == "" && (len(before) == 0 || before[len(before)-1] != n.Tool) {
			before = append(before, n.Tool)
		}
	}
	last := w.then[len(w.then)-1]
	again := "call " + last.Tool + " again"
	if last.Same {
		again = "make the same call again"
	}
	switch {
	case len(before) > 0:
		return "first call " + strings.Join(before, ", then ") + ", then " + again
	case last.Same:
		return again
	}
	return "change the arguments as the failure says, then " + again
}

// plain is a message without what a rule file would take for markup, or for more than a
// line.
func plain(message string) string {
	message = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return ' '
		case strings.ContainsRune("`*_<>#[]|\\", r):
			return -1
		}
		return r
	}, message)
	return strings.TrimRight(strings.Join(strings.Fields(message), " "), ".:;, ")
}
