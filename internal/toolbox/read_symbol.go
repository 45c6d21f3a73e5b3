package toolbox

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A span is the lines of a declaration, its comment included.
type span struct{ first, last int }

// find sets args to the lines of the symbol that they ask for.
func (a *readArgs) find(at, content string) error {
	if path.Ext(at) != ".go" {
		return invalid("leave symbol out and give offset and limit: symbols are known of Go (.go) only",
			"read %s: no symbols are known of %s files", at, cmpExt(at))
	}
	if a.Offset != 0 || a.Column != 0 {
		return invalid("leave offset and column out", "read %s: a symbol is asked for, and a line too", at)
	}
	spans := declared(content)
	found := spans[strings.NewReplacer("(", "", ")", "", "*", "").Replace(a.Symbol)]
	switch len(found) {
	case 0:
		return &tool.Failure{Kind: tool.NotFound, Message: fmt.Sprintf("no %s is declared in %s", a.Symbol, at), Hint: nearSymbols(a.Symbol, spans)}
	case 1:
	default:
		var lines []string
		for _, s := range found {
			lines = append(lines, fmt.Sprint(s.first))
		}
		return &tool.Failure{
			Kind: tool.Ambiguous, Message: fmt.Sprintf("%s is declared %d times in %s", a.Symbol, len(found), at),
			Hint: "give an offset instead: lines " + strings.Join(lines, ", "),
		}
	}
	a.Offset = found[0].first
	if lines := found[0].last - found[0].first + 1; a.Limit == 0 || a.Limit > lines {
		a.Limit = lines
	}
	return nil
}

func cmpExt(at string) string {
	if ext := path.Ext(at); ext != "" {
		return ext
	}
	return "such"
}

// declared returns what a Go file declares at its top, by name: a function, a
// type, a constant, a variable, and a method as Type.Method. As much as parses
// of a broken file counts.
func declared(content string) map[string][]span {
	files := token.NewFileSet()
	f, _ := parser.ParseFile(files, "", content, parser.ParseComments|parser.SkipObjectResolution)
	out := make(map[string][]span)
	if f == nil {
		return out
	}
	add := func(name string, doc *ast.CommentGroup, n ast.Node) {
		from := n.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		first := files.Position(from).Line
		out[name] = append(out[name], span{first, max(first, files.Position(n.End()).Line)})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiver(d)+d.Name.Name, d.Doc, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				addSpec(add, d, s)
			}
		}
	}
	return out
}

// addSpec adds what one line of a declaration declares. One that is not in
// parentheses is shown with its keyword and comment.
func addSpec(add func(string, *ast.CommentGroup, ast.Node), d *ast.GenDecl, s ast.Spec) {
	node, doc := ast.Node(d), d.Doc
	if d.Lparen.IsValid() {
		node, doc = s, nil
		switch s := s.(type) {
		case *ast.TypeSpec:
			doc = s.Doc
		case *ast.ValueSpec:
			doc = s.Doc
		}
	}
	for _, n := range specNames(s) {
		add(n.Name, doc, node)
	}
}

// receiver returns the name of a method's type and a dot, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if owner := receiverOf(d); owner != "" {
		return owner + "."
	}
	return ""
}

// nearSymbols says which symbols one that is not declared may have been meant to be.
func nearSymbols(name string, spans map[string][]span) string {
	var names, near []string
	for n := range spans {
		names = append(names, n)
		_, method, _ := strings.Cut(n, ".")
		if strings.EqualFold(method, name) || alike(n, name) {
			near = append(near, n)
		}
	}
	if slices.Sort(near); len(near) > 0 {
		return "did you mean " + strings.Join(near[:min(len(near), maxNear)], " or ") + "?"
	}
	if slices.Sort(names); len(names) == 0 {
		return "it declares nothing, or does not parse"
	}
	const some = 20
	more := ""
	if len(names) > some {
		names, more = names[:some], " ..."
	}
	return "it declares " + strings.Join(names, ", ") + more
}
