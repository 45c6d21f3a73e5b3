package toolbox

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed read.md
var readDescription string

type readArgs struct {
	Path   string `json:"path" jsonschema:"file, or artifact:... from a result"`
	Offset int    `json:"offset,omitempty" jsonschema:"line to start at; default 1; -20: the last 20 lines"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"2000" jsonschema:"lines; default 2000"`
	Column int    `json:"column,omitempty" min:"1" jsonschema:"byte of that line to start at, to go on in a long line"`
	Symbol string `json:"symbol,omitempty" jsonschema:"instead of lines, a Go declaration: Func, Type, Type.Method"`
}

type readData struct {
	Path       string `json:"path"`
	Offset     int    `json:"offset"`
	Lines      int    `json:"lines"`       // shown, the last perhaps in part
	TotalLines int    `json:"total_lines"` // of a file without a digest only where its end was reached
	Truncated  bool   `json:"truncated"`
	NextOffset int    `json:"next_offset,omitempty"`
	NextColumn int    `json:"next_column,omitempty"`
	Size       int64  `json:"size"`
	Modified   int64  `json:"mtime_ms,omitempty"`
	Digest     string `json:"digest,omitempty"` // not of what is too large to be changed
	Inode      uint64 `json:"inode,omitempty"`  // in place of a digest
	Newline    string `json:"newline,omitempty"`
	Encoding   string `json:"encoding,omitempty"`
	EndsInLine bool   `json:"ends_with_newline"`
	Generated  bool   `json:"generated,omitempty"` // so it says itself
	Minified   bool   `json:"minified,omitempty"`
}

// Read returns the tool that reads a file, or an artifact.
func Read(w *workspace.Workspace) tool.Tool {
	return tool.New(looks("Read", readDescription), func(ctx context.Context, args readArgs, in tool.Input) (*tool.Action, error) {
		if strings.HasPrefix(args.Path, "artifact:") && in.Open != nil {
			return readingArtifact(args, in), nil
		}
		at, err := w.Resolve(args.Path)
		if err != nil {
			return nil, failed(ctx, w, args.Path, err)
		}
		a := looking("Read "+at, at, false, nil)
		a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return ended(err), nil
			}
			r, err := readFile(ctx, w, at, args, env)
			if err != nil {
				return r, failed(ctx, w, args.Path, err)
			}
			return r, nil
		}
		return a, nil
	})
}

// readFile looks at what the file is, and shows it as that.
func readFile(ctx context.Context, w *workspace.Workspace, at string, args readArgs, env tool.Env) (tool.Result, error) {
	f, err := w.OpenRaw(at)
	if err != nil {
		return tool.Result{}, err
	}
	defer f.Close()
	head, err := headOf(f)
	if err != nil {
		return tool.Result{}, err
	}
	if isImage(head) {
		return picture(ctx, f, env)
	}
	if _, sure := recognise(head, true); sure {
		return tool.Result{}, notText(at, head, f.Size)
	}
	if f.Size > workspace.MaxFile {
		return readLarge(ctx, f, head, args)
	}
	text, err := w.Read(at)
	switch {
	case errors.Is(err, workspace.ErrBinary):
		return tool.Result{}, notText(at, head, f.Size)
	case err != nil:
		return tool.Result{}, err
	}
	if args.Symbol != "" {
		if err := args.find(at, text.Content); err != nil {
			return tool.Result{}, err
		}
	}
	r, err := excerpt(args, text.Content, readData{
		Path: at, Size: text.Size, Modified: text.ModTime.UnixMilli(),
		Digest: text.Digest, Newline: text.Newline, Encoding: text.Encoding,
	})
	if err == nil {
		r.Seen = map[string]string{at: text.Digest}
	}
	return r, err
}

// readingArtifact is the action of reading what an earlier result was too small
// for. It touches nothing of the workspace.
func readingArtifact(args readArgs, in tool.Input) *tool.Action {
	return &tool.Action{
		Summary: oneLine("Read " + args.Path),
		Do: func(ctx context.Context, _ tool.Env) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return ended(err), nil
			}
			if args.Symbol != "" {
				return tool.Result{}, invalid("give offset and limit", "read %s: an artifact has lines and no symbols", args.Path)
			}
			f, err := in.Open(args.Path)
			if err != nil {
				return tool.Result{}, &tool.Failure{
					Kind: tool.NotFound, Message: fmt.Sprintf("open %s: %v", args.Path, err),
					Hint: "copy the handle from the result that names it",
				}
			}
			defer f.Close()
			b, err := io.ReadAll(io.LimitReader(f, workspace.MaxFile))
			if err != nil {
				return tool.Result{}, &tool.Failure{Kind: tool.IO, Message: fmt.Sprintf("read %s: %v", args.Path, err), Retry: true}
			}
			if isImage(b) && len(b) <= maxImage {
				return pictureAgain(args.Path, b)
			}
			text := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
			return excerpt(args, text, readData{Path: args.Path, Size: int64(len(b))})
		},
	}
}
