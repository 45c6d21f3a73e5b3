package toolbox

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// A renamer knows the Go files of a directory. They are checked from source
// alone: what a name of the package stands for is known for sure, what comes from
// other packages is not known at all.
type renamer struct {
	paths  []string
	sets   []*fileSet // the package, then its external tests, if they can be told
	path   string     // by which it is imported
	notes  []string
	linked []string // comments that name symbols to the compiler
}

// A fileSet is the files of one package, checked.
type fileSet struct {
	fset    *token.FileSet
	files   []*ast.File
	numbers []int // of the files, among all of the directory
	pkg     *types.Package
	info    *types.Info
	idents  []*ast.Ident // all of them, in order
	errs    int
	sources []string
}

// load parses and checks the package that the file at path is in.
func load(texts []workspace.Text, path, importPath string) (*renamer, *tool.Failure) {
	r := &renamer{path: importPath}
	sources := make([]string, len(texts))
	names := make([]string, len(texts))
	home := ""
	for n, t := range texts {
		r.paths = append(r.paths, t.Path)
		sources[n] = t.Content
		file, err := parser.ParseFile(token.NewFileSet(), t.Path, t.Content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, invalid("mend it first", "%s cannot be parsed: %s", t.Path, oneLine(err.Error()))
		}
		names[n] = file.Name.Name
		if t.Path == path {
			home = names[n]
		}
		for _, g := range file.Comments {
			for _, c := range g.List {
				if strings.HasPrefix(c.Text, "//go:linkname ") || strings.HasPrefix(c.Text, "//export ") || strings.HasPrefix(c.Text, "//go:wasmexport ") {
					r.linked = append(r.linked, strings.Fields(c.Text)[1:]...)
				}
			}
		}
	}
	for _, name := range []string{home, home + "_test"} {
		s := &fileSet{}
		for n := range texts {
			if names[n] == name {
				s.numbers = append(s.numbers, n)
				s.sources = append(s.sources, sources[n])
			}
		}
		if len(s.numbers) == 0 {
			continue
		}
		var self *types.Package
		if len(r.sets) > 0 {
			self = r.sets[0].pkg
		}
		if err := s.check(name, r.path, self); err != nil {
			return nil, invalid("mend it first", "%s", err.Error())
		}
		r.sets = append(r.sets, s)
	}
	return r, nil
}

// An only importer knows one package.
type only struct {
	path string
	pkg  *types.Package
}

var errNotLooked = errors.New("other packages are not looked at")

func (o only) Import(path string) (*types.Package, error) {
	if o.pkg != nil && path == o.path && path != "" {
		return o.pkg, nil
	}
	return nil, errNotLooked
}

// check parses the sources of s and finds out what each name stands for.
func (s *fileSet) check(name, path string, self *types.Package) error {
	s.fset, s.files, s.idents, s.errs = token.NewFileSet(), nil, nil, 0
	for n, source := range s.sources {
		file, err := parser.ParseFile(s.fset, fmt.Sprint(n), source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.files = append(s.files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				s.idents = append(s.idents, id)
			}
			return true
		})
	}
	s.info = &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{
		Importer: only{path, self}, FakeImportC: true, Error: func(error) { s.errs++ },
	}
	if self != nil {
		path += "_test"
	}
	s.pkg, _ = config.Check(path, s.fset, s.files, s.info) // its errors are counted
	if s.pkg == nil {
		return fmt.Errorf("package %s cannot be checked", name)
	}
	return nil
}

// object returns what an identifier stands for, nil if that is not known.
func (s *fileSet) object(id *ast.Ident) types.Object {
	if o := s.info.Uses[id]; o != nil {
		return o
	}
	return s.info.Defs[id]
}

// at returns where a node is, as path:line.
func (r *renamer) at(s *fileSet, n ast.Node) string {
	p := s.fset.Position(n.Pos())
	number := 0
	fmt.Sscan(p.Filename, &number)
	return fmt.Sprintf("%s:%d", r.paths[s.numbers[number]], p.Line)
}

// rename returns the splices of each file that give symbol the name to, or says
// why that is not sure to keep the meaning of everything else.
func (r *renamer) rename(symbol, to string) (map[int][]splice, *tool.Failure) {
	owner, name, member := strings.Cut(symbol, ".")
	if !member {
		name = owner
	}
	if name == to {
		return nil, &tool.Failure{Kind: tool.NoChange, Message: "it has that name", Hint: "send what is to be different"}
	}
	home := r.sets[0]
	sought, failure := home.find(owner, name, member)
	if failure != nil {
		return nil, failure
	}
	if failure := r.refuse(sought, to); failure != nil {
		return nil, failure
	}
	hits := make([]map[int]bool, len(r.sets)) // numbers of identifiers
	for k, s := range r.sets {
		hits[k] = make(map[int]bool)
		for n, id := range s.idents {
			if id.Name == name && sought.is(s.object(id)) {
				hits[k][n] = true
			}
		}
	}
	for n, id := range home.idents { // what other build tags declare once more
		if id.Name == name && sought.again[id.Pos()] {
			hits[0][n] = true
		}
	}
	if failure := r.verify(sought, hits, to); failure != nil {
		return nil, failure
	}
	out := make(map[int][]splice)
	for k, s := range r.sets {
		for n, places := range s.splices(hits[k], to) {
			out[s.numbers[n]] = places
		}
	}
	r.note(sought, name)
	return out, nil
}

// splices returns what gives the identifiers of hits a name, by file of s.
func (s *fileSet) splices(hits map[int]bool, to string) map[int][]splice {
	out := make(map[int][]splice)
	for n, id := range s.idents {
		if !hits[n] {
			continue
		}
		f := s.fset.File(id.Pos())
		number := 0
		fmt.Sscan(f.Name(), &number)
		at := f.Offset(id.Pos())
		out[number] = append(out[number], splice{at, at + len(id.Name), to})
	}
	return out
}

// note adds what the model should know of a renaming that is done.
func (r *renamer) note(sought *symbol, name string) {
	if ast.IsExported(name) {
		r.notes = append(r.notes, "it is exported: other packages, interfaces there, and what looks names up at run time are not changed")
	}
	mentions := 0
	for _, s := range r.sets {
		for _, f := range s.files {
			for _, g := range f.Comments {
				for _, word := range strings.FieldsFunc(g.Text(), func(c rune) bool { return !isNameRune(c) }) {
					if word == name {
						mentions++
					}
				}
			}
		}
	}
	if mentions > 0 {
		r.notes = append(r.notes, fmt.Sprintf("comments, which are not changed, say %s %d times", name, mentions))
	}
}

func isNameRune(c rune) bool { return c == '_' || token.IsIdentifier("x"+string(c)) }
