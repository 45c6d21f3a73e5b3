package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR320_ACallSaysWhatItWaitedFor in its one line, with target, time and kind of
// failure.
func TestR320_ACallSaysWhatItWaitedFor(t *testing.T) {
	reply := replied(model.Usage{}, 0, model.Calls, callOf("c1", "Edit", `{"path":"a.go"}`),
		callOf("c2", "Read", `{"path":"a.go"}`), callOf("c3", "Bash", `{"command":"go test"}`))
	started := func(id string, waited ...event.Wait) agent.Signal {
		return recorded(0, event.Started{Call: id, Waited: waited})
	}
	_, got := play(t, Options{}, reply,
		planned("c1", "Edit", "edit a.go"), started("c1"), finished("c1", 5, tool.Result{Status: tool.Success}),
		planned("c2", "Read", "read a.go"), started("c2", event.Wait{Call: "c1"}), finished("c2", 3, tool.Result{Status: tool.Success}),
		planned("c3", "Bash", "go test"), started("c3", event.Wait{Call: "c1"}, event.Wait{Call: "c2"}),
		finished("c3", 9, tool.Failed(&tool.Failure{Kind: tool.NonzeroExit, Message: "the command ended with exit status 1"})))
	want := "✓ Edit a.go 5ms\n✓ Read a.go 3ms, after Edit a.go\n" +
		"✗ [step 1] Bash go test: nonzero_exit (the command ended with exit status 1) 9ms, after Edit a.go and 1 more\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestR320_TheEndOfATurnSaysHowFullTheContextIs, where that is known, and of one
// turn only.
func TestR320_TheEndOfATurnSaysHowFullTheContextIs(t *testing.T) {
	var b bytes.Buffer
	u := New(Options{Out: &b, Now: func() time.Time { return start }})
	u.Fill(1_501, 10_000)
	u.Observe(recorded(0, event.Stopped{Reason: "end"}))
	u.Observe(recorded(0, event.Stopped{Reason: "end"}))
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "● done; 0 steps, context 16% full\n● done; 0 steps\n" {
		t.Errorf("%q", got)
	}
}

// A report is for the progress, marked, harmless, and not for who wants quiet.
func TestR245_ClaimsAreShown(t *testing.T) {
	claims := []Claim{{Text: "changed a\x1b[2J.go\n! forged"}, {Text: "unverified: " + strings.Repeat("long ", 30), Bad: true}}
	for _, o := range []Options{{}, {Quiet: true}, {Width: 40}, {Color: true}} {
		var out, progress bytes.Buffer
		o.Out, o.Progress = &out, &progress
		u := New(o)
		u.Report(claims)
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
		got := progress.String()
		if out.Len() > 0 || strings.Contains(got, "\x1b[2J") || strings.Contains(got, "\n! forged") || o.Quiet != (got == "") {
			t.Errorf("%+v: %q and %q", o, out.String(), got)
		}
		if !o.Quiet && !o.Color && (!strings.HasPrefix(got, "· changed a") || !strings.Contains(got, "\n! unverified: long")) {
			t.Errorf("%+v: %q", o, got)
		}
	}
}
