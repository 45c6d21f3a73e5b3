package toolbox

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed write.md
var writeDescription string

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Write returns the tool that makes a file, or replaces all of one. Like Edit, it
// merges nothing when it is made alone.
func Write(w *workspace.Workspace) tool.Tool { return (&changer{w: w}).write() }

func (f *changer) write() tool.Tool {
	return settling{tool.New(changes("Write", writeDescription), func(ctx context.Context, args writeArgs, in tool.Input) (*tool.Action, error) {
		return f.action(ctx, in, func(ctx context.Context, settle settler) (change, error) {
			return f.written(ctx, args, in.Seen, settle)
		})
	}), f.w}
}

// written is what makes the file as args want it.
func (f *changer) written(ctx context.Context, args writeArgs, seen map[string]string, settle settler) (change, error) {
	if strings.Contains(args.Content, "\x00") {
		return change{}, noText("content")
	}
	at, err := f.name(args.Path)
	if err != nil {
		return change{}, failed(ctx, f.w, args.Path, err)
	}
	if _, err := f.w.Stat(at); errors.Is(err, fs.ErrNotExist) {
		return change{verb: "Create " + at, done: "created " + at, revisions: []revision{created(at, args.Content)}}, nil
	}
	t, err := f.target(ctx, args.Path, seen)
	if err != nil {
		return change{}, err
	}
	var splices []splice
	for _, r := range edit.Between([]byte(t.base), []byte(strings.ReplaceAll(args.Content, "\r\n", "\n"))) {
		splices = append(splices, splice{r.Start, r.End, string(r.New)})
	}
	v, err := t.revise(splices, settle)
	if err != nil {
		return change{}, failed(ctx, f.w, args.Path, err)
	}
	if len(v.Regions) == 0 {
		return change{}, unchanged(t, "the file already holds this content")
	}
	return change{verb: "Write " + t.Path, done: "wrote " + t.Path, revisions: []revision{v}}, nil
}

// name returns the canonical path of a file that may be new. What ends in a slash
// names none.
func (f *changer) name(path string) (string, error) {
	if strings.HasSuffix(path, "/") {
		return "", invalid("name a file in it; directories are made for their files", "%s is the name of a directory", path)
	}
	return f.w.Resolve(path)
}

// created makes a file that does not exist.
func created(at, content string) revision {
	v := revision{Intent: edit.Intent{Path: at}, after: content, known: true}
	if content != "" {
		v.Regions = []edit.Region{{Len: len(content), New: []byte(content)}}
	}
	return v
}
