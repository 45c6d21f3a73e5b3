package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// S07: commands and turns wait by the monotonic clock, which nobody sets. A time
// that time.Now returned loses it in a few ways: none of them is used in these
// packages but for what is shown.
func TestBug_S07_NothingWaitsForTheWallClock(t *testing.T) {
	losing := []string{"Round", "Truncate", "UTC", "Local", "In", "AddDate", "Unix", "UnixMilli", "UnixMicro", "UnixNano"}
	var found []string
	for _, dir := range []string{"world/process", "agent"} {
		paths, err := filepath.Glob(filepath.FromSlash(dir) + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				after, ok := n.(*ast.SelectorExpr) // time.Now().UTC
				if !ok || !slices.Contains(losing, after.Sel.Name) {
					return true
				}
				if call, ok := after.X.(*ast.CallExpr); ok && named(call.Fun, "Now", "Add") {
					found = append(found, filepath.ToSlash(path)+" "+after.Sel.Name)
				}
				return true
			})
		}
	}
	shown := []string{"world/process/spool.go UTC"} // in the record of a start
	if !slices.Equal(found, shown) {
		t.Errorf("times lose their monotonic reading in %q; expected only %q", found, shown)
	}
}

func named(e ast.Expr, names ...string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && slices.Contains(names, s.Sel.Name)
}
