package terminal

import (
	"bytes"
	"time"

	"github.com/belay-agent/belay/internal/agent"
)

const (
	maxLive = 4096 // bytes of the longest line that a running call is shown to print
	tail    = 5    // lines of it that are kept
)

// A liveOutput is the line that a running call has begun to print, and the last
// ones that it ended.
type liveOutput struct {
	line  []byte
	last  [][]byte // at most tail, the newest at the end
	heard time.Time
}

// output takes what a call prints, a whole line at a time. Where not all of it is
// shown only its end is looked at.
func (v *view) output(o agent.Output) {
	if !v.showsOutput() && !v.showsStatus() {
		return
	}
	l := v.live[o.Call]
	if l == nil {
		l = new(liveOutput)
		v.live[o.Call] = l
	}
	l.heard = v.o.Now()
	v.hurry(l.heard)
	text := o.Text
	if !v.showsOutput() {
		if end := newest(text, tail); end > 0 {
			text, l.line = text[end:], l.line[:0]
		}
	}
	for {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		if room := maxLive - len(l.line); len(line) > room {
			line = line[:room]
		}
		l.line = append(l.line, line...)
		if !ended {
			return
		}
		v.endLine(l)
		text = rest
	}
}

// missing says to who wants to see all of it that the terminal was too slow.
func (v *view) missing(bytes int) {
	if v.showsOutput() {
		v.info(count(bytes, "byte") + " of output came too fast to be shown; belay log has what was kept")
	}
}

// newest returns where the last n lines that text ends begin, and what follows
// them; 0 is all of text.
func newest(text []byte, n int) int {
	at := len(text)
	for range n + 1 {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return 0
		}
	}
	return at + 1
}

// endOutput shows what a call left without a line feed.
func (v *view) endOutput(call string) {
	if l := v.live[call]; l != nil && len(l.line) > 0 {
		v.endLine(l)
	}
	delete(v.live, call)
}

func (v *view) showsOutput() bool { return v.o.Verbose && !v.o.Quiet }

// endLine shows a line to who wants to see all of them.
func (v *view) endLine(l *liveOutput) {
	if len(l.last) == tail {
		oldest := l.last[0]
		copy(l.last, l.last[1:])
		l.last[tail-1] = append(oldest[:0], l.line...)
	} else {
		l.last = append(l.last, bytes.Clone(l.line))
	}
	l.line = l.line[:0]
	if !v.showsOutput() {
		return
	}
	text := "  │ " + printed(l.last[len(l.last)-1])
	if v.o.Width > 0 {
		text = cut(text, v.o.Width)
	}
	v.fresh()
	v.write(progress, dim, text+"\n")
}

// tailLines are the last n lines that were ended.
func (l *liveOutput) tailLines(n int) []string {
	if l == nil {
		return nil
	}
	var lines []string
	for _, line := range l.last[max(0, len(l.last)-n):] {
		lines = append(lines, printed(line))
	}
	return lines
}

// printed is what a terminal would leave of a line, which may overwrite itself,
// with tabs as spaces and nothing in it that one obeys.
func printed(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if at := bytes.LastIndexByte(line, '\r'); at >= 0 {
		line = line[at+1:]
	}
	return wrap(string(line), 1<<30)[0]
}
