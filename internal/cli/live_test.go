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
		v := newVeil(secret.New(secret.Options{Held: map[string]string{"KEY": key}}))
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
		if len(v.calls) != 1 {
			t.Errorf("%d calls are remembered, want one", len(v.calls))
		}
	}
	v := newVeil(secret.New(secret.Options{}))
	shown := v.pass(agent.Output{Call: "c1", Text: []byte(strings.Repeat("x", 1<<20))})
	if len(shown) != 1 || len(shown[0].(agent.Output).Text) < 900<<10 {
		t.Error("a line without end is held back")
	}
}

// Lines of a private key are shown as one mark, those around it as they come.
func TestR136_APrivateKeyIsNotShownLineByLine(t *testing.T) {
	v := newVeil(secret.New(secret.Options{}))
	var shown strings.Builder
	for line := range strings.Lines("before\n-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 9) + "-----END PRIVATE KEY-----\nafter\n") {
		for _, s := range v.pass(agent.Output{Call: "c1", Text: []byte(line)}) {
			shown.Write(s.(agent.Output).Text)
		}
		if line == "before\n" && shown.String() != line {
			t.Errorf("a line waits for the next: %q", shown.String())
		}
	}
	if want := "before\n[secret:private-key]\nafter\n"; shown.String() != want {
		t.Errorf("%q, want %q", shown.String(), want)
	}
}
