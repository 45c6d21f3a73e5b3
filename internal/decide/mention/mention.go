// Package mention finds the files that a person names in a text by @: @a.go,
// @"a b.txt", @dir/, @src/a.ts:10-20.
//
// An @ means many things, such as a package (@types/node), a decorator
// (@dataclass) or a part of an address (a@b.c). So only what stands in the
// workspace is a mention: a Lookup says what does.
package mention

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Mention is a file or a directory that a text names.
type Mention struct {
	Path        string // canonical
	Dir         bool
	First, Last int // lines, from 1, both of them meant; 0 is the whole file
}

// String writes m as events keep it: "a.go", "a.go:10", "a.go:10-20", "dir/".
func (m Mention) String() string {
	switch {
	case m.Dir:
		return m.Path + "/"
	case m.First == 0:
		return m.Path
	case m.Last == m.First:
		return fmt.Sprintf("%s:%d", m.Path, m.First)
	}
	return fmt.Sprintf("%s:%d-%d", m.Path, m.First, m.Last)
}

// Parse reads what String wrote. A file whose name ends as if it named lines is
// taken for one with lines: a reader finds it all the same.
func Parse(s string) Mention {
	if path, dir := strings.CutSuffix(s, "/"); dir && path != "" {
		return Mention{Path: path, Dir: true}
	}
	path, first, last := ranged(s)
	return Mention{Path: path, First: first, Last: last}
}

// A Lookup says what stands in the workspace at a path as someone wrote it. It is
// not ok for what is not there, is neither a file nor a directory, or is outside.
type Lookup func(path string) (canonical string, dir, ok bool)

// Bounds of what one text can ask for.
const (
	maxFound = 64
	maxLooks = 2048
	maxPath  = 1024 // bytes
)

// Find returns what text mentions, each once, in the order of the text, and as
// missing what was plainly meant as a file and is not one of the workspace.
func Find(text string, look Lookup) (found []Mention, missing []string) {
	looks := 0
	bounded := func(path string) (string, bool, bool) {
		if looks++; looks > maxLooks {
			return "", false, false
		}
		return look(path)
	}
	seen := make(map[string]bool)
	for i := 0; i < len(text) && len(found) < maxFound; {
		at := strings.IndexByte(text[i:], '@')
		if at < 0 {
			break
		}
		at += i
		i = at + 1
		if !begins(text[:at]) {
			continue
		}
		c := take(text[at+1:])
		m, size, ok := c.resolve(bounded)
		switch {
		case ok && !seen[m.String()]:
			found = append(found, m)
			seen[m.String()] = true
		case !ok && c.meant() && !seen["@"+c.text]:
			missing = append(missing, c.text)
			seen["@"+c.text] = true
		}
		i += size
	}
	return found, missing
}

// begins reports whether an @ after before can begin a mention: one inside of a
// word, an address or a path does not.
func begins(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	switch {
	case size == 0, east(r):
		return true
	case strings.ContainsRune(`._-+%/\@#$`, r):
		return false
	}
	return !wordly(r)
}

// A candidate is what stands after an @.
type candidate struct {
	text   string // without quotes
	quoted bool
	lines  string // behind a quoted path
	size   int    // in the text, quotes and lines included
}

// quotes are how a path with spaces in it is written.
var quotes = []struct{ open, close string }{{`"`, `"`}, {"“", "”"}}

// take returns the candidate at the start of rest.
func take(rest string) candidate {
	for _, q := range quotes {
		inside, ok := strings.CutPrefix(rest, q.open)
		if !ok {
			continue
		}
		inside = inside[:min(len(inside), maxPath)]
		end := strings.Index(inside, q.close)
		if end <= 0 || strings.ContainsAny(inside[:end], "\r\n") {
			return candidate{}
		}
		c := candidate{text: inside[:end], quoted: true, size: len(q.open) + end + len(q.close)}
		c.lines = linesRE().FindString(rest[c.size:])
		c.size += len(c.lines)
		return c
	}
	end := strings.IndexFunc(rest, ends)
	if end < 0 {
		end = len(rest)
	}
	if end > maxPath {
		return candidate{}
	}
	return candidate{text: rest[:end]}
}

// resolve returns the longest beginning of c that stands in the workspace, and
// how long it is in the text.
func (c candidate) resolve(look Lookup) (m Mention, size int, ok bool) {
	if c.text == "" {
		return m, 0, false
	}
	if c.quoted {
		if m, ok = at(c.text, look, true); ok && c.lines != "" && !m.Dir {
			_, m.First, m.Last = ranged("x" + c.lines)
		}
		return m, c.size, ok
	}
	for _, end := range cuts(c.text) {
		if m, ok = at(c.text[:end], look, false); ok {
			return m, end, true
		}
		path, first, last := ranged(c.text[:end])
		if first == 0 {
			continue
		}
		if m, ok = at(path, look, false); ok && !m.Dir {
			m.First, m.Last = first, last
			return m, end, true
		}
	}
	return Mention{}, 0, false
}

// at looks path up. A directory must be written as one: @test is more often a
// word of a program than a directory.
func at(path string, look Lookup, quoted bool) (Mention, bool) {
	canonical, dir, ok := look(path)
	switch {
	case !ok, dir && !quoted && !strings.Contains(path, "/"), !dir && strings.HasSuffix(path, "/"):
		return Mention{}, false
	}
	return Mention{Path: canonical, Dir: dir}, true
}

// meant reports whether whoever wrote c cannot have meant anything but a file.
func (c candidate) meant() bool {
	if c.quoted {
		return true
	}
	for _, sign := range []string{"./", "../", "~/", "/"} {
		if rest, ok := strings.CutPrefix(c.text, sign); ok && rest != "" {
			return true
		}
	}
	path, first, _ := ranged(c.text)
	return first > 0 && strings.ContainsAny(path, "./")
}
