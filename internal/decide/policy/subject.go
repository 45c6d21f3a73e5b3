package policy

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Subject is the call whose parts are judged, for the bans that name more than a
// part shows.
type Subject struct {
	call   tool.Call
	action *tool.Action // nil where only the call is known

	signature string // of call, once it is asked for
}

// About returns p for the parts of c, which a was prepared from: bans of names
// and of equal calls count only then. Without it no call meets them.
func (p Policy) About(c tool.Call, a *tool.Action) Policy {
	if slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Ban != nil }) {
		p.Of = &Subject{call: c, action: a}
	}
	return p
}

// is reports whether the call has that signature.
func (s *Subject) is(signature string) bool {
	if s == nil {
		return false
	}
	if s.signature == "" {
		s.signature = s.call.Signature()
	}
	return s.signature == signature
}

// removes reports whether the call takes the file at a path away, and puts it
// nowhere else.
func (s *Subject) removes(name string) bool {
	if s == nil || s.action == nil {
		return false
	}
	for _, e := range s.action.Edits {
		if !e.Remove || e.Path != name {
			continue
		}
		moved := false
		for _, other := range s.action.Edits {
			moved = moved || other.Base == "" && other.Result != "" && other.Result == e.Base
		}
		return !moved
	}
	return false
}

// adds reports whether part of a call of t newly writes or runs the name: the
// files that it edits have it more often afterwards, or the words of a command,
// or of a call of any other tool that does more than read, have it.
func (s *Subject) adds(name string, t tool.Spec, part tool.Part) bool {
	if s == nil || part.Effects.OnlyReads() {
		return false
	}
	if s.action != nil && len(s.action.Edits) > 0 {
		more := 0
		for _, e := range s.action.Edits {
			for _, r := range e.Regions {
				more += mentions(string(r.New), name) - mentions(string(r.Old), name)
			}
		}
		return more > 0
	}
	var args any
	if json.Unmarshal(s.call.Args, &args) != nil {
		return false
	}
	said := strings.Join(leaves(args, nil), "\n")
	if onlyPaths(t) || part.Name == "" || !strings.Contains(said, part.Name) || strings.Contains(said, "<<") { // what a command is given to read is not in its part
		return mentions(said, name) > 0
	}
	if redirects(part) {
		return s.writes(name)
	}
	return runsName(part, name)
}

// redirects reports whether part is a file that output of a command goes to.
func redirects(part tool.Part) bool {
	return strings.HasPrefix(strings.TrimLeft(part.Name, "0123456789&"), ">")
}

// writes reports whether a command of the call does nothing but write words that
// have a name: where the call has a redirection, they may go there.
func (s *Subject) writes(name string) bool {
	if s.action == nil {
		return false
	}
	return slices.ContainsFunc(s.action.Parts, func(part tool.Part) bool {
		words, _ := split(part.Name)
		return len(words) > 1 && slices.Contains([]string{"echo", "printf"}, base(words[0])) && mentions(part.Name, name) > 0
	})
}

// leaves appends every string in v, a JSON value.
func leaves(v any, to []string) []string {
	switch v := v.(type) {
	case string:
		return append(to, v)
	case []any:
		for _, x := range v {
			to = leaves(x, to)
		}
	case map[string]any:
		for _, x := range v {
			to = leaves(x, to)
		}
	}
	return to
}

// runsName reports whether a command has a name among its words, but for files of
// the workspace that are called so, and for commands that only take away what has
// it, or speak of it.
func runsName(part tool.Part, name string) bool {
	words, _ := split(part.Name)
	var before []string // programs and subcommands
	for i, w := range words {
		if mentions(w.text, name) > 0 && (i == 0 || !isPath(w.text, part)) {
			return !speaksOf(before, strings.Contains(part.Name, ">"))
		}
		if !option(w) && !assigns(w.text) {
			before = append(before, base(w))
		}
	}
	return false
}

// takingAway are subcommands of package managers, as before the name of what they
// take away.
var takingAway = []string{"uninstall", "remove", "rm", "un", "purge", "autoremove", "prune", "delete", "why", "list", "ls", "show", "info", "view", "search", "outdated"}

// speaksOf reports whether a command that begins with those words does no more
// with a name that comes then than to take it away or speak of it.
func speaksOf(before []string, redirected bool) bool {
	if len(before) == 0 {
		return false
	}
	switch before[0] {
	case "git":
		return len(before) > 1 && !slices.Contains([]string{"clone", "submodule", "remote", "subtree"}, before[1])
	case "echo", "printf":
		return !redirected
	case "rm", "rmdir", "unlink", "grep", "rg":
		return true
	}
	return slices.ContainsFunc(before[1:], func(word string) bool { return slices.Contains(takingAway, word) })
}

// isPath reports whether a word of a command is a path that the command touches.
func isPath(text string, part tool.Part) bool {
	if strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "/") {
		return true
	}
	clean := path.Clean(text)
	for _, e := range part.Effects {
		if touchesPaths(e.Kind) && e.On != "" && (e.On == clean || strings.HasSuffix(e.On, "/"+clean)) {
			return true
		}
	}
	return false
}

// mentions returns how often text has name, in any case, as itself or as a part of
// the name of a package: "redis" is in "go-redis" and "sqlite" in "go-sqlite3", but
// "redis" is not in "redisson" or "my_redis". Of a name of several words, such as
// "drop table", any white space may be between them.
func mentions(text, name string) int {
	text, name = fold(text), fold(name)
	if name == "" {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	n := 0
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return n
		}
		at += from
		from = at + len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after := text[from:]
		if !unicode.IsDigit(last) {
			after = strings.TrimLeft(after, "0123456789") // a version
		}
		next, _ := utf8.DecodeRuneInString(after)
		if !(ofName(before) && ofName(first)) && !(ofName(next) && ofName(last)) {
			n++
		}
	}
}

// fold puts text in lower case, and one blank for each run of white space.
func fold(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

// ofName reports whether r is of a name, in which hyphens part words. Chinese
// stands beside one without a blank.
func ofName(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.Is(unicode.Han, r)
}
