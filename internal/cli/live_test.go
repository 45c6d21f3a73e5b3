package cli

import (
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/decide/secret"
)

// F01: however the output of a call is cut into pieces, no secret of it is shown,
// nothing else is lost, and no line waits for the next.
func TestBug_F01_LiveOutputIsVeiled(t *testing.T) {
	const key = "sk-0123456789abcdef"
	text := "a\nkey " + key + " and " + key + "\nlast " + key
	want := strings.ReplaceAll(text, key, "[redacted:KEY]")
	finished := agent.Recorded{Event: event.Event{Body: event.Finished{Call: "c1"}}}
	for size := 1; size <= len(text); size++ {
		v := newVeil(secret.New(map[string]string{"KEY": key}))
		var shown strings.Builder
		show := func(s agent.Signal) {
			for _, s := range v.pass(s) {
				if o, ok := s.(agent.Output); ok && o.Call == "c1" {
					shown.Write(o.Text)
				}
			}
		}
		for at := 0; at < len(text); at += size {
			end := min(at+size, len(text))
			show(agent.Output{Call: "c1", Text: []byte(text[at:end])})
			show(agent.Output{Call: "c2", Text: []byte("other")})
			if whole := strings.LastIndex(text[:end], "\n") + 1; strings.Count(shown.String(), "\n") != strings.Count(text[:whole], "\n") {
				t.Errorf("in pieces of %d, after %d bytes: %q", size, end, shown.String())
			}
		}
		show(finished)
		if shown.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, shown.String(), want)
		}
		if len(v.begun) != 1 {
			t.Errorf("%d calls are remembered, want one", len(v.begun))
		}
	}
	v := newVeil(nil)
	v.pass(agent.Output{Call: "c1", Text: []byte(strings.Repeat("x", maxLiveLine+1))})
	if n := len(v.begun["c1"]); n > 0 {
		t.Errorf("%d bytes of a line without end are held back", n)
	}
}
