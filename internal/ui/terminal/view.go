package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A view turns signals into lines. One goroutine uses it.
type view struct {
	o    Options
	err  error // of the first write that went wrong
	open port  // where a line is begun and not ended

	turn  turn
	calls map[string]call   // planned and not finished
	names map[string]string // labels of the calls of the newest reply
	text  filter            // of the reply that comes in
	shown int               // bytes of its text that were streamed
	think filter            // of its reasoning
	live  map[string]*liveOutput

	status status
}

// A call is what is known of one before it ends.
type call struct {
	tool  string
	label string
	step  int
	began time.Time // its run; zero before it

	planned  bool
	approved bool   // by a person
	after    string // what it waited for
}

// A port is one of the two ways out; both may lead to one terminal.
type port int

const (
	nowhere port = iota
	answer
	progress
)

// A style is the parameter of the escape sequence that sets it.
type style string

const (
	normal style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

func newView(o Options) view {
	return view{o: o, calls: make(map[string]call), names: make(map[string]string), live: make(map[string]*liveOutput)}
}

func (v *view) show(s agent.Signal) {
	if _, output := s.(agent.Output); !output {
		v.status.wait = model.Waiting{}
	}
	switch s := s.(type) {
	case agent.Recorded:
		v.recorded(s.Event)
	case agent.Typing:
		v.typing(s.Delta)
	case agent.Output:
		v.output(s)
	}
}

func (v *view) recorded(e event.Event) {
	switch b := e.Body.(type) {
	case event.Asked:
		v.turn.begin(e.Time)
	case event.Ruled:
		switch {
		case b.Left != "" && b.Text != "":
			v.info("rules " + b.Path + ": they stay as they were: " + b.Left)
		case b.Left != "":
			v.info("rules " + b.Path + ": the model is not shown them: " + b.Left)
		case b.Gone():
			v.detail("rules " + b.Path + ": gone")
		default:
			v.detail("rules " + b.Path)
		}
	case event.Sent:
		if b.For == string(model.Handoff) {
			v.info("making room: asking the model what to keep in mind")
			v.asks("making room: waiting for the model")
		} else {
			v.detail(sent(b))
			v.asks("waiting for the model")
		}
	case event.Replied:
		v.replied(b)
	case event.Planned:
		c := b.Plan.Call
		v.calls[c.ID] = call{tool: c.Tool, label: label(c.Tool, b.Plan.Summary), step: v.turn.steps, planned: true}
		v.detail(plan(b.Plan))
		v.names[c.ID] = v.calls[c.ID].label
	case event.Decided:
		v.decided(b)
	case event.Started:
		v.waited(b)
		v.started(b.Call)
	case event.Finished:
		v.finished(b)
	case event.Settled:
		v.info(fmt.Sprintf("call %s was settled: %s by %s", b.Call, b.As, b.By))
	case event.Constrained:
		v.constrained(b)
	case event.Quarantined:
		v.info(fmt.Sprintf("part %d of event %d is kept from the model: %s", b.Part, b.Seq, b.Reason))
	case event.Switched:
		v.say(fmt.Sprintf("%s goes on with this turn: %s", b.To, b.Why))
	case event.Compacted:
		v.turn.spend(b.Usage, b.Cost)
		v.info(compacted(b))
	case event.Stopped:
		v.stopped(e.Time, b)
	}
}

func (v *view) typing(d model.Delta) {
	v.status.heard += size(d)
	switch d := d.(type) {
	case model.TextDelta:
		if v.streams() {
			v.endReasoning()
			v.shown += len(d.Text)
			v.write(answer, normal, v.text.piece(d.Text))
		}
	case model.ReasoningDelta:
		if v.o.Verbose && !v.o.Quiet {
			v.write(progress, dim, v.think.piece(d.Text))
		}
	case model.Waiting:
		left := d.Until.Sub(v.o.Now()).Round(time.Second)
		if left <= 0 {
			v.info("asking again: " + d.Why)
			return
		}
		v.info(fmt.Sprintf("waiting %s, until %s: %s", left, d.Until.Format(time.TimeOnly), d.Why))
		v.waits(d)
	}
}

func (v *view) streams() bool { return v.o.Stream && !v.o.Quiet }

func (v *view) endReasoning() {
	if rest := v.think.end(); rest != "" {
		v.write(progress, dim, rest)
	}
}

// replied ends what was streamed, or shows what was not.
func (v *view) replied(b event.Replied) {
	v.turn.reply(b)
	v.status.asked = time.Time{}
	v.endReasoning()
	text := b.Message.Text()
	calls := b.Message.Calls()
	clear(v.names)
	for _, c := range calls {
		v.calls[c.ID] = call{tool: c.Tool, label: label(c.Tool, target(c.Args)), step: v.turn.steps}
	}
	switch {
	case v.streams():
		rest := text[min(v.shown, len(text)):]
		v.write(answer, normal, v.text.piece(rest)+v.text.end())
		v.fresh()
	case text == "":
	case len(calls) == 0:
		v.fresh()
		v.write(answer, normal, Safe(text))
		v.fresh()
	case !v.o.Quiet:
		v.fresh()
		v.write(progress, dim, strings.TrimSpace(Safe(text))+"\n")
	}
	v.shown = 0
}

// waited keeps what a call had to wait for: the first of those calls, and how many
// more there were.
func (v *view) waited(b event.Started) {
	c, known := v.calls[b.Call]
	if !known || len(b.Waited) == 0 {
		return
	}
	first := b.Waited[0].Call
	if c.after = v.names[first]; c.after == "" {
		c.after = first
	}
	if more := len(b.Waited) - 1; more > 0 {
		c.after += fmt.Sprintf(" and %d more", more)
	}
	v.calls[b.Call] = c
}

func (v *view) decided(b event.Decided) {
	if b.By != event.ByPerson || b.Verdict != "allow" {
		return // a denial is told when the call ends
	}
	c := v.calls[b.Call]
	c.approved = true
	v.calls[b.Call] = c
	text := "allowed by you: " + c.label
	if b.Remember != "" {
		text += " (always, in this session: " + strings.Join(append([]string{b.Remember}, b.Also...), ", ") + ")"
	}
	v.info(text)
}

func (v *view) finished(b event.Finished) {
	v.endOutput(b.Call)
	v.notRunning(b.Call)
	c, known := v.calls[b.Call]
	if !known {
		c = call{tool: b.Call, label: b.Call, step: v.turn.steps}
	}
	delete(v.calls, b.Call)
	v.turn.called(c.tool)
	v.turn.change(b.Result.Edits)
	if v.o.Quiet {
		return
	}
	mark, colour, text := outcome(c, b.Result, v.o.Width)
	v.lines(mark, colour, text)
	if !c.approved { // who approved it has seen it
		v.diff(b.Result)
	}
}

// tellsDiff reports whether the text of r is the diff of what it changed, below a
// line that says so, and not what a command printed.
func tellsDiff(r tool.Result) bool {
	_, rest, _ := strings.Cut(r.Text, "\n")
	return len(r.Edits) > 0 && strings.HasPrefix(rest, "--- ")
}

// maxDiff is how many lines of a change are shown.
const maxDiff = 16

// diff shows what a call changed: the part of its text that is a unified diff.
func (v *view) diff(r tool.Result) {
	_, hunks, found := strings.Cut(r.Text, "\n@@ ")
	if !found || !tellsDiff(r) {
		return
	}
	lines := strings.Split(strings.TrimRight("@@ "+hunks, "\n"), "\n")
	for i, line := range lines {
		if i == maxDiff && !v.o.Verbose && len(lines) > maxDiff+1 {
			v.write(progress, dim, fmt.Sprintf("  ... %d more lines\n", len(lines)-i))
			return
		}
		shown := "  " + wrap(line, math.MaxInt)[0]
		if v.o.Width > 0 {
			shown = cut(shown, v.o.Width)
		}
		v.write(progress, diffStyle(line), shown)
		v.write(progress, normal, "\n")
	}
}

func (v *view) stopped(at time.Time, b event.Stopped) {
	v.fresh()
	if !v.o.Quiet {
		mark, colour := "●", normal
		if b.Reason != string(model.End) {
			mark, colour = "■", yellow
		}
		v.lines(mark, colour, v.turn.summary(at, b))
	}
	v.turn, v.text, v.think, v.shown = turn{}, filter{}, filter{}, 0
	v.status.running, v.status.asked = nil, time.Time{}
	clear(v.calls)
}

// info shows a remark.
func (v *view) info(text string) {
	if !v.o.Quiet {
		v.lines("·", dim, text)
	}
}

// detail shows what only who asked for more wants to see.
func (v *view) detail(text string) {
	if v.o.Verbose {
		v.info(text)
	}
}

// say shows a remark even where little is wanted.
func (v *view) say(text string) {
	mark := "·"
	for line := range strings.SplitSeq(text, "\n") {
		v.lines(mark, yellow, line)
		mark = " "
	}
}

// lines shows text after a mark: what is longer than a line goes on below,
// indented, for at most maxRemark lines.
func (v *view) lines(mark string, colour style, text string) {
	v.fresh()
	for i, line := range remark(mark, text, v.o.Width) {
		if i == 0 && v.status.above && v.err == nil {
			v.status.above = false
			v.overwrite(v.marked(mark, colour, line))
			continue
		}
		if i == 0 {
			rest := strings.TrimPrefix(line, mark)
			v.write(progress, colour, strings.TrimSuffix(line, rest))
			v.write(progress, normal, rest+"\n")
			continue
		}
		v.write(progress, normal, line+"\n")
	}
}

// marked is the line that begins with mark, coloured.
func (v *view) marked(mark string, colour style, line string) string {
	rest := strings.TrimPrefix(line, mark)
	if mark = strings.TrimSuffix(line, rest); v.o.Color && colour != normal {
		mark = "\x1b[" + string(colour) + "m" + mark + "\x1b[0m"
	}
	return mark + rest
}

// fresh ends a line that is begun.
func (v *view) fresh() {
	if v.open != nowhere {
		v.write(v.open, normal, "\n")
	}
}

// write writes s, which is safe; only the progress is coloured. A line that is
// begun elsewhere ends first. After an error nothing more is written.
func (v *view) write(to port, st style, s string) {
	if s == "" || v.err != nil {
		return
	}
	v.erase()
	v.leave()
	if v.open != to && v.open != nowhere {
		v.fresh()
	}
	v.open = to
	if strings.HasSuffix(s, "\n") {
		v.open = nowhere
	}
	w := v.o.Out
	if to == progress {
		w = v.o.Progress
		if st != normal && v.o.Color {
			s = "\x1b[" + string(st) + "m" + s + "\x1b[0m"
		}
	}
	v.put(w, s)
}

func (v *view) put(w io.Writer, s string) {
	if _, err := io.WriteString(w, s); err != nil {
		v.err = fmt.Errorf("write to terminal: %w", err)
		if v.o.Broken != nil {
			v.o.Broken(v.err)
		}
	}
}
