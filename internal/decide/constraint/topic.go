package constraint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// describes reports whether a clause says what something is, and asks for nothing:
// what is asked for would be forbidden with the rest.
func describes(clause string) bool {
	return contains(" "+strings.ToLower(clause)+" ", []string{" is ", " are ", " belongs ", " belong ", "'s ", "是", "归", "属于", "不管", "由"})
}

// shortClause is the number of characters that a Chinese clause without an object
// has at most, as "千万绝对不要动它".
const shortClause = 8

// lacksTopic reports whether words name nothing, and only point at what was named
// before.
func lacksTopic(words string) bool {
	if strings.ContainsFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return !strings.ContainsFunc(words, latin) && utf8.RuneCountInString(words) <= shortClause
	}
	if len(naming(words)) > 0 {
		return false
	}
	for _, w := range strings.Fields(strings.ToLower(words)) {
		if among(strings.Trim(w, ".!"), "it", "them", "that", "those", "these", "this") {
			return true
		}
	}
	return false
}

// naming returns those of words that name something by their form.
func naming(words string) (out []token) {
	for _, t := range tokens(words) {
		if t.quoted || looksLikePath(t.text) || t.dir || isProgram(t.text) || isPackage(t.text) {
			out = append(out, t)
		}
	}
	return out
}

// isCode reports whether what is quoted is a piece of code, and no command line:
// programs are not written in capitals.
func (t token) isCode() bool {
	return strings.ContainsFunc(t.text, unicode.IsUpper) && !strings.ContainsAny(t.text, "-./|") &&
		!among(t.verb, "run", "running", "execute", "executing", "call", "calling", "invoke", "行", "跑")
}

// isAdded reports whether a word with a hyphen, as packages have, is all that is
// to be added: such a word before another is an adjective.
func (t token) isAdded() bool {
	if !among(t.verb, "add", "adding", "introduce", "introducing", "import", "importing", "require", "use", "using", "加", "入", "用", "装") {
		return false
	}
	name := strings.ToLower(t.text)
	if len(name) < 5 || !strings.Contains(strings.Trim(name, "-"), "-") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name[0] == '-' {
		return false
	}
	next, _, _ := strings.Cut(t.next, " ")
	return next == "" || next[0] >= utf8.RuneSelf || strings.ContainsRune(",.;:!)", rune(next[0])) ||
		among(strings.TrimRight(next, ".,;:!"), "to", "as", "for", "here", "again", "in", "or", "and", "anywhere", "either", "until", "because")
}
