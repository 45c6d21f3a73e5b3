package toolbox

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A symbol is what is to be renamed: a name of the package, or a field or method
// of one of its types.
type symbol struct {
	name   string
	pkg    *types.Package
	object types.Object
	again  map[token.Pos]bool // where it is declared once more, under other build tags
	method bool
	member bool
}

// find returns the symbol of that name.
func (s *fileSet) find(owner, name string, member bool) (*symbol, *tool.Failure) {
	missing := func(what string) (*symbol, *tool.Failure) {
		f := &tool.Failure{Kind: tool.NotFound, Message: fmt.Sprintf("package %s has no %s", s.pkg.Name(), what), Hint: "give a name of the package, or Type.Member for a field or method"}
		for _, n := range s.pkg.Scope().Names() {
			if alike(n, owner) {
				f.Hint = "did you mean " + n + "?"
			}
		}
		return nil, f
	}
	object := s.pkg.Scope().Lookup(owner)
	if object == nil {
		return missing(owner)
	}
	sought := &symbol{name: name, pkg: s.pkg, object: object, member: member}
	if member {
		t, ok := object.(*types.TypeName)
		if !ok {
			return missing("type " + owner)
		}
		if sought.object = memberOf(t, name); sought.object == nil {
			return missing(owner + "." + name)
		}
		_, sought.method = sought.object.(*types.Func)
	}
	sought.again = s.declared(owner, name, member)
	return sought, nil
}

// memberOf returns the field or method that t itself declares, nil if none.
func memberOf(t *types.TypeName, name string) types.Object {
	named, ok := types.Unalias(t.Type()).(*types.Named)
	if !ok {
		return nil
	}
	for m := range named.Methods() {
		if m.Name() == name {
			return m
		}
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Name() == name {
				return f
			}
		}
	case *types.Interface:
		for m := range u.ExplicitMethods() {
			if m.Name() == name {
				return m
			}
		}
	}
	return nil
}

// declared returns where the files declare the symbol: more than once if they
// are for different systems.
func (s *fileSet) declared(owner, name string, member bool) map[token.Pos]bool {
	out := make(map[token.Pos]bool)
	for _, f := range s.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !member && d.Recv == nil && d.Name.Name == name || member && d.Recv != nil && receiverOf(d) == owner && d.Name.Name == name {
					out[d.Name.Pos()] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					for _, id := range specNames(spec) {
						if !member && id.Name == name {
							out[id.Pos()] = true
						}
					}
				}
			}
		}
	}
	return out
}

func specNames(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}

// receiverOf returns the name of the type that d is a method of, "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// is reports whether o is the symbol.
func (m *symbol) is(o types.Object) bool {
	switch o := o.(type) {
	case nil:
		return false
	case *types.Var:
		if o.IsField() && o.Embedded() && !m.member {
			return embeds(o) == m.object
		}
		if m.member {
			return o.Origin() == m.object
		}
	case *types.Func:
		if m.member {
			return o.Origin() == m.object
		}
	}
	return !m.member && o.Parent() == m.pkg.Scope()
}

// embeds returns the name that an embedded field is of.
func embeds(v *types.Var) types.Object {
	t := v.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t := t.(type) {
	case *types.Named:
		return t.Origin().Obj()
	case *types.Alias:
		return t.Origin().Obj()
	}
	return nil
}

// refuse says what keeps m from being renamed, if anything is known to or cannot
// be told.
func (r *renamer) refuse(m *symbol, to string) *tool.Failure {
	cannot := func(hint, format string, a ...any) *tool.Failure {
		return invalid(hint, "cannot rename %s: %s", m.name, fmt.Sprintf(format, a...))
	}
	const byHand = "use Grep and Edit"
	home := r.sets[0]
	if !m.member && (m.name == "main" || m.name == "init" || to == "main" || to == "init") {
		return cannot(byHand, "main and init mean something to Go")
	}
	if slices.Contains(r.linked, m.name) {
		return cannot(byHand, "a comment tells the compiler of it")
	}
	if v, ok := m.object.(*types.Var); ok && m.member && v.Embedded() {
		return cannot("rename the type", "the field has the name of the type that it embeds")
	}
	tests := len(r.sets) > 1 && ast.IsExported(m.name)
	if tests && r.path == "" {
		return cannot(byHand, "no go.mod says how the tests in package %s import it", r.sets[1].pkg.Name())
	}
	for _, s := range r.sets {
		for _, f := range s.files {
			var found *tool.Failure
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if s == home && n.Body == nil && n.Recv == nil && !m.member && n.Name.Name == m.name {
						found = cannot(byHand, "its body is not Go (%s)", r.at(s, n))
					}
				case *ast.InterfaceType:
					if m.method && declares(n, m.name) {
						found = cannot(byHand, "an interface at %s has a method of that name", r.at(s, n))
					}
				case *ast.SelectorExpr:
					if m.member && n.Sel.Name == m.name && s.object(n.Sel) == nil && !s.isPackage(n.X) {
						found = cannot(byHand, "what %s at %s selects from comes from another package, and cannot be told", m.name, r.at(s, n.Sel))
					}
				}
				return found == nil
			})
			if found != nil {
				return found
			}
		}
	}
	return nil
}

func declares(t *ast.InterfaceType, name string) bool {
	for _, f := range t.Methods.List {
		for _, id := range f.Names {
			if id.Name == name {
				return true
			}
		}
	}
	return false
}

func (s *fileSet) isPackage(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = s.object(id).(*types.PkgName)
	return ok
}

// verify makes the renaming on a copy, checks that as a whole, and compares: each
// identifier must stand for what it stood for, and nothing be wrong that was not.
func (r *renamer) verify(m *symbol, hits []map[int]bool, to string) *tool.Failure {
	var self *types.Package
	for k, s := range r.sets {
		after := &fileSet{numbers: s.numbers, sources: slices.Clone(s.sources)}
		for n, places := range s.splices(hits[k], to) {
			after.sources[n] = spliced(after.sources[n], places)
		}
		conflict := func(id *ast.Ident) *tool.Failure {
			return invalid("choose another name", "cannot rename %s to %s: at %s it would mean something else", m.name, to, r.at(s, id))
		}
		if err := after.check(s.pkg.Name(), r.path, self); err != nil || len(after.idents) != len(s.idents) {
			return invalid("choose another name", "cannot rename %s to %s: the result is no Go", m.name, to)
		}
		was, is := s.meanings(m.name, to), after.meanings(m.name, to)
		for n, id := range s.idents {
			if was[n] != is[n] {
				return conflict(id)
			}
		}
		if after.errs > s.errs {
			return invalid("choose another name", "cannot rename %s to %s: the name is taken, or what it would be is wrong", m.name, to)
		}
		if self == nil {
			self = after.pkg
		}
	}
	return nil
}

// meanings says of each identifier what it stands for, in words that are the same
// whether the symbol has its old name or the new one.
func (s *fileSet) meanings(old, to string) []string {
	number := make(map[token.Pos]int, len(s.idents))
	for n, id := range s.idents {
		number[id.Pos()] = n
	}
	out := make([]string, len(s.idents))
	for n, id := range s.idents {
		switch o := s.object(id).(type) {
		case nil:
			out[n] = "?"
		case *types.PkgName:
			out[n] = "package " + o.Imported().Path()
		default:
			if at, ok := number[o.Pos()]; ok && o.Pkg() == s.pkg {
				out[n] = fmt.Sprint(at)
			} else if o.Pkg() == nil {
				out[n] = "universe " + o.Name()
			} else {
				out[n] = o.Pkg().Path() + "." + o.Name()
				if o.Name() == to || o.Name() == old {
					out[n] = o.Pkg().Path() + ".it"
				}
			}
		}
	}
	return out
}
