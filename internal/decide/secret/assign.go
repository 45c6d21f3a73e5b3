package secret

import (
	"bytes"
	"net/url"
	"strings"
)

const (
	maxName  = 50      // bytes of a name
	maxValue = 2 << 10 // bytes of what is given to it
)

// A value is what a text gives to a name.
type value struct {
	start, end int
	quote      byte // that it is in, 0 for none
	tight      bool // nothing is between the name and the value but the operator
}

// assigned takes the value of the name in which the anchor is.
func (f *finding) assigned(rule *rule, start, end int) {
	b := f.text
	from := start
	for from > 0 && start-from < maxName && isNameByte(b[from-1]) {
		from--
	}
	if from > 0 && b[from-1] == '[' && markLen(b[from-1:]) > 0 {
		return // a mark of ours
	}
	to := end
	for to < len(b) && to-end < maxName && isNameByte(b[to]) {
		to++
	}
	v, ok := given(b, from, to)
	if !ok {
		return
	}
	s := b[v.start:v.end]
	if rule.kind == named {
		if end-start == len("pass") && (from == start || to > end || isWord(b[start-1]) && b[start-1] != '_' && b[start] != 'P') {
			return // passed, bypass; password has anchors of its own
		}
		if isPublic(b[from:start]) || !namesSecret(b[start:end], b[end:to]) || !judge(rule, s, v) {
			return
		}
	} else if entropy(s) < max(rule.entropy, 2.5) || isSample(s) || !bytes.ContainsAny(s, "0123456789") || !rule.re().Match(s) {
		return
	}
	f.add(rule, v.start, v.end)
}

func isNameByte(c byte) bool { return isWord(c) || c == '.' || c == '-' }

// given returns what is given to the name from start to end: by an operator, as
// the next argument, as the text of an element, or, to an option, after a space.
func given(b []byte, start, end int) (v value, ok bool) {
	i, closed := end, false
	for n := 0; i < len(b) && n < 4 && strings.IndexByte(" \t'\"`])\\", b[i]) >= 0; n++ {
		closed = closed || b[i] != ' ' && b[i] != '\t'
		i++
	}
	option := bytes.HasPrefix(b[start:], []byte("--"))
	op := operator(b[i:])
	switch {
	case op > 0 && b[i] == ',' && !closed:
		return v, false
	case op > 0:
		v.tight = i == end
	case option && i == end+1 && b[end] == ' ':
	default:
		return v, false
	}
	i += op
	if i < len(b) && b[i] == ' ' && v.tight && b[i-1] != ':' {
		v.tight = false
	}
	for n := 0; i < len(b) && n < 5 && strings.IndexByte(" \t'\"`\\=@", b[i]) >= 0; n++ {
		if c := b[i]; c == '\'' || c == '"' || c == '`' {
			v.quote = c
		}
		i++
	}
	v.start, v.end = i, i
	for v.end < len(b) && v.end-i <= maxValue && (v.goesOn(b[v.end]) || v.quote == 0 && b[v.end] == '&' && !isParameter(b[v.end+1:])) {
		v.end++
	}
	if n := v.end - v.start; n == 0 || n > maxValue {
		return v, false
	}
	if v.quote != 0 && (v.end == len(b) || b[v.end] != v.quote && b[v.end] != '\\') {
		return v, false
	}
	if v.quote == 0 && v.end < len(b) && b[v.end] == '(' {
		return v, false // a call
	}
	return v, true
}

// isParameter reports whether b, which follows an &, begins with one more name that
// something is given to.
func isParameter(b []byte) bool {
	n := 0
	for n < len(b) && n < maxName && isNameByte(b[n]) {
		n++
	}
	return n == 0 || n < len(b) && (b[n] == '=' || b[n] == '[')
}

// operator returns the length of the operator with which b begins.
func operator(b []byte) int {
	for _, op := range [...]string{":=", "=>", "==", "!=", "?=", "+=", "||", "=", ":", ">", ","} {
		if bytes.HasPrefix(b, []byte(op)) {
			return len(op)
		}
	}
	return 0
}

// goesOn reports whether c can be in v.
func (v value) goesOn(c byte) bool {
	if v.quote != 0 {
		return c > ' ' && c != v.quote && c != '\\' && c != 0x7f
	}
	return c > ' ' && c < 0x7f && strings.IndexByte("'\"`,;&|<>(){}[]\\", c) < 0
}

// namesSecret reports whether a name that has word in it, and then rest, is one
// of a secret rather than of something about it, such as token_type.
func namesSecret(word, rest []byte) bool {
	if bytes.HasSuffix(bytes.ToLower(word), []byte("passw")) {
		cut, ok := cutFold(rest, "ord")
		if !ok {
			cut, ok = cutFold(rest, "d")
		}
		if !ok {
			return false
		}
		rest = cut
	}
	var b [maxName]byte
	s := b[:0]
	for _, c := range rest {
		if c != '_' && c != '-' && c != '.' && len(s) < len(b) {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			s = append(s, c)
		}
	}
	switch strings.TrimRight(string(s), "0123456789") {
	case "", "s", "key", "accesskey", "hex", "value", "str", "string", "base", "default", "prod", "live", "test", "dev":
		return true
	}
	return false
}

// isPublic reports whether a name that begins with prefix, and then says secret,
// is one of what only looks like a secret: places in a list, public keys.
func isPublic(prefix []byte) bool {
	s := strings.ToLower(strings.TrimRight(string(prefix), "_-."))
	for _, word := range [...]string{"page", "next", "continuation", "continue", "cursor", "sync", "public", "pub", "cancel", "cancellation", "change"} {
		if strings.HasSuffix(s, word) {
			return true
		}
	}
	return false
}

func cutFold(b []byte, lower string) ([]byte, bool) {
	if len(b) < len(lower) || !equalFold(b[:len(lower)], lower) {
		return b, false
	}
	return b[len(lower):], true
}

// login takes the password of a URL, whose scheme ends before start.
func (f *finding) login(rule *rule, start int) {
	const most = 256
	b := f.text[start:min(len(f.text), start+most)]
	colon := -1
	for i, c := range b {
		switch {
		case c == ':' && colon < 0:
			colon = i
		case c == '@':
			plain, err := url.PathUnescape(string(b[colon+1 : i]))
			if colon >= 0 && err == nil && isPassword([]byte(plain), rule.entropy) {
				f.add(rule, start+colon+1, start+i)
			}
			return
		case c <= ' ' || c >= 0x7f || strings.IndexByte("/?#\"'`<>\\(){}[]|", c) >= 0:
			return
		}
	}
}
