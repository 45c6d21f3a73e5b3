package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
)

// statusEvery is how often the status is drawn again, and how long a call runs
// before it is.
const statusEvery = time.Second

// A status is the line that says what runs, while there is nothing else to say.
// Whatever is written next erases it first. Where a person may be typing in that
// line it is a remark instead, once for each call, that stays.
type status struct {
	running []string      // calls, in the order of their starts
	wait    model.Waiting // that the model asked for, until something comes of it
	above   bool          // its countdown is the row above the cursor
	told    []string      // calls that got their remark
	next    time.Time
	shown   bool
}

func (v *view) showsStatus() bool { return v.o.Live && v.o.Width > 0 && !v.o.Quiet }

// started begins the status of a call.
func (v *view) started(id string) {
	c, known := v.calls[id]
	if !known || !v.showsStatus() {
		return
	}
	c.began = v.o.Now()
	v.calls[id] = c
	if len(v.status.running) == 0 {
		v.status.next = c.began.Add(statusEvery)
	}
	v.status.running = append(v.status.running, id)
}

// waits begins to count down to the end of a wait.
func (v *view) waits(d model.Waiting) {
	if v.showsStatus() {
		v.status.wait, v.status.next = d, v.o.Now()
	}
}

func (v *view) notRunning(id string) {
	v.status.running = slices.DeleteFunc(v.status.running, func(other string) bool { return other == id })
}

// due returns a channel that gets a value when tick has something to do, nil
// where it has not.
func (v *view) due() <-chan time.Time {
	if len(v.status.running) == 0 && v.status.wait.Until.IsZero() {
		return nil
	}
	return time.After(v.status.next.Sub(v.o.Now()))
}

// tick draws the status if it is time to. A line that is begun is left alone.
func (v *view) tick() {
	now := v.o.Now()
	if len(v.status.running) == 0 && v.status.wait.Until.IsZero() || now.Before(v.status.next) {
		return
	}
	v.status.next = now.Add(statusEvery)
	switch {
	case v.open != nowhere:
	case v.o.Stream:
		v.tellRunning(now)
		v.countAbove(now)
	default:
		line := v.statusLine(now)
		v.write(progress, dim, line)
		v.open, v.status.shown = nowhere, v.err == nil
	}
}

// countAbove counts a wait down where a person may be typing: on a row of its own,
// which is written again above what they type. After any other line it begins a
// row anew.
func (v *view) countAbove(now time.Time) {
	if v.status.wait.Until.IsZero() || len(v.status.running) > 0 {
		return
	}
	line := v.statusLine(now)
	if v.status.above {
		if v.o.Color {
			line = "\x1b[" + string(dim) + "m" + line + "\x1b[0m"
		}
		v.put(v.o.Progress, "\x1b7\x1b[A\r\x1b[K"+line+"\x1b8")
	} else {
		v.write(progress, dim, line)
		v.write(progress, normal, "\n")
	}
	v.status.above = true
	if !v.status.wait.Until.After(now) { // the row stays as it is
		v.status.wait = model.Waiting{}
	}
}

// typed notes that a person has ended a line, which moved the cursor.
func (v *view) typed() { v.status.above = false }

func (v *view) tellRunning(now time.Time) {
	for _, id := range v.status.running {
		if c := v.calls[id]; !slices.Contains(v.status.told, id) && now.Sub(c.began) >= statusEvery {
			v.info("running: " + c.label)
			v.status.told = append(v.status.told, id)
		}
	}
}

// statusLine says what has run longest: for how long, what it is and what it
// printed last.
func (v *view) statusLine(now time.Time) string {
	room := v.o.Width - 1 // what fills a line may wrap
	if len(v.status.running) == 0 {
		left := v.status.wait.Until.Sub(now).Round(time.Second)
		if left <= 0 {
			return cut("· asking again", room)
		}
		return cut(fmt.Sprintf("· asking again in %s (Ctrl-C stops)", left), room)
	}
	id := v.status.running[0]
	c := v.calls[id]
	text := fmt.Sprintf("· %s %s", now.Sub(c.began).Truncate(time.Second), cut(oneLine(c.label), room/2))
	if n := len(v.status.running); n > 1 {
		text += fmt.Sprintf(" and %d more", n-1)
	}
	if l := v.live[id]; l != nil && len(l.last) > 0 {
		text += " │ " + l.shown()
	}
	return cut(text, room)
}

// erase takes the status off the screen.
func (v *view) erase() {
	if v.status.shown {
		v.status.shown = false
		v.put(v.o.Progress, "\r\x1b[K")
	}
}

// shown is what a terminal would leave of the last line, which may overwrite
// itself, with tabs as spaces and nothing in it that one obeys.
func (l *liveOutput) shown() string {
	line := bytes.TrimSuffix(l.last, []byte("\r"))
	if at := bytes.LastIndexByte(line, '\r'); at >= 0 {
		line = line[at+1:]
	}
	return wrap(string(line), 1<<30)[0]
}
