package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-agent/belay/internal/contract/effect"
)

// ordinary reports whether a variable of that name means nothing to a shell or
// to what it starts.
func ordinary(name string) bool {
	switch name {
	case "", "histchars", "auto_resume":
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && name[0] != '_' && !strings.HasSuffix(name, "proxy")
}

// simple follows a command with its assignments.
func (r *run) simple(x *syntax.CallExpr, s state) (ok, fail state) {
	r.steps++
	before := s
	for _, a := range x.Assigns {
		if a.Name.Value == "IFS" && len(x.Args) > 0 && x.Args[0].Lit() == "read" && plainValue(a) {
			continue // how read splits a line
		}
		s = r.assign(a, s, len(x.Args) > 0)
	}
	if len(x.Args) == 0 {
		return s, s
	}
	d := r.deed(&before)
	args := r.words(x.Args, d)
	if len(args) == 0 {
		d.unclear("the command is empty")
		r.add(r.source(x.Args[0].Pos(), x.Args[len(x.Args)-1].End()), d)
		return before, before
	}
	return r.call(args, d)
}

// plainValue reports whether a variable is set to what is written there.
func plainValue(a *syntax.Assign) bool {
	switch {
	case a.Array != nil || a.Index != nil || a.Append || a.Naked:
		return false
	case a.Value == nil:
		return true
	case a.Value.Lit() != "":
		return strings.Trim(a.Value.Lit(), ":,;|=-_./") == ""
	}
	q, ok := a.Value.Parts[0].(*syntax.SglQuoted)
	return ok && !q.Dollar && len(a.Value.Parts) == 1
}

// assign follows one assignment. Before a command it is for that command only.
func (r *run) assign(a *syntax.Assign, s state, before bool) state {
	name := a.Name.Value
	d := r.deed(&s)
	v := value{known: true}
	if a.Value != nil {
		v = r.text1(a.Value, d)
	}
	switch {
	case a.Array != nil:
		d.unclear("an array is not followed")
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				r.word(e.Value, d)
			}
		}
		v = value{}
	case a.Index != nil || a.Append || a.Naked:
		d.unclear("this assignment is not followed")
		v = value{}
	case before && people(name) && v.known:
	case before && (name == "LANG" || name == "LC_ALL") && v.known && strings.Trim(v.text, localeLetters) == "":
	case before:
		d.unclear("%s may change what the command does", name)
	case !ordinary(name):
		d.unclear("%s may change what commands do", name)
	}
	d.steered(name, v)
	if len(d.set) > 0 || d.unseen != "" {
		r.add(r.source(a.Pos(), a.End()), d)
	}
	if before {
		return s
	}
	return s.set(name, v)
}

// people reports whether a variable only says who did something in git, and when.
func people(name string) bool {
	switch name {
	case "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE":
		return true
	}
	return false
}

const localeLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-@"

// text1 expands a word that is not split into fields, as that of an assignment.
func (r *run) text1(w *syntax.Word, d *deed) value {
	x := expansion{r: r, d: d, known: true}
	for i, part := range w.Parts {
		if p, ok := part.(*syntax.ParamExp); ok {
			x.param(p, true)
			continue
		}
		x.part(part, i == 0)
	}
	if x.pipe || strings.Contains(x.text.String(), "{") && !x.known {
		return value{}
	}
	return value{x.text.String(), x.known}
}

// redirect follows one redirection.
func (r *run) redirect(x *syntax.Redirect, s state) {
	d := r.deed(&s)
	name := r.source(x.Pos(), x.Word.End())
	switch x.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if x.Hdoc != nil {
			e := expansion{r: r, d: d, known: true}
			e.double(&syntax.DblQuoted{Parts: x.Hdoc.Parts})
		}
	case syntax.WordHdoc:
		r.text1(x.Word, d)
	case syntax.DplIn, syntax.DplOut:
		r.duplicate(x, d)
	default:
		r.file(x, d)
	}
	if x.N != nil && (len(x.N.Value) != 1 || x.N.Value[0] > '2' || x.N.Value[0] < '0') {
		d.unclear("descriptor %s is not followed", x.N.Value)
	}
	if len(d.set) > 0 {
		r.add(name, d)
	}
}

// duplicate follows >&1 and the like; >&file is a file.
func (r *run) duplicate(x *syntax.Redirect, d *deed) {
	switch x.Word.Lit() {
	case "1", "2":
		if x.Op == syntax.DplOut {
			return
		}
	}
	if lit := x.Word.Lit(); x.Op == syntax.DplOut && strings.Trim(lit, "0123456789-") != "" || lit == "" {
		r.file(x, d)
		return
	}
	d.unclear("this descriptor is not followed")
}

func (r *run) file(x *syntax.Redirect, d *deed) {
	args := r.word(x.Word, d)
	if len(args) != 1 {
		d.unclear("a redirection to several words")
		d.add(effect.Effect{Kind: effect.Write})
		return
	}
	a := args[0]
	switch x.Op {
	case syntax.RdrIn:
		d.path(effect.Read, a, false)
	case syntax.RdrInOut:
		d.path(effect.Read, a, false)
		d.path(effect.Write, a, false)
	default:
		d.path(effect.Write, a, false)
	}
}
