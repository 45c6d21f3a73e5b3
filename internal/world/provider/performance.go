package provider

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A performance streams one reply.
type performance struct {
	ctx     context.Context
	delay   time.Duration
	yield   func(model.Delta, error) bool
	stopped bool   // whoever listened left
	shown   string // of the text
}

// play yields parts in small deltas.
func (p *performance) play(parts []model.Part) {
	index := 0
	for _, part := range parts {
		switch part := part.(type) {
		case model.Text:
			for piece := range pieces(part.Text) {
				if p.send(model.TextDelta{Text: piece}) {
					p.shown += piece
				}
			}
		case model.Reasoning:
			for piece := range pieces(part.Text) {
				p.send(model.ReasoningDelta{Text: piece})
			}
		case model.Call:
			args := part.Malformed
			if args == "" {
				args = string(part.Args)
			}
			for piece := range pieces(args) {
				p.send(model.CallDelta{Index: index, Tool: part.Tool, Args: piece})
			}
			index++
		}
	}
}

// send yields d unless the performance is over, after the step's delay.
func (p *performance) send(d model.Delta) bool {
	if p.stopped || p.ctx.Err() != nil {
		return false
	}
	if p.delay > 0 {
		timer := time.NewTimer(p.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.ctx.Done():
			return false
		}
	}
	p.stopped = !p.yield(d, nil)
	return !p.stopped
}

// end yields the reply, or what there is of it where ctx or the script cut it.
func (p *performance) end(s step, reply model.Reply) {
	if p.stopped {
		return
	}
	var err error
	switch {
	case p.ctx.Err() != nil:
		err = context.Cause(p.ctx)
	case s.stop == model.Cut:
		err = &model.Unavailable{Err: fmt.Errorf("the script cuts the reply of line %d", s.line)}
	default:
		p.yield(reply, nil)
		return
	}
	if p.yield(cutReply(reply, p.shown), nil) {
		p.yield(nil, err)
	}
}

// cutReply is what is left of a reply that broke off: its text.
func cutReply(reply model.Reply, text string) model.Reply {
	reply.Stop = model.Cut
	reply.Message.Parts = nil
	if strings.TrimSpace(text) != "" {
		reply.Message.Parts = []model.Part{model.Text{Text: text}}
	}
	return reply
}

// pieces cuts text into a few bytes at a time, between characters.
func pieces(text string) iter.Seq[string] {
	const size = 24
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := min(size, len(text))
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}
