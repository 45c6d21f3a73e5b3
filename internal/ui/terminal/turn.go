package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
)

// A turn is what the summary at its end is made of.
type turn struct {
	started time.Time
	steps   int
	usage   model.Usage
	cost    int64    // micro-cents
	changed []string // paths, in order of their first change
	calls   int
	shell   int // of the calls
	used    int // tokens of the context window, after the newest reply ...
	room    int // ... of so many; 0 where that is not known
}

func (t *turn) begin(at time.Time) {
	if t.started.IsZero() { // steering comes in the middle
		t.started = at
	}
}

func (t *turn) reply(b event.Replied) {
	t.steps++
	t.spend(b.Usage, b.Cost)
}

func (t *turn) spend(u model.Usage, cost int64) {
	t.usage = t.usage.Plus(u)
	t.cost += cost
}

func (t *turn) called(tool string) {
	t.calls++
	if tool == "Bash" {
		t.shell++
	}
}

func (t *turn) change(edits []edit.Intent) {
	for _, e := range edits {
		if !slices.Contains(t.changed, e.Path) {
			t.changed = append(t.changed, e.Path)
		}
	}
}

// summary says how the turn ended and what it took.
func (t *turn) summary(at time.Time, b event.Stopped) string {
	end := "done"
	if b.Reason != string(model.End) {
		end = "stopped: " + b.Reason // whoever ran the turn says more
	}
	parts := []string{count(t.steps, "step")}
	if len(t.changed) > 0 {
		parts = append(parts, count(len(t.changed), "file")+" changed ("+strings.Join(t.changed, ", ")+")")
	}
	if t.shell > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s in the shell", t.shell, count(t.calls, "call")))
	}
	about := ""
	if t.usage.Estimated { // of at least one reply
		about = "~"
	}
	if u := t.usage; u.Total() > 0 {
		in := about + grouped(u.Input+u.Cached+u.CacheWrite) + " tokens in"
		if u.Cached > 0 {
			in += " (" + grouped(u.Cached) + " cached)"
		}
		parts = append(parts, in, about+grouped(u.Output)+" out")
	}
	if t.cost > 0 {
		parts = append(parts, about+dollars(t.cost))
	}
	if t.room > 0 {
		parts = append(parts, fmt.Sprintf("context %d%% full", min(100, (t.used*100+t.room-1)/t.room)))
	}
	if !t.started.IsZero() {
		parts = append(parts, short(at.Sub(t.started)))
	}
	return end + "; " + strings.Join(parts, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// grouped writes n with a comma between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// dollars writes micro-cents to a hundredth of a cent, rounded up.
func dollars(microCents int64) string {
	n := (microCents + 9_999) / 10_000
	return fmt.Sprintf("$%d.%04d", n/10_000, n%10_000)
}
