package toolbox

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// roomForNote is what a result keeps free for the line that says how to go on.
const roomForNote = 300

// excerpt shows the lines of content that args ask for, each after its number,
// and completes d. What does not fit can be had by following NextOffset and
// NextColumn, which name the line and the byte in it.
func excerpt(args readArgs, content string, d readData) (tool.Result, error) {
	d.TotalLines = lineCount(content)
	d.EndsInLine = strings.HasSuffix(content, "\n")
	d.Generated = generated(content)
	d.Minified = minified(d.Path, content)
	if d.Offset = cmp.Or(args.Offset, 1); d.Offset < 0 {
		d.Offset = max(d.TotalLines+d.Offset+1, 1)
	}
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
	return d.result(&b, fmt.Sprintf("of %d", d.TotalLines)), nil
}

// result adds to the lines in b what else there is to say. Of says of how many
// lines they are.
func (d *readData) result(b *strings.Builder, of string) tool.Result {
	r := tool.Result{Status: tool.Success}
	if d.Truncated {
		r.Status = tool.Partial
		onward := fmt.Sprintf("offset %d", d.NextOffset)
		if d.NextColumn > 0 {
			onward += fmt.Sprintf(" and column %d", d.NextColumn)
		}
		fmt.Fprintf(b, "(lines %d to %d %s; go on with %s)\n", d.Offset, d.Offset+d.Lines-1, of, onward)
	}
	if d.Generated {
		b.WriteString("(generated: change what it is made from)\n")
	}
	if d.Minified {
		b.WriteString("(minified: change what it is made from)\n")
	}
	if strings.HasPrefix(d.Encoding, workspace.Unknown) {
		b.WriteString("(its encoding cannot be told: what is no ASCII may look wrong)\n")
	}
	r.Text, r.Data = b.String(), data(d)
	return r
}

// number writes the lines of rest, and notes in d how far it got.
func (d *readData) number(b *strings.Builder, rest string, args readArgs) {
	const room = tool.DefaultInline - roomForNote
	limit := cmp.Or(args.Limit, tool.MaxLines)
	if more := d.Offset+limit-1 < d.TotalLines; more || d.Generated || d.Minified || d.Encoding == workspace.Unknown {
		limit = min(limit, tool.MaxLines-4) // the notes are lines too
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
