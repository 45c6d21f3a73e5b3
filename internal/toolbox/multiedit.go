package toolbox

import (
	"context"
	_ "embed"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed multiedit.md
var multiEditDescription string

type multiEditArgs struct {
	Path  string        `json:"path"`
	Edits []replacement `json:"edits"`
}

// MultiEdit returns the tool that makes several replacements in one file, all
// or none. Like Edit, it merges nothing when it is made alone.
func MultiEdit(w *workspace.Workspace) tool.Tool { return (&changer{w: w}).multiEdit() }

func (f *changer) multiEdit() tool.Tool {
	return settling{tool.New(changes("MultiEdit", multiEditDescription), func(ctx context.Context, args multiEditArgs, in tool.Input) (*tool.Action, error) {
		if len(args.Edits) == 0 {
			return nil, invalid("send at least one edit", "arguments of MultiEdit: there are no edits")
		}
		return f.editing(ctx, args.Path, args.Edits, in)
	}), f.w}
}
