package secret

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// entropy returns how many bits a byte of s has, as its bytes are distributed.
func entropy(s []byte) float64 {
	var count [256]int
	for _, c := range s {
		count[c]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// isSample reports whether s only shows what a token looks like.
func isSample(s []byte) bool {
	lower := strings.ToLower(string(s))
	for _, word := range [...]string{"example", "xxxxx", "placeholder", "your_", "your-", "redacted", "....", "****"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return longestRun(lower) >= 8
}

// longestRun returns how often at most a byte follows itself in s.
func longestRun(s string) int {
	most, n := 0, 0
	for i := range len(s) {
		if i > 0 && s[i] == s[i-1] {
			n++
		} else {
			n = 1
		}
		most = max(most, n)
	}
	return most
}

// judge reports whether s, given to a name that says secret, is one: names like
// token and password are as often given types, variables, paths and prose.
func judge(rule *rule, s []byte, v value) bool {
	if rule.id == "password" {
		if v.quote == 0 && (!v.tight || strings.IndexByte(string(s), '.') >= 0) && turns(s) < 6 {
			return false // more likely a variable or a field
		}
		return isPassword(s, rule.entropy)
	}
	if v.quote != 0 && len(s) >= 32 && hasSymbols(s) {
		return entropy(s) >= 4 && !isSample(s)
	}
	return isRandom(s, rule.entropy) && (v.quote != 0 || !isIdentifier(s))
}

// hasSymbols reports whether s is of letters, digits and the symbols that those who
// make keys of all that can be typed use.
func hasSymbols(s []byte) bool {
	letters, digits, symbols := 0, 0, 0
	for _, c := range s {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		case '0' <= c && c <= '9':
			digits++
		case strings.IndexByte("!@#$^&*()", c) >= 0:
			symbols++
		case strings.IndexByte("-_=+%", c) < 0:
			return false
		}
	}
	return letters >= 8 && digits >= 3 && symbols >= 2
}

// isIdentifier reports whether s, which is in no quotes, is a name in a program.
func isIdentifier(s []byte) bool {
	lower := strings.ToLower(string(s))
	for _, word := range [...]string{"key", "secret", "token", "passw", "credential", "private", "test", "config", "must", "find", "new"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// isLogin reports whether s is the user and password of basic authentication.
func isLogin(s []byte, least float64) bool {
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(s), "="))
	if err != nil || !utf8.Valid(text) {
		return false
	}
	_, password, ok := bytes.Cut(text, []byte(":"))
	if !ok || len(password) < 8 || entropy(password) < least || isSample(password) || bytes.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	lower := strings.ToLower(string(password))
	for _, word := range [...]string{"secret", "ssword", "sesame", "token"} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return true
}

// isRandom reports whether s was made by a machine to be guessed by nobody.
func isRandom(s []byte, least float64) bool {
	if last := s[bytes.LastIndexAny(s, "-_")+1:]; len(last) >= 32 && len(last) < len(s) && isAllHex(last) {
		s = last // what is before it says of what kind it is
	}
	var digits, letters, upper, lower, hexes, other int
	for _, c := range s {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'z':
			lower++
			letters++
		case 'A' <= c && c <= 'Z':
			upper++
			letters++
		case strings.IndexByte("+/=_-.~", c) >= 0:
			other++
		default:
			return false
		}
		if isHex(c) {
			hexes++
		}
	}
	if len(s) < 16 || digits < 2 || letters < 2 || isSample(s) || isUUID(s) || isSequence(s) {
		return false
	}
	if hexes == len(s) {
		return len(s) >= 24 && entropy(s) >= 3
	}
	return entropy(s) >= least && mixed(s)
}

// mixed reports whether letters and digits, or upper and lower case, follow each
// other as they do by chance, which words and versions put together do not.
func mixed(s []byte) bool {
	changes, pairs, best := 0, 0, 0
	run := 0
	for i, c := range s {
		if !isWord(c) || c == '_' {
			run = 0
			continue
		}
		run++
		best = max(best, run)
		if run < 2 {
			continue
		}
		pairs++
		if class(c) != class(s[i-1]) {
			changes++
		}
	}
	return best >= 12 && changes*4 >= pairs
}

// turns returns how often a byte of s is of another class than the one before.
func turns(s []byte) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if class(s[i]) != class(s[i-1]) {
			n++
		}
	}
	return n
}

func class(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return 0
	case 'a' <= c && c <= 'z':
		return 1
	case 'A' <= c && c <= 'Z':
		return 2
	}
	return 3
}

func isAllHex(s []byte) bool {
	return !slices.ContainsFunc(s, func(c byte) bool { return !isHex(c) })
}

func isUUID(s []byte) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

// isSequence reports whether s counts, as people do who fill a field.
func isSequence(s []byte) bool {
	lower := strings.ToLower(string(s))
	for _, part := range [...]string{"123456789", "987654321", "abcdefgh", "012345678", "qwerty", "deadbeef", "cafebabe"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return longestRun(lower) >= 5
}

// isPassword reports whether s is a password that someone means to keep.
func isPassword(s []byte, least float64) bool {
	if len(s) < 8 || len(s) > 128 || strings.IndexByte("/.~-$%@", s[0]) >= 0 || markLen(s) > 0 {
		return false
	}
	letters, digits, symbols := 0, 0, 0
	for _, c := range s {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		case '0' <= c && c <= '9':
			digits++
		case strings.IndexByte("<>{}()[]\\ ,;\"'`", c) >= 0:
			return false // a call, a list, a place to fill
		default:
			symbols++
		}
	}
	if letters == 0 || digits == 0 || entropy(s) < least {
		return false
	}
	lower := strings.ToLower(string(s))
	for _, word := range [...]string{
		"ssw", "pwd", "secret", "test", "example", "change", "dummy", "fake", "sample", "foo", "bar", "1234", "abcd",
		"admin", "user", "token", "xxx", "null", "none", "true", "false", "value", "default", "empty", "your", "my",
		"hunter2", "qwerty", "letmein", "%s", "%v", "${", "{{", "://", "****", "...", "sha", "md5", "string", "invalid", "wrong",
	} {
		if says(lower, word) {
			return false
		}
	}
	return symbols < len(s)/2
}

// says reports whether word is in s, in small letters. A word of two or three
// letters is in what is long by chance, unless it stands by itself.
func says(s, word string) bool {
	chance := len(s) >= 16 && len(word) <= 3
	for from := 0; ; from++ {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		from += i
		to := from + len(word)
		apart := (from == 0 || !isWord(s[from-1])) && (to == len(s) || !isWord(s[to]))
		if !chance || apart {
			return true
		}
	}
}
