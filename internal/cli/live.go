package cli

import (
	"bytes"
	"io"
	"slices"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/secret"
)

// A veil takes secrets out of what is shown before it is recorded: what running
// calls print, line by line, and what the model types. What is recorded has been
// through the journal's.
type veil struct {
	secrets     *secret.Redactor
	calls       map[string]*veiled
	text, think *veiled // of the reply that is coming; nil before it begins
}

// A veiled is one stream: in goes through the redactor into out.
type veiled struct {
	in  io.WriteCloser
	out bytes.Buffer
}

func newVeil(secrets *secret.Redactor) *veil {
	return &veil{secrets: secrets, calls: make(map[string]*veiled)}
}

// pass returns the signals to show for s.
func (v *veil) pass(s agent.Signal) []agent.Signal {
	switch s := s.(type) {
	case agent.Output:
		c := v.calls[s.Call]
		if c == nil {
			c = new(veiled)
			c.in = v.secrets.Writer(&c.out)
			v.calls[s.Call] = c
		}
		_, _ = c.in.Write(s.Text) // a buffer takes everything
		return c.shown(s.Call)
	case agent.Typing:
		return v.typed(s)
	case agent.Recorded:
		switch b := s.Event.Body.(type) {
		case event.Replied:
			rest := v.thought()
			v.text = nil // who shows it has the whole reply now
			return append(rest, s)
		case event.Finished:
			if c := v.calls[b.Call]; c != nil {
				_ = c.in.Close() // a buffer takes everything
				delete(v.calls, b.Call)
				return append(c.shown(b.Call), s)
			}
		}
	}
	return []agent.Signal{s}
}

// typed returns what to show of a piece of a reply.
func (v *veil) typed(s agent.Typing) []agent.Signal {
	switch d := s.Delta.(type) {
	case model.TextDelta:
		shown := v.thought()
		if text := v.add(&v.text, d.Text); text != "" {
			shown = append(shown, agent.Typing{Delta: model.TextDelta{Text: text}})
		}
		return shown
	case model.ReasoningDelta:
		if text := v.add(&v.think, d.Text); text != "" {
			return []agent.Signal{agent.Typing{Delta: model.ReasoningDelta{Text: text}}}
		}
		return nil
	case model.CallDelta:
		d.Args = "" // nobody shows a part of them
		return []agent.Signal{agent.Typing{Delta: d}}
	case model.Waiting:
		d.Why = v.secrets.Text(d.Why)
		v.text, v.think = nil, nil // the reply begins again
		return []agent.Signal{agent.Typing{Delta: d}}
	}
	return []agent.Signal{s}
}

// thought ends the reasoning, of which it returns what has not been shown.
func (v *veil) thought() []agent.Signal {
	if v.think == nil {
		return nil
	}
	_ = v.think.in.Close() // a buffer takes everything
	rest := v.think.out.String()
	if v.think = nil; rest == "" {
		return nil
	}
	return []agent.Signal{agent.Typing{Delta: model.ReasoningDelta{Text: rest}}}
}

// add returns what comes through of a stream when text is added to it.
func (v *veil) add(to **veiled, text string) string {
	if *to == nil {
		*to = new(veiled)
		(*to).in = v.secrets.Typing(&(*to).out)
	}
	_, _ = io.WriteString((*to).in, text) // a buffer takes everything
	defer (*to).out.Reset()
	return (*to).out.String()
}

// shown returns what has come through.
func (c *veiled) shown(call string) []agent.Signal {
	if c.out.Len() == 0 {
		return nil
	}
	text := bytes.Clone(c.out.Bytes())
	c.out.Reset()
	return []agent.Signal{agent.Output{Call: call, Text: text}}
}

// question returns q as it is shown: the person decides on what is done, with
// marks for the secrets in it. A rule that holds a secret is not offered.
func (v *veil) question(q agent.Question) agent.Question {
	text := v.secrets.Text
	q.Plan.Call.Args = v.secrets.Bytes(q.Plan.Call.Args)
	q.Plan.Summary, q.Plan.Preview = text(q.Plan.Summary), text(q.Plan.Preview)
	q.Plan.Parts = slices.Clone(q.Plan.Parts)
	for i := range q.Plan.Parts {
		p := &q.Plan.Parts[i]
		p.Name, p.Effects = text(p.Name), slices.Clone(p.Effects)
		for n := range p.Effects {
			p.Effects[n].On = text(p.Effects[n].On)
		}
	}
	if q.Action != nil {
		shown := *q.Action
		shown.Preview, shown.Summary = text(shown.Preview), text(shown.Summary)
		q.Action = &shown
	}
	q.Decision.Reason = text(q.Decision.Reason)
	q.Why = slices.Clone(q.Why)
	for i := range q.Why {
		q.Why[i].Answer = text(q.Why[i].Answer)
	}
	q.Remember = slices.DeleteFunc(slices.Clone(q.Remember), func(rule string) bool { return text(rule) != rule })
	return q
}
