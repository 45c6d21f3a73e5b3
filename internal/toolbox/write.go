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

// Write returns the tool that makes a file, or replaces all of one.
func Write(w *workspace.Workspace) tool.Tool {
	return settling(w, tool.New(changes("Write", writeDescription), func(ctx context.Context, args writeArgs, in tool.Input) (*tool.Action, error) {
		i, err := written(ctx, w, args, in.Seen)
		if err != nil {
			return nil, err
		}
		c := changed{verb: "Write", done: "wrote"}
		if i.Base == "" {
			c = changed{verb: "Create", done: "created"}
		}
		return changing(ctx, w, i, c)
	}))
}

// written is what makes the file as args want it.
func written(ctx context.Context, w *workspace.Workspace, args writeArgs, seen map[string]string) (edit.Intent, error) {
	if strings.Contains(args.Content, "\x00") {
		return edit.Intent{}, noText("content")
	}
	at, err := w.Resolve(args.Path)
	if err != nil {
		return edit.Intent{}, failed(ctx, w, args.Path, err)
	}
	if _, err := w.Stat(at); errors.Is(err, fs.ErrNotExist) {
		return created(at, args.Content), nil
	}
	text, err := known(ctx, w, args.Path, seen)
	if err != nil {
		return edit.Intent{}, err
	}
	regions, err := text.Regions(args.Content)
	if err != nil {
		return edit.Intent{}, failed(ctx, w, args.Path, err)
	}
	if len(regions) == 0 {
		return edit.Intent{}, &tool.Failure{
			Kind: tool.NoChange, Message: "the file already holds this content",
			Hint: "go on",
		}
	}
	return edit.Intent{Path: text.Path, Base: text.Digest, Regions: regions}, nil
}

// created makes a file that does not exist.
func created(at, content string) edit.Intent {
	i := edit.Intent{Path: at}
	if content != "" {
		i.Regions = []edit.Region{{Len: len(content), New: []byte(content)}}
	}
	return i
}
