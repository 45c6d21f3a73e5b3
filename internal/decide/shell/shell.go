// Package shell works out what a command line would do, from a parse.
//
// It fails closed: what is not fully understood is effect.Anything, beside what
// the parse does prove. So a sandbox may take the place of effect.Anything, and
// of nothing else in a set; see Proven. Parts never run anything: they follow
// the script as a shell would, with every branch taken, and ask a World for the
// few facts about files that the words depend on.
//
// What is known of programs is in tables, the files under programs/, whose
// format is described in table.go. An option that a table does not list is not
// understood, and neither is a program without one.
package shell

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Code is what an effect.Anything is on where a command that is understood runs
// code that is not in the command line, such as a Makefile. Any other one stands
// for words that are not understood.
const Code = "code"

const (
	maxLine  = 4 << 10 // bytes of a script that can be understood
	maxSteps = 4000    // statements and commands that are followed
	maxDepth = 16      // scripts within scripts, and statements within statements times 8
	maxParts = 200
)

// A World answers the questions about files that a command line raises. Its
// paths are relative to the workspace or absolute. All of its functions must be
// there but Plain and Nested.
type World struct {
	// Resolve returns where a path leads, through all links: a path as effects
	// have it and whether it is inside. It is "" where nobody can tell.
	Resolve func(path string) (inside string, ok bool)
	// Look returns where a program is, "" if there is none, and whether only the
	// system's owner can have put it there. It is named as the script names it,
	// perhaps by a path.
	Look func(program string) (path string, ok bool)
	// Glob returns what a pattern of * and ? matches, at least.
	Glob func(pattern string) []string
	// Plain reports whether git, in a directory, works on a repository whose own
	// settings name no program. If it is nil, none does.
	Plain func(dir string) bool
	// Nested returns the repositories in the workspace at or below a path, but for its
	// own and for submodules that it has already. It may be nil.
	Nested func(path string) []string
	// POSIX says that the shell is not known to be bash.
	POSIX bool
}

// Parts returns one part for each simple command of line, wrappers opened, one
// for each redirection and assignment, and one for what else a shell would do,
// with its effects. What is not fully understood is effect.Anything. The error
// says why line is no script; the parts then hold what was understood until
// there, and one of effect.Anything.
//
// A git command only reads if all parts do: such a script must run with the
// environment that Environ returns.
func Parts(line string, w World) ([]tool.Part, error) {
	parts, err := follow(line, w, true)
	if !onlyRead(parts) && usesGit(parts) {
		return follow(line, w, false)
	}
	return parts, err
}

// Proven returns what of s holds whatever confines the command: all but
// effect.Anything.
func Proven(s effect.Set) effect.Set {
	var proven effect.Set
	for _, e := range s {
		if e.Kind != effect.Anything {
			proven = append(proven, e)
		}
	}
	return proven
}

func onlyRead(parts []tool.Part) bool {
	for _, p := range parts {
		if !p.Effects.OnlyReads() {
			return false
		}
	}
	return true
}

func follow(line string, w World, harden bool) ([]tool.Part, error) {
	r := &run{World: w, text: line, harden: harden, index: make(map[string]int)}
	if r.POSIX {
		r.lang = syntax.LangPOSIX
	}
	if why := strange(line); why != "" {
		d := r.deed(nil)
		d.unclear("%s", why)
		r.add(line, d)
	}
	_, _, err := r.script(line, start())
	if err != nil {
		d := r.deed(nil)
		d.unclear("%v", err)
		d.hides("what a shell makes of what is no script")
		r.add(line, d)
	}
	return r.parts, err
}

// strange returns what keeps a script from being understood before it is parsed.
func strange(line string) string {
	switch {
	case len(line) > maxLine:
		return fmt.Sprintf("the script is longer than %d bytes", maxLine)
	case !utf8.ValidString(line):
		return "the script is not UTF-8"
	case strings.ContainsFunc(line, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }):
		return "the script has a control character"
	}
	return ""
}

// script follows text in its own words.
func (r *run) script(text string, s state) (ok, fail state, err error) {
	if r.depth += 8; r.depth > 8*maxDepth {
		return s, s, errors.New("scripts are nested too deep")
	}
	outer := r.text
	r.text = text
	defer func() { r.text, r.depth = outer, r.depth-8 }()
	var stmts []*syntax.Stmt
	p := syntax.NewParser(syntax.Variant(r.lang))
	for stmt, e := range p.StmtsSeq(strings.NewReader(text)) {
		switch { // to the end: the parser goes on where it is not heard
		case e != nil:
			err = cmp.Or(err, e)
		case stmt != nil:
			stmts = append(stmts, stmt)
		}
	}
	ok, fail = r.stmts(stmts, s)
	return ok, fail, err
}
