package toolbox

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/repo"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed ls.md
var lsDescription string

// maxEntries is how many entries, paths or rows of one kind a result lists.
const maxEntries = 1_000

type lsArgs struct {
	Path string `json:"path,omitempty" jsonschema:"directory; default: the root of the workspace"`
}

// An entry is what LS says of one name.
type entry struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // file, directory, link or other
	Target string `json:"target,omitempty"`
}

type lsData struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Total     int     `json:"total"`
	Hidden    int     `json:"hidden"`
	Ignored   int     `json:"ignored"`
	Truncated bool    `json:"truncated"`
}

// LS returns the tool that lists a directory.
func LS(w *workspace.Workspace) tool.Tool {
	return tool.New(looks("LS", lsDescription), func(ctx context.Context, args lsArgs, _ tool.Input) (*tool.Action, error) {
		asked := cmp.Or(args.Path, ".")
		at, err := w.Resolve(asked)
		if err != nil {
			return nil, failed(ctx, w, asked, err)
		}
		list := func(ctx context.Context) (tool.Result, error) {
			entries, err := w.List(at)
			if err != nil {
				return tool.Result{}, failed(ctx, w, asked, err)
			}
			return listing(at, entries), nil
		}
		return looking("LS "+at, at, false, list), nil
	})
}

// listing describes the entries of the directory at.
func listing(at string, files []workspace.File) tool.Result {
	d := lsData{Path: at, Entries: []entry{}}
	var text strings.Builder
	for _, f := range files {
		switch {
		case f.Hidden:
			d.Hidden++
			continue
		case f.Ignored:
			d.Ignored++
			continue
		}
		if d.Total++; len(d.Entries) == maxEntries || text.Len() > tool.DefaultInline/2 {
			continue
		}
		e, shown := describeEntry(f)
		d.Entries = append(d.Entries, e)
		text.WriteString(shown + "\n")
	}
	if d.Total == 0 {
		fmt.Fprintf(&text, "%s has no entries to show\n", at)
	}
	r := tool.Result{Status: tool.Success}
	if d.Truncated = len(d.Entries) < d.Total; d.Truncated {
		r.Status = tool.Partial
		fmt.Fprintf(&text, "(%d of %d entries shown: find the others with Glob)\n", len(d.Entries), d.Total)
	}
	text.WriteString(leftOut("listed", repo.Skipped{Hidden: d.Hidden, Ignored: d.Ignored}))
	r.Text, r.Data = text.String(), data(d)
	return r
}

func describeEntry(f workspace.File) (entry, string) {
	name := path.Base(f.Path)
	switch shown := onLine(name); {
	case f.Type.IsDir():
		return entry{Name: name, Type: "directory"}, shown + "/"
	case f.Type.IsRegular():
		return entry{Name: name, Type: "file"}, shown
	case f.Type&fs.ModeSymlink != 0:
		return entry{Name: name, Type: "link", Target: f.Target}, shown + " -> " + onLine(cmp.Or(f.Target, "(nowhere in the workspace)"))
	default:
		return entry{Name: name, Type: "other"}, shown + " (no regular file)"
	}
}

// onLine returns a path as it is listed, on one line: as it is, or, if it would
// break the line, as a JSON string.
func onLine(p string) string {
	if !strings.ContainsAny(p, "\n\r") {
		return p
	}
	return string(data(p))
}

// An amount is how many of what there are.
type amount struct {
	n    int
	what string
}

// leftOut says what was not listed, looked at or searched, or nothing.
func leftOut(done string, s repo.Skipped, others ...amount) string {
	links := amount{s.Links, "links to elsewhere"}
	if s.Links == 1 {
		links.what = "link to elsewhere"
	}
	var parts []string
	for _, p := range append([]amount{{s.Hidden, "hidden"}, {s.Ignored, "ignored by git"}, links}, others...) {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("(not %s: %s)\n", done, strings.Join(parts, ", "))
}

// unread names what could not be read, or nothing.
func unread(s repo.Skipped) string {
	if s.Failed == 0 {
		return ""
	}
	more := ""
	if n := s.Failed - len(s.Unread); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "(could not be read: " + onLine(strings.Join(s.Unread, ", ")) + more + ")\n"
}
