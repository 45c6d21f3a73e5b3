package secret

import "bytes"

// maxToken is how many bytes of a token are looked at.
const maxToken = 8 << 10

// A finding is what one look at a text adds up to.
type finding struct {
	r     *Redactor
	text  []byte
	whole bool // nothing comes after text
	found []span
	open  int // where a block begins that may go on after text
}

// byRules returns what the rules find in b, in no order. All but blocks lies in
// one line, and depends on that line alone.
func (r *Redactor) byRules(b []byte, whole bool) ([]span, int) {
	f := finding{r: r, text: b, whole: whole, open: len(b)}
	for at, some := r.rules.next(b, 0); at < len(b); at, some = r.rules.next(b, at+1) {
		for _, a := range some {
			if len(a.text) > len(b)-at || !equalFold(b[at:at+len(a.text)], a.text) {
				continue
			}
			for _, rule := range a.rules {
				f.look(rule, at, at+len(a.text))
			}
		}
	}
	return f.found, f.open
}

// look takes what rule finds at the anchor from start to end.
func (f *finding) look(rule *rule, start, end int) {
	switch rule.kind {
	case token, random, basic:
		f.token(rule, start-rule.offset)
	case assign, named:
		f.assigned(rule, start, end)
	case login:
		f.login(rule, end)
	case block:
		f.block(rule, start)
	}
}

func (f *finding) add(rule *rule, start, end int) {
	f.found = append(f.found, span{start, end, f.r.mark(rule.id, f.text[start:end]), rule.rank})
}

// token takes a secret that has a form of its own.
func (f *finding) token(rule *rule, start int) {
	if start < 0 || !begins(f.text, start) {
		return
	}
	window := f.text[start:min(len(f.text), start+maxToken)]
	loc := rule.re().FindSubmatchIndex(window)
	if loc == nil {
		return
	}
	from, to := loc[0], loc[1]
	for i := 2; i < len(loc); i += 2 { // the group, where there is one
		if loc[i] >= 0 {
			from, to = loc[i], loc[i+1]
		}
	}
	if to < len(window) && isWord(window[to]) {
		return
	}
	if s := window[from:to]; rule.accepts(s) {
		f.add(rule, start+from, start+to)
	}
}

// accepts reports whether s, which has the form of a token, is one.
func (r *rule) accepts(s []byte) bool {
	switch r.kind {
	case random:
		return isRandom(s, r.entropy)
	case basic:
		return isLogin(s, r.entropy)
	}
	return entropy(s) >= r.entropy && !isSample(s)
}

// begins reports whether a token can begin at i: what is before it is no part of
// a word, or an escape in a string or a URL.
func begins(b []byte, i int) bool {
	if i == 0 || !isWord(b[i-1]) {
		return true
	}
	if i >= 2 && b[i-2] == '\\' && bytes.IndexByte([]byte("nrtbfvae0"), b[i-1]) >= 0 {
		return true
	}
	for _, intro := range []string{"%__", `\x__`, `\u____`, `\0__`} { // of a byte by its number
		if n := i - len(intro); n >= 0 && isNumbered(b[n:i], intro) {
			return true
		}
	}
	return b[i-1] == 'm' && isColour(b[max(0, i-24):i-1])
}

// isNumbered reports whether b is intro, with a hexadecimal digit in the place of
// each _.
func isNumbered(b []byte, intro string) bool {
	for i := range b {
		if intro[i] == '_' && !isHex(b[i]) || intro[i] != '_' && intro[i] != b[i] {
			return false
		}
	}
	return true
}

// isColour reports whether b ends with what, before an m, changes the colour on a
// terminal, however its escape is written.
func isColour(b []byte) bool {
	at := bytes.LastIndexByte(b, '[')
	return at >= 0 && len(bytes.Trim(b[at+1:], "0123456789;:")) == 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
