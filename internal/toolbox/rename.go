package toolbox

import (
	"context"
	_ "embed"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed rename.md
var renameDescription string

type renameArgs struct {
	Path   string `json:"path"`
	Symbol string `json:"symbol"`
	To     string `json:"to" jsonschema:"new name, without Type."`
}

// How much of a directory Rename looks at.
const (
	maxGoFiles = 1000
	maxGoBytes = 16 << 20
)

// Rename returns the tool that renames a Go symbol within its package.
func Rename(w *workspace.Workspace) tool.Tool { return (&changer{w: w}).rename() }

func (f *changer) rename() tool.Tool {
	return settling{tool.New(changes("Rename", renameDescription), func(ctx context.Context, args renameArgs, in tool.Input) (*tool.Action, error) {
		return f.action(ctx, in, func(ctx context.Context, settle settler) (change, error) {
			return f.renamed(ctx, args, in.Seen, settle)
		})
	}), f.w}
}

// renamed is what the renaming comes to. Of the files only the one at path must
// be known to the model: what it does not know it does not know afterwards.
func (f *changer) renamed(ctx context.Context, args renameArgs, seen map[string]string, settle settler) (change, error) {
	if !token.IsIdentifier(args.To) || args.To == "_" {
		return change{}, invalid("give a Go identifier", "%q is not a name", args.To)
	}
	t, err := f.target(ctx, args.Path, seen)
	if err != nil {
		return change{}, err
	}
	if path.Ext(t.Path) != ".go" {
		return change{}, invalid("use Edit", "only Go symbols can be renamed, and %s is no Go file", t.Path)
	}
	dir := path.Dir(t.Path)
	texts, err := f.goFiles(ctx, dir)
	if err != nil {
		return change{}, err
	}
	r, failure := load(texts, t.Path, f.importPath(dir))
	if failure != nil {
		return change{}, failure
	}
	places, failure := r.rename(args.Symbol, args.To)
	if failure != nil {
		return change{}, failure
	}
	c := change{many: true, reads: []string{dir}, notes: r.notes}
	for n, text := range texts {
		if len(places[n]) == 0 {
			continue
		}
		known := seen[text.Path] == text.Digest
		v, err := target{Text: text, known: text.Digest, base: text.Content}.revise(places[n], settle)
		if err != nil {
			return change{}, failed(ctx, f.w, text.Path, err)
		}
		v.known = known
		c.revisions = append(c.revisions, v)
		c.replacements += len(places[n])
	}
	c.verb = fmt.Sprintf("Rename %s to %s in %s", args.Symbol, args.To, names(c.revisions))
	c.done = fmt.Sprintf("renamed %s to %s in %d places of %s", args.Symbol, args.To, c.replacements, names(c.revisions))
	return c, nil
}

// goFiles reads the Go files of a directory that the go command looks at.
func (f *changer) goFiles(ctx context.Context, dir string) ([]workspace.Text, error) {
	entries, err := f.w.List(dir)
	if err != nil {
		return nil, failed(ctx, f.w, dir, err)
	}
	var out []workspace.Text
	size := 0
	for _, e := range entries {
		name := path.Base(e.Path)
		if path.Ext(name) != ".go" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || e.Type.IsDir() {
			continue
		}
		text, err := f.w.Read(e.Path)
		if err != nil {
			return nil, failed(ctx, f.w, e.Path, err)
		}
		if slices.ContainsFunc(out, func(t workspace.Text) bool { return t.Path == text.Path }) {
			continue // by a link
		}
		size += len(text.Content)
		if out = append(out, text); len(out) > maxGoFiles || size > maxGoBytes {
			return nil, &tool.Failure{Kind: tool.TooLarge, Message: dir + " has too much Go in it to rename a symbol", Hint: "use Grep and Edit"}
		}
	}
	return out, nil
}

// importPath returns the path by which the package in dir is imported, "" where
// no go.mod of the workspace says.
func (f *changer) importPath(dir string) string {
	for at, below := dir, ""; ; at = path.Dir(at) {
		if text, err := f.w.Read(path.Join(at, "go.mod")); err == nil {
			for line := range strings.Lines(text.Content) {
				if rest, ok := strings.CutPrefix(line, "module "); ok {
					name, _, _ := strings.Cut(rest, "//")
					return path.Join(strings.Trim(strings.TrimSpace(name), `"`), below)
				}
			}
			return ""
		}
		if at == "." || at == "/" {
			return ""
		}
		below = path.Join(path.Base(at), below)
	}
}
