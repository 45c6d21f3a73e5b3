package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/secret"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A model can say what happens to be a key: a person can take any word for one.
// The call runs on what was said, the log holds the mark, and the
// session goes on, also when it is opened again.
func TestACallThatNamesASecretRuns(t *testing.T) {
	const key = "swordfish"
	dir := t.TempDir()
	redactor := secret.New(secret.Options{Held: map[string]string{"KEY": key}})
	var on []string
	r := newRig(t, options{
		script: steps("call: Act {\"on\": \"a/"+key+"\"}", "call: Act {\"on\": \"b/"+key+"\"}"),
		tools: []tool.Tool{act("Act", effect.Write, func(_ context.Context, path string, _ tool.Env) (tool.Result, error) {
			on = append(on, path)
			return ok(t.Context(), path, tool.Env{})
		})},
		change: func(o *agent.Options) {
			j, err := journal.Open(dir, redactor)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { j.Close() })
			o.Journal = j
		},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(on, " "), "a/"+key+" b/"+key; got != want {
		t.Errorf("ran on %s, want %s", got, want)
	}
	again := new(session.State)
	for e, err := range journal.Read(dir) {
		if err == nil {
			err = again.Apply(e)
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := event.Encode(e, 1)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), key) {
			t.Errorf("on disk: %s", line)
		}
	}
	if open := again.Open(); len(open) != 0 || again.Turn().Steps != 3 {
		t.Errorf("opened again it has %d open calls after %d steps", len(open), again.Turn().Steps)
	}
}
