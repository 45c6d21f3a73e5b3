package policy

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A word is one word of a simple command, as a shell reads it.
type word struct {
	text string // its quotes undone; as it is written where it is live
	live bool   // the shell replaces or obeys something in it
	op   bool   // it is a redirection, without its target
	end  int    // offset after it
}

// split returns the words of a command. It is simple if a shell would do nothing
// but run one program with these words, redirections included; else the words
// are a guess.
func split(command string) (words []word, simple bool) {
	l := lexer{in: command, simple: true}
	for l.at < len(l.in) {
		l.step()
	}
	l.end()
	l.simple = l.simple && !l.lacksTarget()
	return l.words, l.simple && len(l.words) > 0 && !strings.Contains(command, "\x00")
}

// A command is a part's name read once for all rules.
type command struct {
	text    string
	words   []word
	simple  bool
	program string // its base name where that is certain and all that runs, else ""
}

func readCommand(text string) command {
	c := command{text: summed(text)}
	c.words, c.simple = split(c.text)
	if c.simple && !c.words[0].live && !assigns(c.words[0].text) {
		if name := base(c.words[0]); !runners[name] && !strings.HasPrefix(name, "git-") {
			c.program = name
		}
	}
	return c
}

// summed is text with a digit for each sum of digits, which runs nothing.
func summed(text string) string {
	before, rest, sums := strings.Cut(text, "$((")
	if !sums {
		return text
	}
	sum, after, ok := strings.Cut(rest, "))")
	if !ok || strings.Trim(sum, "0123456789+-*/% ") != "" {
		return text
	}
	return before + "0" + summed(after)
}

// known takes the words of a language for text of which the parse of part says that
// it is followed and runs nothing.
func (c *command) known(part tool.Part) {
	if !c.simple || part.Unseen != "" {
		return
	}
	if name := base(c.words[0]); name == "awk" || name == "gawk" || name == "mawk" || name == "nawk" {
		c.program = name
	}
}

// isOther reports whether the program of a pattern is surely not that of c. It is
// a quick look that spares a long one.
func (c command) isOther(pattern string) bool {
	if c.program == "" {
		return false
	}
	name := pattern
	if n := strings.IndexAny(pattern, " \t"); n >= 0 {
		name = pattern[:n]
	}
	if name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+") != "" {
		return false
	}
	return base(word{text: name}) != c.program
}

type lexer struct {
	in           string
	at, start    int // of the next byte, and of the word
	text         strings.Builder
	open         bool // a word has begun
	live, quoted bool // is it
	words        []word
	simple       bool
}

func (l *lexer) step() {
	c := l.in[l.at]
	switch {
	case c == ' ' || c == '\t':
		l.end()
		l.at++
	case c == '<' || c == '>' || c == '&' && l.next(1) == '>':
		l.redirect()
	case c < ' ' || c == 0x7f || strings.IndexByte(";|&()`", c) >= 0:
		l.simple = false
		l.end()
		l.at++
	case c == '\'':
		l.begin()
		n := strings.IndexByte(l.in[l.at+1:], '\'')
		if n < 0 {
			n, l.simple = len(l.in)-l.at-1, false
		}
		l.quoted = true
		l.text.WriteString(l.in[l.at+1 : l.at+1+n])
		l.at = min(l.at+n+2, len(l.in))
	case c == '"':
		l.begin()
		l.double()
	case c == '\\' && l.next(1) == '\n': // the line goes on
		l.at += 2
	case c == '\\':
		l.begin()
		l.escaped()
	default:
		l.begin()
		l.live = l.live || strings.IndexByte("$*?[{}~!#", c) >= 0
		if c == '$' && strings.IndexByte(`('"`, l.next(1)) >= 0 {
			l.simple = false
		}
		l.text.WriteByte(c)
		l.at++
	}
}

// next returns the byte n after the current one, 0 behind the end.
func (l *lexer) next(n int) byte {
	if l.at+n < len(l.in) {
		return l.in[l.at+n]
	}
	return 0
}

func (l *lexer) begin() {
	if !l.open {
		l.open, l.start = true, l.at
	}
}

// end ends the word, if one has begun.
func (l *lexer) end() {
	if !l.open {
		return
	}
	w := word{text: l.text.String(), live: l.live, end: l.at}
	if l.live = l.live || l.quoted && assigns(w.text); l.live { // a quoted A=b is no assignment
		w.text, w.live = l.in[l.start:l.at], true
	}
	l.words = append(l.words, w)
	l.text.Reset()
	l.open, l.live, l.quoted = false, false, false
}

func (l *lexer) escaped() {
	l.quoted = true
	switch next := l.next(1); {
	case l.at+1 == len(l.in):
		l.simple = false
	case next < ' ' && next != '\t':
		l.simple = false
	default:
		l.text.WriteByte(next)
	}
	l.at = min(l.at+2, len(l.in))
}

func (l *lexer) double() {
	l.quoted = true
	for l.at++; l.at < len(l.in); l.at++ {
		switch c := l.in[l.at]; {
		case c == '"':
			l.at++
			return
		case c == '\\' && strings.IndexByte("\\\"$`\n", l.next(1)) >= 0 && l.at+1 < len(l.in):
			l.at++
			if l.in[l.at] != '\n' {
				l.text.WriteByte(l.in[l.at])
			}
		case c == '`', c == '$' && l.next(1) == '(':
			l.simple = false
			l.live = true
			l.text.WriteByte(c)
		default:
			l.live = l.live || c == '$'
			l.text.WriteByte(c)
		}
	}
	l.simple = false
}

// redirect takes the operator and the number before it; its target, if it is not
// another descriptor, is the next word.
func (l *lexer) redirect() {
	begin := l.at
	if l.open && !l.quoted && l.in[l.at] != '&' && strings.Trim(l.text.String(), "0123456789") == "" {
		begin = l.start
		l.open = false
		l.text.Reset()
	}
	l.end()
	n := strings.IndexFunc(l.in[l.at:], func(r rune) bool { return r != '<' && r != '>' && r != '&' && r != '|' })
	if n < 0 {
		n = len(l.in) - l.at
	}
	op := l.in[l.at : l.at+n]
	if strings.HasSuffix(op, ">&") || strings.HasSuffix(op, "<&") {
		rest := l.in[l.at+n:]
		descriptor := len(rest) - len(strings.TrimLeft(rest, "0123456789-"))
		if descriptor == len(rest) || strings.IndexByte(" \t<>&|;)", rest[descriptor]) >= 0 {
			n += descriptor
		}
	}
	switch op {
	case "<", ">", ">>", ">|", ">&", "<&", "&>", "&>>", "<>":
	default: // a here-document among them
		l.simple = false
	}
	l.simple = l.simple && !l.lacksTarget()
	l.at += n
	l.words = append(l.words, word{text: l.in[begin:l.at], live: true, op: true, end: l.at})
}

// lacksTarget reports whether the last word is a redirection whose target is still
// to come.
func (l *lexer) lacksTarget() bool {
	n := len(l.words)
	return n > 0 && l.words[n-1].lacksTarget()
}

// lacksTarget reports whether w is a redirection whose target is the next word.
func (w word) lacksTarget() bool {
	if !w.op {
		return false
	}
	op := strings.TrimLeft(w.text, "0123456789")
	return len(op) < 3 || op[1] != '&'
}

// assigns reports whether s is of the form NAME=VALUE.
func assigns(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	name = strings.TrimSuffix(name, "+")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_[]") == "" && (name[0] < '0' || name[0] > '9')
}
