package constraint

import (
	"strings"
	"unicode/utf8"
)

// A group is one chunk or several that say one thing together.
type group struct {
	span
	weight Weight // of its chunks that bind
	binds  bool
}

// join puts the chunks of a message together that say one thing: what is forbidden,
// and in which case, but for what, of what. What a ban is bounded by must be part of
// its words, or too much would be banned.
func join(text string, m message, weights []Weight) (found []span) {
	var last *group
	end := func() {
		if last != nil && last.binds {
			last.kind = last.weight.kind()
			if said := flat(text[last.start:last.end]); contains(said, lifting) && (last.kind == Forbid || contains(said, []string{"n't ", " not ", " never ", "不", "别"})) {
				last.kind = Ask
			}
			if strings.HasPrefix(text[last.end:], ")") && strings.Count(text[last.start:last.end], "(") > strings.Count(text[last.start:last.end], ")") {
				last.end++
			}
			if strings.HasPrefix(text[last.end:], "）") && strings.Count(text[last.start:last.end], "（") > strings.Count(text[last.start:last.end], "）") {
				last.end += len("）")
			}
			found = append(found, last.span)
		}
		last = nil
	}
	for i, c := range m.chunks {
		binds := weights[i].binds()
		words := text[c.start:c.end]
		if i > 0 && (among(c.mark, ":", "：") || c.mark == " " && c.chinese) && c.sentence == m.chunks[i-1].sentence && reports(text[m.chunks[i-1].start:m.chunks[i-1].end]) {
			binds = false
		}
		if next := i + 1; grants(words) && !(next < len(m.chunks) && spares(text[m.chunks[next].start:m.chunks[next].end])) {
			binds = false // what allows is no constraint
		}
		behind := i > 0 && last != nil
		if behind && c.sentence == m.chunks[i-1].sentence && together(text, m.chunks[i-1], c, last.binds, binds) ||
			behind && last.binds && (excepting(words) || qualifies(text[last.start:last.end], words)) {
			last.end = c.end
		} else {
			end()
			last = &group{span: span{start: c.begin(text), end: c.end}}
		}
		if binds {
			last.binds = true
			last.weight.add(weights[i])
		}
	}
	end()
	return found
}

// together reports whether chunk c, behind chunk b, says one thing with it. Of those
// that do one binds at least.
func together(text string, b, c chunk, before, binds bool) bool {
	if !before && !binds {
		return false
	}
	first, second := text[b.begin(text):b.end], text[c.begin(text):c.end]
	if before && startsAny(first, []string{"only "}) && among(c.mark, "and", "or", ",") && ofTests(second) && !imperative(c.first()) && len(c.tokens) < 6 {
		return true
	}
	if before && c.mark == "and" && startsAny(first, []string{"leave ", "keep "}) && onlyPlaces(first[len("leave "):]) && contains(flat(second), keeping) {
		return true
	}
	if before && !binds && qualifies(text[b.start:b.end], text[c.start:c.end]) {
		return true
	}
	switch {
	case before && c.mark == "," && startsAny(second, []string{"for "}): // use uv, not pip, for scripts/
		return true
	case before && (bounds(second) || spares(second) || onlyNames(second)), binds && spares(first):
		return true
	case binds && bounds(first) && !finishes(first):
		return true
	case binds && !among(c.mark, joins...) && (lacksTopic(second) && describes(first) && namesPlace(first) || onlyPlaces(first) && len(c.tokens) < 5):
		return true
	case before && binds:
		return startsAny(first, beginnings) || endsAny(first, endings) || among(strings.ToLower(first), "do not", "don't", "never", "not")
	}
	return false
}

// begin returns where what a chunk says begins, behind the words that join it to
// others or are polite.
func (c chunk) begin(text string) int {
	words := text[c.start:c.end]
	for again := true; again; {
		again = false
		for _, w := range []string{"and ", "but ", "so ", "then ", "plus ", "also ", "please ", "但是", "但", "并且", "而且", "另外", "同时", "不过"} {
			if len(words) > len(w) && strings.EqualFold(words[:len(w)], w) {
				words, again = strings.TrimLeft(words[len(w):], " "), true
			}
		}
	}
	return c.end - len(words)
}

// bounds reports whether words say in which case, or without what, something holds.
func bounds(words string) bool {
	does := roleOf(words)
	return does == cases || does == terms || does == asks || startsAny(words, []string{"while "})
}

// excepting reports whether words say nothing but what those before them are not of,
// in a sentence of its own too, with or without a place: except zod, api/v2 除外.
func excepting(words string) bool {
	if len(words) >= maxExcepting || contains(words, []string{", "}) {
		return false
	}
	does := roleOf(words)
	return does == excepts || startsAny(words, []string{"unless ", "only if ", "only when ", "除非"})
}

// maxExcepting is the longest exception, in bytes: what is longer says more.
const maxExcepting = 120

// finishes reports whether the case is that the work is done, which it always is in
// the end.
func finishes(words string) bool {
	return contains(" "+strings.ToLower(words)+" ", []string{" done ", " finished ", " finish ", " ready ", " complete ", "完成", "改完", "做完", "写完", "弄完"})
}

// beginnings and endings are of words that say before what, or in which case, I am
// to be asked.
var (
	beginnings = []string{"before ", "prior to ", "if ", "when ", "whenever ", "unless ", "until ", "should ", "once ", "in case ", "without ", "如果", "要是", "若", "没有", "没经", "未经", "在"}
	endings    = []string{"前", "之前", "以前", "的话", "时", "的时候"}
)

// spares reports whether words only say what is not meant by those beside them.
func spares(words string) bool {
	return startsAny(words, []string{"nothing else", "and nothing else"}) ||
		(namesPlace(words) || butFor(words) == 0) && endsAny(words, []string{"外"}) || namesPlace(words) && roleOf(words) == excepts
}

func endsAny(text string, of []string) bool {
	for _, end := range of {
		if strings.HasSuffix(text, end) && len(text) > len(end) {
			return true
		}
	}
	return false
}

// placesIn returns the paths and directories among words.
func placesIn(words string) (out []token) {
	for _, t := range tokens(words) {
		if looksLikePath(t.text) || t.dir || t.quoted {
			out = append(out, t)
		}
	}
	return out
}

func namesPlace(words string) bool { return len(placesIn(words)) > 0 }

// onlyPlaces reports whether words do no more than name files: a.go and b.go.
func onlyPlaces(words string) bool {
	for _, w := range tokensOf(words) {
		if !among(w, "<path>", "<code>", "and", "or", "the", "file", "files", "nor", "和", "与", "以", "及", "或") {
			return false
		}
	}
	return words != ""
}

// onlyNames reports whether words name one more of what those before are about, or
// what to use instead of it: not npm, or b.go.
func onlyNames(words string) bool {
	all := tokensOf(words)
	for i, w := range all {
		if w[0] >= utf8.RuneSelf || i == 0 && among(w, "and", "or", "nor", "not", "but") {
			continue
		}
		if !among(w, "<path>", "<code>", "the", "file", "files") && !isProgram(w) && !isKnownPackage(w) {
			return false
		}
	}
	return len(all) > 0 && len(all) < 5 && all[0][0] < utf8.RuneSelf
}
