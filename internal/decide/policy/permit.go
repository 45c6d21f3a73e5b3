package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// The last word of a pattern for commands may leave open what follows.
const (
	onlyFiles = "*"  // one or more operands, each a path in the workspace
	anyWords  = "**" // any words, or none, but no redirection
)

// opens returns what the last word of words leaves open, and those before it.
func opens(words []word) (before []word, open string) {
	if n := len(words); n > 0 && words[n-1].live {
		if last := words[n-1].text; last == onlyFiles || last == anyWords {
			return words[:n-1], last
		}
	}
	return words, ""
}

// permits reports whether an Allow with that pattern is for c, the command that
// part is: its words are those of the pattern, and what the pattern leaves open
// is filled with nothing else.
func (p Policy) permits(pattern string, c command, part tool.Part) bool {
	if !c.simple || c.isOther(pattern) {
		return false
	}
	want, plain := split(pattern)
	have := c.words
	before, open := opens(want)
	if !plain || len(before) == 0 || len(have) < len(before) {
		return false
	}
	for i, w := range before {
		if w.text != have[i].text || w.live != have[i].live || w.op != have[i].op {
			return false
		}
	}
	rest := have[len(before):]
	switch open {
	case onlyFiles:
		return len(rest) > 0 && !slices.ContainsFunc(rest, func(w word) bool { return !p.local(w, part) })
	case anyWords:
		return !slices.ContainsFunc(rest, func(w word) bool { return w.op })
	}
	return len(rest) == 0
}

// local reports whether w, a word of the command that part is, is a path in the
// workspace: one that the part is known to touch or, written as ./path, one in a
// tree that it reads. The part touches nothing outside, and w is no guarded path.
func (p Policy) local(w word, part tool.Part) bool {
	if w.live || w.text == "" || w.text[0] == '-' || slices.Contains(strings.Split(w.text, "/"), "..") {
		return false
	}
	name := strings.TrimSuffix(w.text, "...") // as Go writes a tree
	if path.IsAbs(name) {
		below, ok := strings.CutPrefix(name+"/", strings.TrimSuffix(p.Root, "/")+"/")
		if p.Root == "" || !ok {
			return false
		}
		name = below
	}
	name = path.Clean(name)
	if among(guarded, name) {
		return false
	}
	plainly := name == "." || strings.HasPrefix(w.text, "./")
	named := false
	for _, e := range part.Effects {
		if e.Kind != effect.Read && e.Kind != effect.Write {
			continue
		}
		if !e.Inside() {
			return false
		}
		whole := e.On == "." && e.Tree
		switch {
		case whole && e.Kind == effect.Write: // names nothing
		case whole:
			named = named || plainly
		default: // perhaps seen from the directory it is run in
			named = named || name == "." || e.On == name || strings.HasSuffix(e.On, "/"+name)
		}
	}
	return named
}
