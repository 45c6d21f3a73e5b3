// Package toolbox holds the built-in tools.
//
// Each tool is one file of code and one description beside it, which the model
// reads.
package toolbox

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/repo"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// Options are what the tools work with. None may be nil.
type Options struct {
	Workspace *workspace.Workspace
	Host      *process.Host // of commands
	Bash      BashOptions
	Withheld  func(base, path string) bool // files that Read lets pass less easily than base; may be nil
	Parting   func(path string) bool       // whether a rule lets a file be parted from its other names, hard links; may be nil
	Patch     bool                         // changes are sent as patches: Patch is there in the place of Edit and MultiEdit
}

// All returns the built-in tools, in the order in which the model sees them.
func All(o Options) []tool.Tool {
	o.Bash.World = World(o.Workspace, o.Bash)
	f := &changer{w: o.Workspace, shown: new(shown), parting: o.Parting}
	tools := []tool.Tool{
		LS(o.Workspace),
		Glob(o.Workspace),
		Grep(o.Workspace, o.Withheld, &repo.Ripgrep{Host: o.Host, Env: o.Bash.Env}),
		shower{Read(o.Workspace), o.Workspace, f.shown},
		f.write(),
		f.edit(),
		f.multiEdit(),
		f.rename(),
		Bash(o.Host, o.Bash),
		Process(o.Host),
		Test(o.Workspace, o.Host, o.Bash),
		Todo(),
	}
	if o.Patch {
		n := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == "Edit" })
		tools = slices.Replace(tools, n, n+2, f.patch())
	}
	return tools
}

// patience is how long a call on files may take.
const patience = 30 * time.Second

// looks is the contract that all tools share which only read files.
func looks(name, description string) tool.Spec {
	return tool.Spec{
		Name: name, Version: 1, Description: strings.TrimSpace(description),
		Effects: []effect.Kind{effect.Read}, Idempotency: tool.ReadOnly,
		Risk: tool.Low, Timeout: patience,
	}
}

// changes is the contract that all tools share which change a file.
func changes(name, description string) tool.Spec {
	return tool.Spec{
		Name: name, Version: 1, Description: strings.TrimSpace(description),
		Effects: []effect.Kind{effect.Read, effect.Write}, Idempotency: tool.CompareAndSwap,
		Risk: tool.Medium, Timeout: patience,
	}
}

// looking is the action of a tool that only reads path, and below it if it is a
// tree.
func looking(summary, path string, tree bool, do func(context.Context) (tool.Result, error)) *tool.Action {
	return &tool.Action{
		Parts:   []tool.Part{{Name: path, Effects: effect.Set{{Kind: effect.Read, On: path, Tree: tree}}}},
		Summary: oneLine(summary),
		Do: func(ctx context.Context, _ tool.Env) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return ended(err), nil
			}
			return do(ctx)
		},
	}
}

// data encodes the facts of a result.
func data(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("toolbox: facts are always JSON: " + err.Error())
	}
	return b
}
