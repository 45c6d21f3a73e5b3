package toolbox

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/repo"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed grep.md
var grepDescription string

// defaultHits is how many hits Grep returns where the call does not say.
const defaultHits = 100

type grepArgs struct {
	Pattern  string `json:"pattern" jsonschema:"RE2 regular expression, matched line by line"`
	Path     string `json:"path,omitempty" jsonschema:"file, directory or artifact:...; default: the root"`
	Files    string `json:"file_pattern,omitempty" jsonschema:"glob of file names (*.go) or paths (cmd/**/*.go)"`
	Language string `json:"language,omitempty" jsonschema:"of the files, such as python"`
	Context  int    `json:"context,omitempty" min:"0" max:"10" jsonschema:"lines around each hit"`
	Limit    int    `json:"limit,omitempty" min:"1" max:"1000" jsonschema:"hits; default 100"`
	Skip     int    `json:"skip,omitempty" min:"0" max:"10000" jsonschema:"hits to pass over, for the next page"`
}

type match struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
}

type grepData struct {
	Path     string  `json:"path"`
	Pattern  string  `json:"pattern"`
	Matches  []match `json:"matches"`
	Total    int     `json:"total"`
	Files    int     `json:"files"`
	Searched int     `json:"searched"`
	Binary   int     `json:"binary"`
	TooLarge int     `json:"too_large"`
	Withheld int     `json:"withheld,omitempty"`
	repo.Skipped
	Truncated bool `json:"truncated"`
	Next      int  `json:"next_skip,omitempty"` // for the next page
	TimedOut  bool `json:"timed_out,omitempty"`
}

// Grep returns the tool that finds lines in files. Below a directory it passes
// over those that withheld, which may be nil, reports: a search is judged by
// where it begins, its base, so it must not show what takes more to read. Rg may
// be nil.
func Grep(w *workspace.Workspace, withheld func(base, path string) bool, rg *repo.Ripgrep) tool.Tool {
	return tool.New(looks("Grep", grepDescription), func(ctx context.Context, args grepArgs, in tool.Input) (*tool.Action, error) {
		if args.Pattern == "" {
			return nil, invalid("give a regular expression", "arguments of Grep: the pattern is empty")
		}
		search := repo.Search{
			Pattern: args.Pattern, Path: args.Path, Files: args.Files, Language: args.Language,
			Context: args.Context, Skip: args.Skip, Limit: cmp.Or(args.Limit, defaultHits), Withheld: withheld, Ripgrep: rg,
		}
		if strings.HasPrefix(args.Path, "artifact:") && in.Open != nil {
			return searchingArtifact(w, search, in), nil
		}
		asked := cmp.Or(args.Path, ".")
		at, err := w.Resolve(asked)
		if err != nil {
			return nil, failed(ctx, w, asked, err)
		}
		search.Path = at
		run := func(ctx context.Context) (tool.Result, error) {
			hits, err := search.Run(ctx, w)
			return searched(ctx, w, search, hits, err)
		}
		return looking(fmt.Sprintf("Grep %s in %s", args.Pattern, at), at, true, run), nil
	})
}

// searchingArtifact is the action of searching what an earlier result was too
// small for. It touches nothing of the workspace.
func searchingArtifact(w *workspace.Workspace, search repo.Search, in tool.Input) *tool.Action {
	return &tool.Action{
		Summary: oneLine(fmt.Sprintf("Grep %s in %s", search.Pattern, search.Path)),
		Do: func(ctx context.Context, _ tool.Env) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return ended(err), nil
			}
			text, err := artifactText(in, search.Path)
			if err != nil {
				return tool.Result{}, err
			}
			hits, err := search.Within(ctx, search.Path, []byte(text))
			return searched(ctx, w, search, hits, err)
		},
	}
}

// artifactText returns the text of the artifact that handle names, lines ended
// by LF.
func artifactText(in tool.Input, handle string) (string, error) {
	f, err := in.Open(handle)
	if err != nil {
		return "", &tool.Failure{
			Kind: tool.NotFound, Message: fmt.Sprintf("open %s: %v", handle, err),
			Hint: "copy the handle from the result that names it",
		}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, workspace.MaxFile))
	if err != nil {
		return "", &tool.Failure{Kind: tool.IO, Message: fmt.Sprintf("read %s: %v", handle, err), Retry: true}
	}
	return strings.NewReplacer("\r\n", "\n", "\x00", "\uFFFD").Replace(strings.ToValidUTF8(string(b), "\uFFFD")), nil
}

// searched is how a search ended.
func searched(ctx context.Context, w *workspace.Workspace, s repo.Search, hits repo.Hits, err error) (tool.Result, error) {
	if bad, ok := errors.AsType[*repo.BadRegexp](err); ok {
		hint := `mend it: the syntax is RE2, without look-around; escape what is meant literally with \`
		if errors.Is(err, repo.ErrManyLines) {
			hint = "search for one of the lines, with context around it"
		}
		return tool.Result{}, invalid(hint, "pattern %q: %v", s.Pattern, bad)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return ended(err), nil
	case errors.Is(err, repo.ErrLanguage):
		return tool.Result{}, invalid("use file_pattern, or one of "+strings.Join(repo.Languages(), ", "), "%v", err)
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return tool.Result{}, failed(ctx, w, s.Path, err)
	}
	return matches(s, hits, err != nil), nil
}

// matches describes what a search found.
func matches(s repo.Search, hits repo.Hits, timedOut bool) tool.Result {
	d := grepData{
		Path: s.Path, Pattern: s.Pattern, Matches: []match{}, Total: hits.Total, Files: hits.InFiles,
		Searched: hits.Searched, Binary: hits.Binary, TooLarge: hits.Large, Withheld: hits.Withheld,
		Skipped: hits.Skipped, TimedOut: timedOut,
	}
	var p page
	for _, f := range hits.Files {
		for _, h := range f.Hits {
			if !p.add(f.Path, h) {
				break
			}
			d.Matches = append(d.Matches, match{f.Path, h.Line, h.Column, h.Text})
		}
	}
	through := s.Skip + len(d.Matches)
	if through < d.Total && len(d.Matches) > 0 {
		d.Next = through
	}
	d.Truncated = d.Next > 0 || timedOut
	text := p.text() + d.summary(s.Skip)
	r := tool.Result{Status: tool.Success, Text: text, Data: data(d)}
	if d.Truncated || d.Failed+d.TooLarge+d.Withheld > 0 {
		r.Status = tool.Partial
	}
	return r
}

// summary says how much was found, and in how much.
func (d *grepData) summary(skip int) string {
	var b strings.Builder
	switch {
	case d.TimedOut:
		fmt.Fprintf(&b, "(out of time after %d files, %d hits so far: search a smaller path)\n", d.Searched, d.Total)
	case d.Next > 0:
		fmt.Fprintf(&b, "(hits %d to %d of %d in %s: narrow the search, or go on with skip %d)\n", skip+1, d.Next, d.Total, counted(d.Files, "file"), d.Next)
	case d.Total > 0 && len(d.Matches) == 0:
		fmt.Fprintf(&b, "there are no more hits: %d in all\n", d.Total)
	case d.Total > 0:
		fmt.Fprintf(&b, "(%s in %s)\n", counted(d.Total, "hit"), counted(d.Files, "file"))
	case d.Searched == 0:
		fmt.Fprintf(&b, "nothing was searched: there is no text file to search in %s\n", d.Path)
	default:
		fmt.Fprintf(&b, "no line matches in %s searched\n", counted(d.Searched, "file"))
	}
	b.WriteString(leftOut("searched", d.Skipped,
		amount{d.Binary, "binary"}, amount{d.TooLarge, "too large"}, amount{d.Withheld, "that may not be read without approval"}))
	b.WriteString(unread(d.Skipped))
	return b.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
