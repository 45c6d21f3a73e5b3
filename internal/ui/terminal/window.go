package terminal

import (
	"fmt"
	"time"
)

const (
	maxCalls = 4               // that run at once and have a row of their own
	silent   = 5 * time.Second // without output, from where on it is said
)

// window is what runs, in rows: Belay's own work, then each call with how long it
// has run and what it printed last. A call that runs alone has its last lines below
// it. No more than half of the screen is taken.
func (v *view) window(now time.Time) []string {
	room := v.o.Width - 1 // what fills a row may wrap
	if v.status.quiet() {
		if line := v.statusLine(now); line != "" {
			return []string{line}
		}
		return nil
	}
	var rows []string
	for _, w := range v.status.works {
		rows = append(rows, cut("· "+since(w.began, now)+" "+oneLine(w.what), room))
	}
	running := v.status.running
	for i, id := range running {
		if i == maxCalls {
			rows = append(rows, cut(fmt.Sprintf("· and %d more", len(running)-i), room))
			break
		}
		lines := 0
		if len(running) == 1 {
			lines = v.tailRows()
		}
		rows = append(rows, v.callRow(id, now, room, lines == 0))
		for _, line := range v.live[id].tailLines(lines) {
			rows = append(rows, cut("  │ "+line, room))
		}
	}
	if n := v.held(); n > 0 {
		rows = append(rows, cut("· "+count(n, "call")+" not begun", room))
	}
	return rows
}

// tailRows is how many lines of output fit below a call; where all of it is shown
// anyway, none.
func (v *view) tailRows() int {
	if v.showsOutput() {
		return 0
	}
	height := v.o.Height
	if height == 0 {
		height = 24
	}
	return max(0, min(tail, height/2-2))
}

// held counts the calls of this step that wait for others.
func (v *view) held() (n int) {
	for _, c := range v.calls {
		if c.planned && c.began.IsZero() {
			n++
		}
	}
	return n
}

// callRow says of a running call for how long, what it is, what it waited for, for
// how long it has printed nothing and, where last is set, what it printed last.
func (v *view) callRow(id string, now time.Time, room int, last bool) string {
	c, l := v.calls[id], v.live[id]
	text := "· " + since(c.began, now) + " " + cut(oneLine(c.label), max(room/2, 12))
	switch {
	case l == nil && now.Sub(c.began) >= silent:
		text += ", no output yet"
	case l != nil && now.Sub(l.heard) >= silent:
		text += ", silent for " + since(l.heard, now)
	}
	if c.after != "" {
		text += ", after " + oneLine(c.after)
	}
	if last && !v.showsOutput() {
		for _, line := range l.tailLines(1) {
			text += " │ " + line
		}
	}
	return cut(text, room)
}

// statusLine is the window in one row.
func (v *view) statusLine(now time.Time) string {
	room := v.o.Width - 1
	s := &v.status
	switch {
	case len(s.running) > 0:
		more := ""
		if n := len(s.running) - 1 + v.held(); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		return cut(v.callRow(s.running[0], now, max(room-len(more), 1), true)+more, room)
	case len(s.works) > 0:
		return cut("· "+since(s.works[0].began, now)+" "+oneLine(s.works[0].what), room)
	case !s.wait.Until.IsZero():
		left := s.wait.Until.Sub(now).Round(time.Second)
		if left <= 0 {
			return cut("· asking again", room)
		}
		return stoppable("· asking again in "+left.String(), room)
	case !s.asked.IsZero():
		text := "· " + since(s.asked, now) + " " + s.asking
		if s.heard > 0 {
			text += fmt.Sprintf(", about %s tokens so far", grouped((s.heard+3)/4))
		}
		return stoppable(text, room)
	}
	return ""
}

// stoppable adds how to stop what text is about, where there is room to say so.
func stoppable(text string, room int) string {
	const how = " (Ctrl-C stops)"
	if cells(text+how) <= room {
		return text + how
	}
	return cut(text, room)
}

func since(began, now time.Time) string {
	return max(0, now.Sub(began)).Truncate(time.Second).String()
}
