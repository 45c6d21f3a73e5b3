package terminal

import (
	"bytes"

	"github.com/belay-agent/belay/internal/agent"
)

// maxLive is the longest line that a running call is shown to print.
const maxLive = 4096

// A liveOutput is the line that a running call has begun to print, and the last
// that it ended.
type liveOutput struct{ line, last []byte }

// output takes what a call prints, a whole line at a time.
func (v *view) output(o agent.Output) {
	if !v.showsOutput() && !v.showsStatus() {
		return
	}
	l := v.live[o.Call]
	if l == nil {
		l = new(liveOutput)
		v.live[o.Call] = l
	}
	text := o.Text
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
	l.last, l.line = l.line, l.last[:0]
	if !v.showsOutput() {
		return
	}
	text := "  │ " + l.shown()
	if v.o.Width > 0 {
		text = cut(text, v.o.Width)
	}
	v.fresh()
	v.write(progress, dim, text+"\n")
}
