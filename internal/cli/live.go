package cli

import (
	"bytes"
	"io"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/secret"
)

// A veil takes secrets out of what running calls print, line by line, as it is
// shown. What is recorded has been through the journal's.
type veil struct {
	secrets *secret.Redactor
	calls   map[string]*veiled
}

// A veiled is what one call prints: in goes through the redactor into out.
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
	case agent.Recorded:
		f, ok := s.Event.Body.(event.Finished)
		if !ok {
			break
		}
		if c := v.calls[f.Call]; c != nil {
			_ = c.in.Close() // a buffer takes everything
			delete(v.calls, f.Call)
			return append(c.shown(f.Call), s)
		}
	}
	return []agent.Signal{s}
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
