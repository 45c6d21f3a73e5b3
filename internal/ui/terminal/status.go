package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/belay-agent/belay/internal/contract/model"
)

const (
	statusEvery = time.Second            // how often the status is drawn again, and how long something runs before it is
	statusSoon  = 200 * time.Millisecond // how soon it is where a command printed something
)

// A status is the rows that say what runs, while there is nothing else to say.
// Whatever is written next erases them first. Where a person may be typing below
// it is one row above the cursor, which the first line of what is written next
// takes the place of.
type status struct {
	running []string      // calls, in the order of their starts
	wait    model.Waiting // that the model asked for, until something comes of it
	works   []*work       // of Belay itself
	asked   time.Time     // the model, until its reply; zero: it is not
	asking  string        // what for, in a few words
	heard   int           // bytes of that reply
	above   bool          // its row is the one above the cursor
	drawn   time.Time
	beat    time.Time // when it is drawn again in any case
	next    time.Time
	rows    []string // on the screen; the cursor is at the end of the last
}

// A work is something that Belay does itself and that may take long.
type work struct {
	what  string
	began time.Time
}

func (v *view) showsStatus() bool { return v.o.Live && v.o.Width > 0 && !v.o.Quiet }

func (s *status) idle() bool {
	return len(s.running) == 0 && len(s.works) == 0 && s.wait.Until.IsZero() && s.asked.IsZero()
}

// begins is called before something begins that the status tells of.
func (v *view) begins() time.Time {
	now := v.o.Now()
	if v.status.idle() {
		v.status.beat = now.Add(statusEvery)
		v.status.next = v.status.beat
	}
	return now
}

// hurry has the status drawn again soon, if it is on the screen.
func (v *view) hurry(now time.Time) {
	if soon := v.status.drawn.Add(statusSoon); len(v.status.rows) > 0 && soon.Before(v.status.next) {
		v.status.next = soon
		if soon.Before(now) {
			v.status.next = now
		}
	}
}

// started begins the status of a call.
func (v *view) started(id string) {
	c, known := v.calls[id]
	if !known {
		return
	}
	c.began = v.o.Now()
	if v.showsStatus() {
		c.began = v.begins()
		v.status.running = append(v.status.running, id)
	}
	v.calls[id] = c
}

// asks begins the status of a request to the model.
func (v *view) asks(what string) {
	if v.showsStatus() {
		v.status.asked, v.status.asking, v.status.heard = v.begins(), what, 0
	}
}

// waits begins to count down to the end of a wait.
func (v *view) waits(d model.Waiting) {
	if v.showsStatus() {
		v.status.wait, v.status.beat = d, v.o.Now()
		v.status.next = v.status.beat
	}
}

func (v *view) notRunning(id string) {
	v.status.running = slices.DeleteFunc(v.status.running, func(other string) bool { return other == id })
}

// due returns a channel that gets a value when tick has something to do, nil
// where it has not.
func (v *view) due() <-chan time.Time {
	if v.status.idle() {
		return nil
	}
	return time.After(v.status.next.Sub(v.o.Now()))
}

// tick draws the status if it is time to. A line that is begun is left alone.
func (v *view) tick() {
	now := v.o.Now()
	if v.status.idle() || now.Before(v.status.next) {
		return
	}
	v.measure()
	if !now.Before(v.status.beat) {
		v.status.beat = now.Add(statusEvery)
	}
	v.status.drawn, v.status.next = now, v.status.beat
	switch {
	case v.open != nowhere:
	case v.o.Stream:
		v.drawAbove(now)
	default:
		v.draw(v.window(now))
	}
}

// draw puts rows where those of before are, in one piece so that nothing flickers.
func (v *view) draw(rows []string) {
	if len(rows) == 0 || v.err != nil {
		return
	}
	v.put(v.o.Progress, v.erasing()+v.dimmed(strings.Join(rows, "\n")))
	v.status.rows = rows
	if v.err != nil {
		v.status.rows = nil
	}
}

// drawAbove draws the status where a person may be typing: on a row of its own,
// which is written again above what they type. After any other line it begins a
// row anew.
func (v *view) drawAbove(now time.Time) {
	line := v.statusLine(now)
	if line == "" {
		return
	}
	if v.status.above {
		v.overwrite(v.dimmed(line))
	} else {
		v.write(progress, dim, line)
		v.write(progress, normal, "\n")
	}
	v.status.above = true
	if v.status.quiet() && !v.status.wait.Until.IsZero() && !v.status.wait.Until.After(now) { // the row stays as it is
		v.status.wait = model.Waiting{}
	}
}

// quiet reports whether nothing but a wait is going on.
func (s *status) quiet() bool { return len(s.running) == 0 && len(s.works) == 0 }

// overwrite writes row in place of the one above the cursor, which stays where it is.
func (v *view) overwrite(row string) {
	v.put(v.o.Progress, "\x1b7\x1b[A\r\x1b[K"+row+"\x1b8")
}

func (v *view) dimmed(s string) string {
	if !v.o.Color {
		return s
	}
	return "\x1b[" + string(dim) + "m" + s + "\x1b[0m"
}

// leave ends the row above the cursor, before something is written below it. Only
// the end of a wait stays to be read.
func (v *view) leave() {
	if v.status.above && v.status.wait.Until.IsZero() && !v.status.idle() {
		v.overwrite("")
	}
	v.status.above = false
}

// typed notes that a person has ended a line, which moved the cursor.
func (v *view) typed() { v.status.above = false }

// erase takes the status off the screen.
func (v *view) erase() {
	if len(v.status.rows) > 0 {
		erasing := v.erasing()
		v.status.rows = nil
		v.put(v.o.Progress, erasing)
	}
}

// erasing is what takes the rows off the screen. Where that became narrower they
// have wrapped.
func (v *view) erasing() string {
	if len(v.status.rows) == 0 {
		return ""
	}
	on := 0
	for _, row := range v.status.rows {
		on += max(1, (ansi.StringWidth(row)+v.o.Width-1)/v.o.Width)
	}
	return "\r\x1b[K" + strings.Repeat("\x1b[A\x1b[K", on-1)
}

// worked ends the status of a work.
func (v *view) worked(w *work) {
	v.status.works = slices.DeleteFunc(v.status.works, func(other *work) bool { return other == w })
	if v.status.idle() {
		v.erase()
	}
}

// measure takes note of the size of a screen that may have changed.
func (v *view) measure() {
	if v.o.Size == nil || v.o.Width == 0 {
		return
	}
	if width, height := v.o.Size(); width > 0 {
		v.o.Width, v.o.Height = width, height
	}
}
