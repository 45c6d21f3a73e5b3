package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// maxRemark is how many lines a remark takes at most.
const maxRemark = 4

// label names a call in a few words, the tool's name first.
func label(name, what string) string {
	first, rest, _ := strings.Cut(what, " ")
	if strings.EqualFold(first, name) {
		what = rest
	}
	return strings.TrimSpace(name + " " + what)
}

// target is what args are mostly about.
func target(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) == nil {
		for _, name := range []string{"path", "file_path", "command", "pattern"} {
			var s string
			if json.Unmarshal(fields[name], &s) == nil && s != "" {
				return s
			}
		}
	}
	if len(fields) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return ""
	}
	return b.String()
}

// shortest is the least that is left of what a call is about, in cells.
const shortest = 16

// maxAfter is how many cells name the calls that one waited for.
const maxAfter = 40

// outcome says how a call ended: which tool, on what, and why not. What went well
// takes one line of width cells where it can; 0 is a line without an end.
func outcome(c call, r tool.Result, width int) (mark string, colour style, text string) {
	if r.Status == tool.Success || r.Status == tool.Partial {
		if d := amount(r); d != "" {
			text += " (" + d + ")"
		}
		text += spent(r.Metrics) + c.waitedFor()
		if width > 0 {
			c.label = cut(oneLine(c.label), max(shortest, width-2-cells(oneLine(text))))
		}
		return "✓", green, c.label + text
	}
	if width > 0 {
		c.label = cut(oneLine(c.label), max(shortest, width/2))
	}
	kind, reason := string(r.Status), r.Text
	if r.Failure != nil {
		kind, reason = string(r.Failure.Kind), r.Failure.Message
	}
	if c.step > 0 {
		text = fmt.Sprintf("[step %d] ", c.step)
	}
	switch reason = strings.TrimSpace(reason); {
	case strings.HasPrefix(reason, kind+":"), strings.HasPrefix(reason, kind+" "): // its words say the kind
		text += c.label + ": " + reason
	case reason != "":
		text += c.label + ": " + kind + " (" + reason + ")"
	default:
		text += c.label + ": " + kind
	}
	return "✗", red, text + spent(r.Metrics) + c.waitedFor()
}

// cells returns how many cells s takes at most.
func cells(s string) (n int) {
	for len(s) > 0 {
		cluster, w := next(s)
		n += w
		s = s[len(cluster):]
	}
	return n
}

// waitedFor says what c had to wait for before it ran.
func (c call) waitedFor() string {
	if c.after == "" {
		return ""
	}
	return ", after " + cut(oneLine(c.after), maxAfter)
}

// amount says how much a call that went well gave or changed.
func amount(r tool.Result) string {
	var parts []string
	if lines := strings.Count(strings.TrimSuffix(r.Text, "\n"), "\n") + 1; len(r.Edits) == 0 && lines > 1 {
		parts = append(parts, fmt.Sprintf("%d lines", lines))
	}
	if len(r.Edits) > 1 {
		parts = append(parts, fmt.Sprintf("%d changes", len(r.Edits)))
	}
	if r.Status == tool.Partial {
		parts = append(parts, "partial")
	}
	return strings.Join(parts, ", ")
}

func spent(m *tool.Metrics) string {
	if m == nil {
		return ""
	}
	return " " + short(time.Duration(m.Milliseconds)*time.Millisecond)
}

// short writes d with no more digits than matter.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// remark lays out text after a mark in lines of at most width cells, or in one
// line if width is 0. Lines after the first are indented.
func remark(mark, text string, width int) []string {
	rest := mark + " " + oneLine(text)
	if width == 0 {
		return []string{rest}
	}
	indent := "    "
	if width < 4*len(indent) {
		return []string{cut(rest, width)}
	}
	var lines []string
	for before := ""; ; before = indent {
		room := width - len(before)
		line := rest[:fitting(rest, room)]
		switch {
		case line == rest:
			return append(lines, before+line)
		case len(lines) == maxRemark-1:
			return append(lines, before+cut(rest, room))
		}
		if space := strings.LastIndexByte(line, ' '); space > len(line)/2 {
			line = line[:space]
		}
		lines = append(lines, before+line)
		rest = strings.TrimLeft(rest[len(line):], " ")
	}
}
