package secret

import (
	"sort"
	"strings"
)

// shortest is the least length of a held value that is looked for. Shorter ones
// turn up by chance.
const shortest = 8

// held finds values that are known. The zero held finds none.
type held struct {
	first   map[[shortest]byte][]pattern // by how they begin; the longest first
	shift   []uint8                      // by the last two bytes of a window: how far to move on
	longest int
	lines   bool // a pattern goes over the end of a line
	spaces  bool // a pattern goes over the end of a word
}

// A pattern is one form of a secret, and what is written instead.
type pattern struct{ text, mark string }

// index prepares the search for values, by name.
func (h *held) index(values map[string]string) {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	all := map[string]string{} // text to mark
	for _, name := range names {
		if len(values[name]) < shortest || standsForNone(values[name]) {
			continue
		}
		for _, text := range forms(values[name]) {
			if _, known := all[text]; !known {
				all[text] = "[redacted:" + label(name) + "]"
			}
		}
	}
	if len(all) > 0 {
		h.build(all)
	}
}

// standsForNone reports whether value is what people write where a program wants
// a key and the server needs none. Such words are not secret, and stand in texts
// for their own sake.
func standsForNone(value string) bool {
	switch strings.Trim(strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(value)), `"'<>[]{}()*`) {
	case "notneeded", "notrequired", "notused", "notset", "notapplicable", "notakey", "notarealkey", "notasecret",
		"noneneeded", "nonerequired", "nokey", "nokeyneeded", "nokeyrequired", "skno", "sknokey", "sknokeyneeded", "sknokeyrequired", "sknotneeded",
		"unneeded", "unused", "ignored", "irrelevant", "optional", "required", "anything", "whatever", "something",
		"disabled", "undefined", "localhost", "localkey", "localonly", "lmstudio", "llamacpp", "llamafile", "ollamakey", "vllmkey",
		"dummykey", "dummytoken", "dummyapikey", "skdummy", "fakekey", "fakeapikey", "skfake", "testkey", "testtoken", "sktest", "sk1234", "sk12345",
		"placeholder", "changeme", "changeit", "example", "examplekey", "apikey", "yourkey", "yourapikey", "yourapikeyhere", "youropenaiapikey", "yourtoken",
		"password", "password1", "password123", "secretkey", "accesstoken", "anonymous", "username",
		"12345678", "123456789", "1234567890", "0123456789", "87654321", "abcdefgh", "abcd1234", "abc12345":
		return true
	}
	return distinct(value) < 3 // as "xxxxxxxx" or "--------"
}

// distinct returns how many different bytes s has.
func distinct(s string) int {
	var seen [256]bool
	n := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n
}

// label makes name harmless inside a JSON string, a URL or a terminal.
func label(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
			return c
		}
		return '_'
	}, name[:min(len(name), 64)])
}

// build prepares the search of Wu and Manber: a window of the shortest length
// moves along the text, and the table says from its last two bytes how far it
// can move without missing the beginning of a pattern.
func (h *held) build(all map[string]string) {
	h.first = map[[shortest]byte][]pattern{}
	h.shift = make([]uint8, 1<<16)
	for i := range h.shift {
		h.shift[i] = shortest - 1
	}
	given := givenAway(all)
	for text, mark := range all {
		if given[mark] {
			mark = "[redacted]"
		}
		h.longest = max(h.longest, len(text))
		h.spaces = h.spaces || strings.Contains(text, " ")
		h.lines = h.lines || strings.ContainsAny(text, "\r\n")
		start := [shortest]byte([]byte(text))
		h.first[start] = append(h.first[start], pattern{text, mark})
		for i := range shortest - 1 {
			at := pair(start[i], start[i+1])
			h.shift[at] = min(h.shift[at], uint8(shortest-2-i))
		}
	}
	for _, same := range h.first {
		sort.Slice(same, func(i, j int) bool { return len(same[i].text) > len(same[j].text) })
	}
}

// givenAway returns the marks that would themselves be taken for a secret, as
// happens when a secret is its own name.
func givenAway(all map[string]string) map[string]bool {
	given := map[string]bool{}
	for _, mark := range all {
		if _, known := given[mark]; known {
			continue
		}
		given[mark] = false
		for text := range all {
			given[mark] = given[mark] || strings.Contains(mark, text)
		}
	}
	return given
}

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// next returns the first held secret in b that begins at from or later.
func (h *held) next(b []byte, from int) (span, bool) {
	if h.first == nil {
		return span{}, false
	}
	for at := from; at+shortest <= len(b); {
		if skip := h.shift[pair(b[at+shortest-2], b[at+shortest-1])]; skip > 0 {
			at += int(skip)
			continue
		}
		for _, p := range h.first[[shortest]byte(b[at:])] {
			if len(p.text) <= len(b)-at && p.text == string(b[at:at+len(p.text)]) {
				return span{start: at, end: at + len(p.text), mark: p.mark}, true
			}
		}
		at++
	}
	return span{}, false
}
