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

//go:embed grep.md
var grepDescription string

// defaultHits is how many hits Grep returns where the call does not say.
const defaultHits = 100

type grepArgs struct {
	Pattern string `json:"pattern" jsonschema:"RE2 regular expression, matched line by line"`
	Path    string `json:"path,omitempty" jsonschema:"file or directory; default: the root"`
	Files   string `json:"file_pattern,omitempty" jsonschema:"glob of file names (*.go) or paths (cmd/**/*.go)"`
	Context int    `json:"context,omitempty" min:"0" max:"10" jsonschema:"lines around each hit"`
	Limit   int    `json:"limit,omitempty" min:"1" max:"1000" jsonschema:"hits; default 100"`
	Skip    int    `json:"skip,omitempty" min:"0" jsonschema:"hits to pass over, for the next page"`
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
// where it begins, its base, so it must not show what takes more to read.
func Grep(w *workspace.Workspace, withheld func(base, path string) bool) tool.Tool {
	return tool.New(looks("Grep", grepDescription), func(ctx context.Context, args grepArgs, _ tool.Input) (*tool.Action, error) {
		if args.Pattern == "" {
			return nil, invalid("give a regular expression", "arguments of Grep: the pattern is empty")
		}
		asked := cmp.Or(args.Path, ".")
		at, err := w.Resolve(asked)
		if err != nil {
			return nil, failed(ctx, w, asked, err)
		}
		search := repo.Search{
			Pattern: args.Pattern, Path: at, Files: args.Files,
			Context: args.Context, Skip: args.Skip, Limit: cmp.Or(args.Limit, defaultHits), Withheld: withheld,
		}
		run := func(ctx context.Context) (tool.Result, error) {
			hits, err := search.Run(ctx, w)
			if bad, ok := errors.AsType[*repo.BadRegexp](err); ok {
				return tool.Result{}, invalid(`mend it: the syntax is RE2, without look-around; escape what is meant literally with \`, "pattern %q: %v", args.Pattern, bad)
			}
			switch {
			case errors.Is(err, context.Canceled):
				return ended(err), nil
			case err != nil && !errors.Is(err, context.DeadlineExceeded):
				return tool.Result{}, failed(ctx, w, asked, err)
			}
			return matches(search, hits, err != nil), nil
		}
		return looking(fmt.Sprintf("Search %s for %s", at, args.Pattern), at, true, run), nil
	})
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
	if d.Truncated || len(d.Unread) > 0 || d.TooLarge+d.Withheld > 0 {
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
		fmt.Fprintf(&b, "(hits %d to %d of %d in %d files: narrow the search, or go on with skip %d)\n", skip+1, d.Next, d.Total, d.Files, d.Next)
	case d.Total > 0 && len(d.Matches) == 0:
		fmt.Fprintf(&b, "there are no more hits: %d in all\n", d.Total)
	case d.Total > 0:
		fmt.Fprintf(&b, "(%s in %s)\n", counted(d.Total, "hit"), counted(d.Files, "file"))
	case d.Searched == 0:
		fmt.Fprintf(&b, "nothing was searched: there is no text file to search in %s\n", d.Path)
	default:
		fmt.Fprintf(&b, "no line matches in %d files searched\n", d.Searched)
	}
	b.WriteString(leftOut(d.Skipped, "searched"))
	if d.Binary+d.TooLarge > 0 {
		fmt.Fprintf(&b, "(not searched: %d binary, %d too large)\n", d.Binary, d.TooLarge)
	}
	if d.Withheld > 0 {
		fmt.Fprintf(&b, "(not searched: %d that may not be read without approval)\n", d.Withheld)
	}
	b.WriteString(unread(d.Unread))
	return b.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pageBytes bounds the lines that Grep shows.
const pageBytes = 24 << 10

// A page shows hits as path:line: text and lines around them as path-line- text,
// each line once.
type page struct {
	b     strings.Builder
	path  string
	shown int // the last line of path that is shown
	after []string
	full  bool
}

// add shows h, or reports that the page is full.
func (p *page) add(path string, h repo.Hit) bool {
	if p.full = p.full || p.b.Len()+len(path)+len(h.Text) > pageBytes; p.full {
		return false
	}
	if path != p.path {
		p.flush(0)
		p.path, p.shown = path, 0
	}
	p.flush(h.Line)
	for i, line := range h.Before {
		p.around(h.Line-len(h.Before)+i, line)
	}
	where := fmt.Sprintf("%s:%d:", path, h.Line)
	if h.Column > 0 {
		where += fmt.Sprintf("%d: ...", h.Column)
	} else {
		where += " "
	}
	p.b.WriteString(where + h.Text + "\n")
	p.shown, p.after = max(p.shown, h.Line), h.After
	return true
}

// flush shows the lines after the last hit, up to before, a line number; 0 is
// no limit.
func (p *page) flush(before int) {
	first := p.shown + 1
	for i, line := range p.after {
		if before == 0 || first+i < before {
			p.around(first+i, line)
		}
	}
	p.after = nil
}

func (p *page) around(number int, line string) {
	if number > p.shown && p.b.Len() < pageBytes {
		fmt.Fprintf(&p.b, "%s-%d- %s\n", p.path, number, line)
		p.shown = number
	}
}

func (p *page) text() string {
	p.flush(0)
	return p.b.String()
}
