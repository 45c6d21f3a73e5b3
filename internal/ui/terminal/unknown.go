package terminal

import (
	"context"
	"errors"
	"strings"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/session"
)

// ErrNobody reports a question that there is nobody to answer.
var ErrNobody = errors.New("terminal: there is nobody to ask")

// Unknown asks how a call ended that a crash cut off. An empty answer puts it
// off: the error is then ErrNobody, as at the end of the input.
func (u *UI) Unknown(ctx context.Context, c session.OpenCall) (event.Settled, error) {
	if u.input == nil {
		return event.Settled{}, ErrNobody
	}
	var s event.Settled
	err := u.ask(ctx, form{
		show: func() { u.view.unknown(c) },
		choices: func() {
			u.view.options("d: it happened   r: it did not, it may be tried again   s: leave it   enter: ask later")
		},
		take: func(line string) (ok bool) {
			s, ok = settledOf(line)
			return ok
		},
	})
	if _, ended := errors.AsType[*inputError](err); ended || err == nil && s.As == "" {
		return event.Settled{}, ErrNobody
	}
	return s, err
}

// settledOf reads an answer: a letter or its word, and after it what else the
// model should know.
func settledOf(line string) (s event.Settled, ok bool) {
	word, note, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "":
		return s, true
	case "d", "done":
		s.As = "done"
	case "r", "retry":
		s.As = "retry"
	case "s", "skip":
		s.As = "skip"
	default:
		return s, false
	}
	s.Note = strings.TrimSpace(note)
	return s, true
}

func (v *view) unknown(c session.OpenCall) {
	p := c.Plan
	if p.Preview != "" && p.Preview != p.Summary {
		body, _ := v.body(p.Preview, false)
		v.rows(body)
	}
	what := cut(oneLine(label(p.Call.Tool, p.Summary)), maxName)
	v.framed(bold, "Belay was stopped while "+what+" ran: it may have happened, in whole or in part.")
}
