package terminal

import (
	"bytes"
	"math"

	"github.com/belay-agent/belay/internal/agent"
)

// maxLive is the longest line that a running call is shown to print.
const maxLive = 4096

// A liveOutput is the line that a running call has begun to print.
type liveOutput struct{ line []byte }

// output shows what a call prints, a whole line at a time.
func (v *view) output(o agent.Output) {
	if !v.o.Verbose || v.o.Quiet {
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
		v.liveLine(l)
		text = rest
	}
}

// endOutput shows what a call left without a line feed.
func (v *view) endOutput(call string) {
	if l := v.live[call]; l != nil && len(l.line) > 0 {
		v.liveLine(l)
	}
	delete(v.live, call)
}

// liveLine shows what a terminal would leave of a line that overwrites itself.
func (v *view) liveLine(l *liveOutput) {
	line := bytes.TrimSuffix(l.line, []byte("\r"))
	if at := bytes.LastIndexByte(line, '\r'); at >= 0 {
		line = line[at+1:]
	}
	l.line = l.line[:0]
	text := "  │ " + wrap(string(line), math.MaxInt)[0]
	if v.o.Width > 0 {
		text = cut(text, v.o.Width)
	}
	v.fresh()
	v.write(progress, dim, text+"\n")
}
