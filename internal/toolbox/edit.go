package toolbox

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed edit.md
var editDescription string

type editArgs struct {
	Path string `json:"path"`
	replacement
}

// A replacement is what one edit asks for.
type replacement struct {
	Old string `json:"old" jsonschema:"exact text, without line numbers; must occur once unless all is set"`
	New string `json:"new"`
	All bool   `json:"all,omitempty" jsonschema:"replace every occurrence"`
}

// Edit returns the tool that replaces a piece of text in a file.
func Edit(w *workspace.Workspace) tool.Tool {
	return settling(w, tool.New(changes("Edit", editDescription), func(ctx context.Context, args editArgs, in tool.Input) (*tool.Action, error) {
		return editing(ctx, w, args.Path, []replacement{args.replacement}, in)
	}))
}

// editing is the action of making several replacements in a file, each in the
// result of those before it: all or none.
func editing(ctx context.Context, w *workspace.Workspace, path string, edits []replacement, in tool.Input) (*tool.Action, error) {
	text, err := known(ctx, w, path, in.Seen)
	if err != nil {
		return nil, err
	}
	regions, count, err := replaced(text, edits)
	if err != nil {
		return nil, failed(ctx, w, path, err)
	}
	i := edit.Intent{Path: text.Path, Base: text.Digest, Regions: regions}
	return changing(ctx, w, i, changed{verb: "Edit", done: "edited", replacements: count})
}

// known reads a file that is to be changed, and refuses one that the model has
// not read or that has changed since.
func known(ctx context.Context, w *workspace.Workspace, path string, seen map[string]string) (workspace.Text, error) {
	text, err := w.Read(path)
	if err != nil {
		return text, failed(ctx, w, path, err)
	}
	switch digest := seen[text.Path]; digest {
	case text.Digest:
		return text, nil
	case "":
		return text, &tool.Failure{
			Kind: tool.NotRead, Message: "File not read. You must read before editing.",
			Hint: "read " + text.Path + ", then send the call again",
		}
	default:
		return text, &tool.Failure{
			Kind: tool.Stale, Message: "File changed since last read: " + text.Path,
			Hint: readAgain, Detail: staleDetail(digest, text.Digest),
		}
	}
}

// replaced returns the regions of the file's own bytes that edits come to, and
// how many places they replace.
func replaced(text workspace.Text, edits []replacement) (regions []edit.Region, count int, err error) {
	o := over(text.Content)
	for n, e := range edits {
		places, err := apply(&o, e)
		if err != nil {
			if len(edits) > 1 {
				err.Message = fmt.Sprintf("edit %d of %d: %s; none was made", n+1, len(edits), err.Message)
			}
			return nil, 0, err
		}
		count += places
	}
	for _, s := range o.splices() {
		r, err := text.Region(s.start, s.end, s.text)
		if err != nil {
			return nil, 0, err
		}
		if r.Start < r.End || r.Len > 0 {
			regions = append(regions, r)
		}
	}
	if len(regions) == 0 {
		return nil, 0, &tool.Failure{
			Kind: tool.NoChange, Message: "the edits leave the file as it is",
			Hint: "send what is to be different",
		}
	}
	return regions, count, nil
}

// apply makes one replacement in o and returns how many places it replaced.
// The text is matched exactly: nothing but line endings is overlooked.
func apply(o *overlay, e replacement) (int, *tool.Failure) {
	if e.Old == "" {
		return 0, invalid("name the text to replace; Write makes a new file", "old is empty")
	}
	if e.Old == e.New {
		return 0, &tool.Failure{
			Kind: tool.NoChange, Message: "old and new are the same",
			Hint: "send what is to be different",
		}
	}
	if strings.Contains(e.New, "\x00") {
		return 0, noText("new")
	}
	now := o.String()
	old := e.Old
	offsets := occurrences(now, old)
	if len(offsets) == 0 {
		old = strings.ReplaceAll(old, "\r\n", "\n")
		offsets = occurrences(now, old)
	}
	switch {
	case len(offsets) == 0:
		return 0, noMatch(now, old)
	case len(offsets) > 1 && !e.All:
		return 0, ambiguous(now, offsets)
	}
	o.replace(offsets, len(old), strings.ReplaceAll(e.New, "\r\n", "\n"))
	return len(offsets), nil
}

// noText refuses what would make a file that no tool here can read again.
func noText(argument string) *tool.Failure {
	return &tool.Failure{
		Kind: tool.Binary, Message: argument + " holds a NUL character, which no text file does",
		Hint: "leave it out, or make the file with a command",
	}
}

// occurrences returns where s begins in text, from left to right, without
// overlaps.
func occurrences(text, s string) []int {
	var all []int
	for at := 0; ; at += len(s) {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return all
		}
		at += i
		all = append(all, at)
	}
}

// maxPlaces is how many line numbers a failure names.
const maxPlaces = 10

func ambiguous(text string, offsets []int) *tool.Failure {
	var lines []string
	for _, at := range offsets[:min(len(offsets), maxPlaces)] {
		lines = append(lines, fmt.Sprint(lineAt(text, at)))
	}
	if len(offsets) > maxPlaces {
		lines = append(lines, "...")
	}
	return &tool.Failure{
		Kind:    tool.Ambiguous,
		Message: fmt.Sprintf("old occurs %d times, at lines %s", len(offsets), strings.Join(lines, ", ")),
		Hint:    "add lines around it until it occurs once, or set all",
		Detail: data(struct {
			Count int      `json:"count"`
			Lines []string `json:"lines"`
		}{len(offsets), lines}),
	}
}

func lineAt(text string, offset int) int { return strings.Count(text[:offset], "\n") + 1 }

// noMatch says what in text is nearest to old.
func noMatch(text, old string) *tool.Failure {
	f := &tool.Failure{
		Kind: tool.NoMatch, Message: "old is not in the file",
		Hint: "read the lines again and copy them exactly, spaces and tabs too",
	}
	number := regexp.MustCompile(`(?m)^\s*\d+\t`) // as Read shows the start of a line
	if stripped := number.ReplaceAllString(old, ""); stripped != old && strings.Contains(text, stripped) {
		f.Hint = "leave out the line numbers that Read shows"
		return f
	}
	wanted := strings.Split(strings.Trim(old, "\n"), "\n")
	n := slices.IndexFunc(wanted, func(l string) bool { return strings.TrimSpace(l) != "" })
	if n < 0 {
		return f
	}
	first := strings.TrimSpace(wanted[n])
	at := 0
	for line := range strings.Lines(text) {
		at++
		if !strings.Contains(line, first) {
			continue
		}
		short, _ := tool.Excerpt(strings.TrimSuffix(line, "\n"), 200, "")
		f.Hint = fmt.Sprintf("its first line is nearest to line %d, %q; %s", at, short, f.Hint)
		break
	}
	return f
}
