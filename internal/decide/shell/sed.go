package shell

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// sed takes a script of addresses, and commands that only print.
func (m *match) sed(text string) {
	s := sedScript{rest: text, left: text}
	if s.reads() {
		return
	}
	m.d.unclear("the sed script may read, write or run more")
	if s.runs() {
		m.d.hides("what %s runs", m.all[0].shown)
	}
	if i := strings.LastIndex(text, "w "); i >= 0 {
		file, _, _ := strings.Cut(text[i+2:], "\n")
		m.d.path(effect.Write, literal(strings.TrimSpace(file)), false)
	}
}

// A sedScript is what is left of one.
type sedScript struct {
	rest  string
	depth int

	at   byte   // the last command
	left string // behind it
}

func (s *sedScript) next() (c byte, ok bool) {
	if s.rest == "" {
		return 0, false
	}
	c, s.rest = s.rest[0], s.rest[1:]
	return c, true
}

func (s *sedScript) skip(set string) { s.rest = strings.TrimLeft(s.rest, set) }

// reads reports whether s is understood, and only prints.
func (s *sedScript) reads() bool {
	for {
		s.skip(" \t\n;")
		if s.rest == "" {
			return s.depth == 0
		}
		if !s.addresses() {
			return false
		}
		s.skip(" \t!")
		if !s.command() {
			return false
		}
	}
}

// runs reports whether what is not understood of s may run a command: all that is
// left is looked at, but the text of a command whose text goes on to the end.
func (s *sedScript) runs() bool {
	switch {
	case !strings.Contains(s.left, "e"):
		return s.at == 'e'
	case strings.IndexByte("aicrRwW", s.at) >= 0:
		return strings.Contains(s.left, "\n")
	case strings.IndexByte("btTlFQvz:", s.at) >= 0:
		return strings.ContainsAny(s.left, ";}\n")
	case s.at == 's' && s.left != "":
		for part := range strings.SplitSeq(s.left[1:], s.left[:1]) {
			if strings.HasPrefix(strings.TrimLeft(part, "gpiImM0123456789"), "e") {
				return true
			}
		}
		return strings.ContainsAny(s.left, ";}\n")
	}
	return true
}

func (s *sedScript) addresses() bool {
	if !s.address() {
		return false
	}
	if !strings.HasPrefix(s.rest, ",") {
		return true
	}
	s.rest = s.rest[1:]
	s.skip("+~")
	return s.address()
}

// address takes one that is there.
func (s *sedScript) address() bool {
	switch {
	case s.rest == "":
	case s.rest[0] == '$':
		s.rest = s.rest[1:]
	case s.rest[0] == '/':
		s.rest = s.rest[1:]
		if !s.until('/') {
			return false
		}
		s.rest = strings.TrimPrefix(s.rest, "I")
	default:
		s.skip("0123456789")
		if strings.HasPrefix(s.rest, "~") {
			s.rest = s.rest[1:]
			s.skip("0123456789")
		}
	}
	return true
}

// until takes what is before an end. One within brackets is none to some programs
// and one to others: then nobody knows.
func (s *sedScript) until(end byte) bool {
	for {
		c, ok := s.next()
		switch {
		case !ok || c == '\n':
			return false
		case c == end:
			return true
		case c == '\\':
			if _, ok := s.next(); !ok {
				return false
			}
		case c == '[':
			if !s.bracket(end) {
				return false
			}
		}
	}
}

// bracket takes a list of characters up to its end.
func (s *sedScript) bracket(end byte) bool {
	s.rest = strings.TrimPrefix(s.rest, "^")
	if strings.HasPrefix(s.rest, "]") {
		return false
	}
	for {
		c, ok := s.next()
		switch {
		case !ok || c == '\n' || c == end:
			return false
		case c == ']':
			return true
		case c == '\\':
			if s.rest == "" || strings.IndexByte("ntsw", s.rest[0]) < 0 {
				return false
			}
		case c == '[' && strings.HasPrefix(s.rest, ":"):
			class, rest, ok := strings.Cut(s.rest[1:], ":]")
			if !ok || strings.Trim(class, "abcdefghijklmnopqrstuvwxyz") != "" {
				return false
			}
			s.rest = rest
		case c == '[' && strings.IndexAny(s.rest, ".=") == 0:
			return false
		}
	}
}

func (s *sedScript) command() bool {
	c, ok := s.next()
	s.at, s.left = c, s.rest
	switch {
	case !ok:
		return false
	case c == '{':
		s.depth++
		return true
	case c == '}':
		s.depth--
		return s.depth >= 0 && s.ends()
	case strings.IndexByte("pdnNgGhHxDP=", c) >= 0:
		return s.ends()
	case c == 'q':
		s.skip(" 0123456789")
		return s.ends()
	case c == 's' || c == 'y':
		end, ok := s.next()
		if !ok || strings.IndexByte("/|#,:@%!_", end) < 0 || !s.until(end) || !s.until(end) {
			return false
		}
		if c == 's' {
			s.skip("gpiI0123456789")
		}
		return s.ends()
	}
	return false
}

func (s *sedScript) ends() bool {
	s.skip(" \t")
	return s.rest == "" || strings.IndexByte(";\n}", s.rest[0]) >= 0
}
