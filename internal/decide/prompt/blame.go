package prompt

import (
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/session"
)

// Blame returns the event that keeps out of requests what r rejects of the one
// that Request builds from s: an image, opaque reasoning, what a result holds
// beside words, a call with its result. It is false for what is not from an
// event, and for the words that a person said: a request without them asks for
// something else.
func Blame(s *session.State, r *model.Rejection) (event.Quarantined, bool) {
	lines := talk(s, nil)
	if r.Message < 0 || r.Message >= len(lines) {
		return event.Quarantined{}, false
	}
	l := lines[r.Message]
	if r.Part < 0 || r.Part >= len(l.parts) || l.parts[r.Part] < 0 {
		return event.Quarantined{}, false
	}
	q := event.Quarantined{Seq: l.message.Seq, Part: l.parts[r.Part], Reason: r.Reason}
	switch p := l.message.Parts[r.Part].(type) {
	case model.CallResult:
		q.Media = len(p.Media) > 0
	case model.Text:
		return q, l.message.Role == model.Assistant
	}
	return q, true
}
