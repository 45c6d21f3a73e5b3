package toolbox

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/process"
)

// A processFact is what a result says to programs of one process.
type processFact struct {
	Name    string `json:"name"`
	Command string `json:"command"`
	Running bool   `json:"running"`
	Code    *int   `json:"exit_code,omitempty"`
	Signal  string `json:"signal,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Seconds int64  `json:"seconds"` // since its start, or that it took
	Bytes   int64  `json:"output_bytes"`
}

func factOf(p *process.Process) processFact {
	_, _, total := p.Read(0, 0)
	f := processFact{Name: p.Name(), Command: scriptSummary(script(p)), Bytes: total}
	e, ended, err := p.Exit()
	if !ended {
		f.Running, f.Seconds = true, int64(time.Since(p.Began()).Seconds())
		return f
	}
	f.Signal, f.Stopped, f.Seconds = e.Signal, e.Cancelled, int64(e.Took.Seconds())
	if e.Signal == "" && err == nil {
		f.Code = &e.Code
	}
	return f
}

// how says in a few words how p is.
func (f processFact) how() string {
	switch {
	case f.Running:
		return fmt.Sprintf("runs for %d s", f.Seconds)
	case f.Stopped:
		return "was stopped"
	case f.Signal != "":
		return "was ended by " + f.Signal
	case f.Code == nil:
		return "has ended, and nobody knows how"
	}
	return fmt.Sprintf("has ended with exit status %d", *f.Code)
}

// News says, and names, which commands in the background of h have ended since it
// was last asked, unless a call has shown that; "" if none has.
func News(h *process.Host) (text string, ended []string) {
	var all []string
	for _, p := range h.Ended() {
		f := factOf(p)
		all, ended = append(all, fmt.Sprintf("%s %s: %s", f.Name, f.how(), f.Command)), append(ended, f.Name)
	}
	if len(all) == 0 {
		return "", nil
	}
	return "in the background, " + strings.Join(all, "; "), ended
}

func (all *processes) list(ctx context.Context, _ tool.Env) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return ended(err), nil
	}
	facts := []processFact{}
	var text strings.Builder
	for _, p := range all.host.Processes() {
		f := factOf(p)
		facts = append(facts, f)
		fmt.Fprintf(&text, "%s %s, %d bytes printed: %s\n", f.Name, f.how(), f.Bytes, f.Command)
	}
	if len(facts) == 0 {
		text.WriteString("nothing was left in the background\n")
	}
	return tool.Result{Status: tool.Success, Text: text.String(), Data: data(struct {
		Processes []processFact `json:"processes"`
	}{facts})}, nil
}

// show is the result of a call about p: what it has printed since that was last
// shown, or after the first from bytes.
func (all *processes) show(p *process.Process, from *int64, env tool.Env) tool.Result {
	f := factOf(p) // before the read: of what has ended everything is shown
	all.mu.Lock()
	start := all.shown[p.Name()]
	if from != nil {
		start = *from
	}
	b, at, end := p.Read(start, 2*endsMax)
	if rest := at + int64(len(b)); rest < end && at == start { // the gap in what is kept
		more, next, _ := p.Read(rest, 2*endsMax)
		if next > rest {
			b = fmt.Appendf(b, "\n[... %d bytes were not kept ...]\n", next-rest)
		}
		b = append(b, more...)
	}
	all.shown[p.Name()] = end - int64(unfinished(b, f.Running))
	all.mu.Unlock()

	if env.Live != nil {
		_, _ = env.Live.Write(b)
	}
	t := newTranscript(tool.Limits{})
	if at > start {
		t.write(fmt.Appendf(nil, "[... %d bytes were not kept ...]\n", at-start))
	}
	t.write(b)
	t.close()
	body := "(nothing new)\n"
	if len(b) > 0 {
		body = t.excerpt("; from shows it again")
	}
	r := tool.Result{
		Status: tool.Success,
		Text:   fmt.Sprintf("%s[%s %s; %d bytes printed]", body, f.Name, f.how(), end),
		Data:   data(f),
	}
	if t.long() {
		r.Status = tool.Partial
	}
	return r
}

// unfinished returns how much of the end of b is to be shown again, with what
// follows it: the line that has not ended.
func unfinished(b []byte, running bool) int {
	if !running {
		return 0
	}
	return len(b) - 1 - bytes.LastIndexByte(b, '\n')
}
