package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// tagLen is how many characters tell the secrets of one rule apart: 25 bits.
const tagLen = 5

// mark returns what is written for the secret text that rule has found. It is
// the same whenever that secret is found with the same key.
func (r *Redactor) mark(rule string, text []byte) string {
	if len(r.key) == 0 {
		return "[secret:" + rule + "]"
	}
	sum := hmac.New(sha256.New, r.key)
	sum.Write([]byte(rule))
	sum.Write([]byte{0})
	sum.Write(text)
	tag := strings.ToLower(base32.StdEncoding.EncodeToString(sum.Sum(nil)))
	return "[secret:" + rule + ":" + tag[:tagLen] + "]"
}

// maxMark bounds the length of a mark.
const maxMark = 96

// Marks returns how often each mark that a Redactor writes is in text; nil if
// there is none.
func Marks(text string) map[string]int {
	var all map[string]int
	for {
		at := strings.IndexByte(text, '[')
		if at < 0 {
			return all
		}
		text = text[at:]
		n := markLen(text)
		if n == 0 {
			text = text[1:]
			continue
		}
		if all == nil {
			all = make(map[string]int)
		}
		all[text[:n]]++
		text = text[n:]
	}
}

// markLen returns the length of the mark with which text begins, 0 if it begins
// with none.
func markLen[T string | []byte](text T) int {
	head := string(text[:min(len(text), maxMark)])
	rest, ok := strings.CutPrefix(head, "[secret:")
	if !ok {
		if rest, ok = strings.CutPrefix(head, "[redacted"); !ok {
			return 0
		}
		if strings.HasPrefix(rest, "]") {
			return len("[redacted]")
		}
		if rest, ok = strings.CutPrefix(rest, ":"); !ok {
			return 0
		}
	}
	name := strings.IndexFunc(rest, func(c rune) bool { return !isWord(c) && c != '-' && c != '.' && c != ':' })
	if name <= 0 || rest[name] != ']' {
		return 0
	}
	return len(head) - len(rest) + name + 1
}

func isWord[C byte | rune](c C) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
