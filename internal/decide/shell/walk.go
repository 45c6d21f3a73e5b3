package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A run follows one script, taking every branch.
type run struct {
	World
	lang   syntax.LangVariant
	harden bool   // git has the environment of the profile Hardened
	text   string // that is followed now
	parts  []tool.Part
	index  map[string]int // of parts, by name
	steps  int
	depth  int
	alias  map[string]string // what the script has other names stand for, as a shell reads it
	loops  []*state          // where break and continue lead, of each loop
	in     string            // what commands read, as far as it is written out
	out    *strings.Builder  // what they hand on through a pipe, so far; nil is nothing
}

// maxTurns is how often a loop is followed before its end is given up.
const maxTurns = 40

// stmts follows a list and returns what is known after it where its last
// statement succeeds, and where that fails.
func (r *run) stmts(list []*syntax.Stmt, s state) (ok, fail state) {
	ok, fail = s, s
	for i, stmt := range list {
		if i > 0 {
			s = ok.or(fail)
		}
		ok, fail = r.stmt(stmt, s)
	}
	return ok, fail
}

// after is stmts for whom success and failure are one.
func (r *run) after(list []*syntax.Stmt, s state) state {
	ok, fail := r.stmts(list, s)
	return ok.or(fail)
}

func (r *run) stmt(x *syntax.Stmt, s state) (ok, fail state) {
	r.steps++
	if r.depth++; r.depth > 8*maxDepth || r.steps > maxSteps {
		r.odd(x, "the script is too deep or too long to be followed", s)
		d := r.deed(&s)
		d.hides("what a script of such depth or length runs")
		r.add(r.source(x.Pos(), x.End()), d)
		r.depth--
		return state{}, state{}
	}
	in := r.in
	defer func() { r.depth--; r.in = in }()
	for _, redirect := range x.Redirs {
		r.redirect(redirect, s)
		if text, ok := r.document(redirect, s); ok {
			r.in = text
		}
	}
	if x.Background || x.Coprocess || x.Disown {
		d := r.deed(&s)
		d.process("")
		r.add(r.source(x.Pos(), x.End()), d)
		if x.Cmd != nil {
			r.command(x.Cmd, s)
		}
		return s, s
	}
	if x.Cmd == nil {
		return s, s
	}
	ok, fail = r.command(x.Cmd, s)
	if x.Negated {
		return fail, ok
	}
	return ok, fail
}

func (r *run) command(x syntax.Command, s state) (ok, fail state) {
	switch x := x.(type) {
	case *syntax.CallExpr:
		return r.simple(x, s)
	case *syntax.BinaryCmd:
		return r.binary(x, s)
	case *syntax.Subshell:
		r.stmts(x.Stmts, s)
		return s, s
	case *syntax.Block:
		return r.stmts(x.Stmts, s)
	case *syntax.IfClause:
		end := r.branch(x, s)
		return end, end
	case *syntax.WhileClause:
		end := r.while(x, s)
		return end, end
	case *syntax.ForClause:
		end := r.each(x, s)
		return end, end
	case *syntax.TimeClause:
		if x.Stmt == nil {
			return s, s
		}
		return r.stmt(x.Stmt, s)
	}
	r.odd(x, "this construct is not followed", s)
	r.declared(x, s)
	if _, only := x.(*syntax.DeclClause); only {
		s = state{dirs: s.dirs}
		return s, s
	}
	return state{}, state{}
}

func (r *run) binary(x *syntax.BinaryCmd, s state) (ok, fail state) {
	switch x.Op {
	case syntax.AndStmt:
		ok, fail = r.stmt(x.X, s)
		then, not := r.stmt(x.Y, ok)
		return then, fail.or(not)
	case syntax.OrStmt:
		ok, fail = r.stmt(x.X, s)
		then, not := r.stmt(x.Y, fail)
		return ok.or(then), not
	}
	in, out := r.in, r.out // a pipe: each side is a shell of its own
	r.out = new(strings.Builder)
	r.stmt(x.X, s)
	r.in, r.out = r.out.String(), out
	r.stmt(x.Y, s)
	r.in = in
	return s, s
}

func (r *run) branch(x *syntax.IfClause, s state) state {
	if len(x.Cond) == 0 { // else
		return r.after(x.Then, s)
	}
	ok, fail := r.stmts(x.Cond, s)
	end := r.after(x.Then, ok)
	if x.Else == nil {
		return end.or(fail)
	}
	return end.or(r.branch(x.Else, fail))
}

// looping follows body, from s, until nothing new is known before it. The state
// that it returns holds at any end of the loop.
func (r *run) looping(s state, body func(state) state) state {
	for range maxTurns {
		next := s.or(r.turn(s, body))
		if next.equal(s) {
			return s
		}
		s = next
	}
	return state{}
}

// turn follows body once, and joins what holds where it is left early.
func (r *run) turn(s state, body func(state) state) state {
	if r.steps > maxSteps {
		return state{}
	}
	left := s
	r.loops = append(r.loops, &left)
	end := body(s)
	r.loops = r.loops[:len(r.loops)-1]
	return end.or(left)
}

func (r *run) while(x *syntax.WhileClause, s state) state {
	return r.looping(s, func(s state) state {
		ok, fail := r.stmts(x.Cond, s)
		if x.Until {
			ok, fail = fail, ok
		}
		return fail.or(r.after(x.Do, ok))
	})
}

// each follows a for loop over words that are known, value by value.
func (r *run) each(x *syntax.ForClause, s state) state {
	words, iterates := x.Loop.(*syntax.WordIter)
	if !iterates || x.Select || !words.InPos.IsValid() || !ordinary(words.Name.Value) {
		r.odd(x, "this loop is not followed", s)
		return state{}
	}
	d := r.deed(&s)
	items := r.words(words.Items, d)
	if len(d.set) > 0 {
		r.add(r.source(x.Pos(), x.DoPos), d)
	}
	name := words.Name.Value
	body := func(s state) state { return r.after(x.Do, s) }
	known := len(items) <= maxTurns
	for _, item := range items {
		known = known && item.known
	}
	if !known {
		return r.looping(s, func(s state) state { return r.turn(s.set(name, value{}), body) })
	}
	end := s
	for _, item := range items {
		s = r.turn(s.set(name, value{item.text, true}), body)
		end = end.or(s)
	}
	return end
}

// odd notes a construct that is not followed, and what the commands in it do.
func (r *run) odd(x syntax.Node, why string, s state) {
	d := r.deed(&s)
	d.unclear("%s", why)
	r.add(r.source(x.Pos(), x.End()), d)
	if r.depth > 8*maxDepth || r.steps > maxSteps {
		return
	}
	if _, later := x.(*syntax.FuncDecl); later {
		s = state{}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok && n != x {
			r.stmt(stmt, s)
			return false
		}
		return true
	})
}

// source returns the text of a node.
func (r *run) source(from, to syntax.Pos) string {
	a, b := int(from.Offset()), int(to.Offset())
	if a > b || b > len(r.text) {
		return r.text
	}
	return strings.TrimSpace(r.text[a:b])
}

// add adds what d does to the part of that name.
func (r *run) add(name string, d *deed) {
	i, ok := r.index[name]
	if !ok && len(r.parts) >= maxParts {
		name = fmt.Sprintf("more than %d commands", maxParts)
		d.unclear("%s", name)
		d.hides("what a line of so many commands runs")
		if i, ok = r.index[name]; !ok {
			r.index[name] = len(r.parts)
			r.parts = append(r.parts, tool.Part{Name: name})
			i, ok = len(r.parts)-1, true
		}
	}
	if !ok {
		i = len(r.parts)
		r.index[name] = i
		r.parts = append(r.parts, tool.Part{Name: name})
	}
	p := &r.parts[i]
	for _, e := range d.set {
		if !has(p.Effects, e) {
			p.Effects = append(p.Effects, e)
		}
	}
	if p.Why == "" {
		p.Why = d.why
	}
	if p.Unseen == "" {
		p.Unseen = d.unseen
	}
}
