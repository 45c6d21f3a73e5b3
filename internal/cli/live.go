package cli

import (
	"bytes"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/secret"
)

// maxLiveLine bounds what is held back of a line that does not end. Far less of
// it is ever shown.
const maxLiveLine = 64 << 10

// A veil takes secrets out of what running calls print, line by line, as it is
// shown. What is recorded has been through the journal's.
type veil struct {
	secrets *secret.Redactor
	begun   map[string][]byte // by call: a line that has not ended
}

func newVeil(secrets *secret.Redactor) *veil {
	return &veil{secrets: secrets, begun: make(map[string][]byte)}
}

// pass returns the signals to show for s.
func (v *veil) pass(s agent.Signal) []agent.Signal {
	switch s := s.(type) {
	case agent.Output:
		text := append(v.begun[s.Call], s.Text...)
		end := bytes.LastIndexByte(text, '\n') + 1
		if len(text)-end > maxLiveLine {
			end = len(text)
		}
		v.begun[s.Call] = bytes.Clone(text[end:])
		return v.output(s.Call, text[:end])
	case agent.Recorded:
		if f, ok := s.Event.Body.(event.Finished); ok {
			rest := v.output(f.Call, v.begun[f.Call])
			delete(v.begun, f.Call)
			return append(rest, s)
		}
	}
	return []agent.Signal{s}
}

func (v *veil) output(call string, text []byte) []agent.Signal {
	if len(text) == 0 {
		return nil
	}
	return []agent.Signal{agent.Output{Call: call, Text: []byte(v.secrets.Text(string(text)))}}
}
