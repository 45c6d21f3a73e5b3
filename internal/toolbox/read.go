package toolbox

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

//go:embed read.md
var readDescription string

type readArgs struct {
	Path   string `json:"path" jsonschema:"file, or artifact:... from a result"`
	Offset int    `json:"offset,omitempty" min:"1" jsonschema:"line to start at; default 1"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"2000" jsonschema:"lines; default 2000"`
	Column int    `json:"column,omitempty" min:"1" jsonschema:"byte of that line to start at, to go on in a long line"`
}

type readData struct {
	Path       string `json:"path"`
	Offset     int    `json:"offset"`
	Lines      int    `json:"lines"` // shown, the last perhaps in part
	TotalLines int    `json:"total_lines"`
	Truncated  bool   `json:"truncated"`
	NextOffset int    `json:"next_offset,omitempty"`
	NextColumn int    `json:"next_column,omitempty"`
	Size       int64  `json:"size"`
	Modified   int64  `json:"mtime_ms,omitempty"`
	Digest     string `json:"digest,omitempty"`
	Newline    string `json:"newline,omitempty"`
	Encoding   string `json:"encoding,omitempty"`
	EndsInLine bool   `json:"ends_with_newline"`
	Generated  bool   `json:"generated,omitempty"` // so it says itself
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
		read := func(ctx context.Context) (tool.Result, error) {
			text, err := w.Read(at)
			if err != nil {
				return tool.Result{}, failed(ctx, w, args.Path, err)
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
		return looking("Read "+at, at, false, read), nil
	})
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
			text := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
			return excerpt(args, text, readData{Path: args.Path, Size: int64(len(b))})
		},
	}
}

// roomForNote is what a result keeps free for the line that says how to go on.
const roomForNote = 300

// headBytes is where a file says, if it does, that it is generated.
const headBytes = 1 << 10

// generated reports whether a line at the start of content says that it is not
// to be changed by hand.
func generated(content string) bool {
	for line := range strings.Lines(content[:runeBoundary(content, headBytes)]) {
		line = strings.TrimLeftFunc(line, func(r rune) bool { return r != '@' && !unicode.IsLetter(r) })
		if strings.HasPrefix(line, "@generated") || strings.HasPrefix(line, "DO NOT EDIT") ||
			strings.HasPrefix(line, "Code generated ") && strings.Contains(line, "DO NOT EDIT") {
			return true
		}
	}
	return false
}

// excerpt shows the lines of content that args ask for, each after its number,
// and completes d. What does not fit can be had by following NextOffset and
// NextColumn, which name the line and the byte in it.
func excerpt(args readArgs, content string, d readData) (tool.Result, error) {
	d.TotalLines = lineCount(content)
	d.EndsInLine = strings.HasSuffix(content, "\n")
	d.Generated = generated(content)
	d.Offset = cmp.Or(args.Offset, 1)
	if d.TotalLines == 0 && d.Offset == 1 {
		return tool.Result{Status: tool.Success, Text: d.Path + " is empty (0 lines)", Data: data(d)}, nil
	}
	if d.Offset > d.TotalLines {
		return tool.Result{}, invalid(
			fmt.Sprintf("give an offset of at most %d", max(d.TotalLines, 1)),
			"read %s: line %d is past the end: it has %d lines", d.Path, d.Offset, d.TotalLines)
	}
	rest := skipLines(content, d.Offset-1)
	if column := cmp.Or(args.Column, 1) - 1; column > 0 {
		line, _, _ := strings.Cut(rest, "\n")
		if column >= len(line) || !utf8.RuneStart(rest[column]) {
			return tool.Result{}, invalid("leave column out",
				"read %s: no character of line %d starts at byte %d", d.Path, d.Offset, args.Column)
		}
		rest = rest[column:]
	}
	var b strings.Builder
	d.number(&b, rest, args)
	r := tool.Result{Status: tool.Success}
	if d.Truncated {
		r.Status = tool.Partial
		onward := fmt.Sprintf("offset %d", d.NextOffset)
		if d.NextColumn > 0 {
			onward += fmt.Sprintf(" and column %d", d.NextColumn)
		}
		fmt.Fprintf(&b, "(lines %d to %d of %d; go on with %s)\n", d.Offset, d.Offset+d.Lines-1, d.TotalLines, onward)
	}
	if d.Generated {
		b.WriteString("(generated: change what it is made from)\n")
	}
	r.Text, r.Data = b.String(), data(d)
	return r, nil
}

// number writes the lines of rest, and notes in d how far it got.
func (d *readData) number(b *strings.Builder, rest string, args readArgs) {
	const room = tool.DefaultInline - roomForNote
	limit := cmp.Or(args.Limit, tool.MaxLines)
	if more := d.Offset+limit-1 < d.TotalLines; more || d.Generated {
		limit = min(limit, tool.MaxLines-2) // the notes are lines too
	}
	column := cmp.Or(args.Column, 1)
	for rest != "" && d.Lines < limit {
		line, after, _ := strings.Cut(rest, "\n")
		number := d.Offset + d.Lines
		shown := fmt.Sprintf("%d\t%s\n", number, line)
		if b.Len()+len(shown) > room {
			if d.Lines > 0 {
				break
			}
			shown = fmt.Sprintf("%d\t%s", number, line)
			shown = shown[:runeBoundary(shown, room)]
			d.NextColumn = column + len(shown) - len(fmt.Sprintf("%d\t", number))
			b.WriteString(shown + "\n")
			d.Lines++
			break
		}
		b.WriteString(shown)
		d.Lines++
		rest = after
	}
	if d.NextColumn > 0 {
		d.Truncated, d.NextOffset = true, d.Offset
	} else if next := d.Offset + d.Lines; next <= d.TotalLines {
		d.Truncated, d.NextOffset = true, next
	}
}

// lineCount counts the lines of s; one without a line ending at the end counts.
func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// skipLines returns s without its first n lines.
func skipLines(s string, n int) string {
	for ; n > 0; n-- {
		_, s, _ = strings.Cut(s, "\n")
	}
	return s
}

// runeBoundary returns the start of the character that offset i of s is in.
func runeBoundary(s string, i int) int {
	for back := 0; back < utf8.UTFMax && i-back > 0 && i < len(s); back++ {
		if utf8.RuneStart(s[i-back]) {
			return i - back
		}
	}
	return min(i, len(s))
}
