package toolbox

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/repo"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed glob.md
var globDescription string

type globArgs struct {
	Pattern string `json:"pattern" jsonschema:"such as **/*_test.go or cmd/**/*.{go,md}"`
	Path    string `json:"path,omitempty" jsonschema:"directory to start in; default: the root"`
}

type globData struct {
	Path    string   `json:"path"`
	Pattern string   `json:"pattern"`
	Paths   []string `json:"paths"`
	Total   int      `json:"total"`
	Scanned int      `json:"scanned"`
	repo.Skipped
	Truncated bool `json:"truncated"`
	TimedOut  bool `json:"timed_out,omitempty"`
}

// Glob returns the tool that finds files by their paths.
func Glob(w *workspace.Workspace) tool.Tool {
	return tool.New(looks("Glob", globDescription), func(ctx context.Context, args globArgs, _ tool.Input) (*tool.Action, error) {
		if args.Pattern == "" {
			return nil, invalid("give a pattern such as **/*.go", "arguments of Glob: the pattern is empty")
		}
		asked := cmp.Or(args.Path, ".")
		at, err := w.Resolve(asked)
		if err != nil {
			return nil, failed(ctx, w, asked, err)
		}
		base, _, err := repo.Start(w, asked, args.Pattern)
		if err != nil {
			return nil, failed(ctx, w, args.Pattern, err)
		}
		find := func(ctx context.Context) (tool.Result, error) {
			found, err := repo.Find(ctx, w, at, args.Pattern, maxEntries)
			switch {
			case errors.Is(err, context.Canceled):
				return ended(err), nil
			case err != nil && !errors.Is(err, context.DeadlineExceeded):
				return tool.Result{}, failed(ctx, w, asked, err)
			}
			return paths(at, args.Pattern, found, err != nil), nil
		}
		summary := "Glob " + args.Pattern
		if at != "." {
			summary += " in " + at
		}
		return looking(summary, base, true, find), nil
	})
}

// paths describes what was found below at.
func paths(at, pattern string, found repo.Found, timedOut bool) tool.Result {
	d := globData{
		Path: at, Pattern: pattern, Paths: []string{}, Total: found.Total, Scanned: found.Scanned,
		Skipped: found.Skipped, TimedOut: timedOut,
	}
	var text strings.Builder
	for _, p := range found.Paths {
		if text.Len()+len(p) > tool.DefaultInline/2 {
			break
		}
		d.Paths = append(d.Paths, p)
		text.WriteString(onLine(p) + "\n")
	}
	d.Truncated = len(d.Paths) < d.Total || timedOut
	switch {
	case timedOut:
		fmt.Fprintf(&text, "(out of time after %d files, %d of them found: start further down)\n", d.Scanned, d.Total)
	case d.Truncated:
		fmt.Fprintf(&text, "(%d of %d paths shown: narrow the pattern)\n", len(d.Paths), d.Total)
	case d.Total == 0 && found.Base == "":
		fmt.Fprintf(&text, "no file matches %s: it begins with a directory that %s does not have\n", pattern, at)
	case d.Total == 0:
		fmt.Fprintf(&text, "no file matches %s in %s; %s looked at\n", pattern, at, counted(d.Scanned, "file"))
	}
	text.WriteString(leftOut("looked at", found.Skipped))
	text.WriteString(unread(d.Skipped))
	r := tool.Result{Status: tool.Success, Text: text.String(), Data: data(d)}
	if d.Truncated || d.Failed > 0 {
		r.Status = tool.Partial
	}
	return r
}
