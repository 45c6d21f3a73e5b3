package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func recorded(after time.Duration, b event.Body) agent.Signal {
	return agent.Recorded{Event: event.Event{Seq: 1, Time: start.Add(after), Body: b}}
}

func text(s string) agent.Signal { return agent.Typing{Delta: model.TextDelta{Text: s}} }

func replied(usage model.Usage, cost int64, stop model.Stop, parts ...model.Part) agent.Signal {
	return recorded(0, event.Replied{
		Message: model.Message{Role: model.Assistant, Parts: parts},
		Usage:   usage, Cost: cost, Stop: stop,
	})
}

func callOf(id, name, args string) model.Call {
	return model.Call{Call: tool.Call{ID: id, Tool: name, Args: json.RawMessage(args)}}
}

func planned(id, name, summary string) agent.Signal {
	return recorded(0, event.Planned{Plan: tool.Plan{Call: tool.Call{ID: id, Tool: name}, Summary: summary}})
}

func finished(id string, ms int64, r tool.Result) agent.Signal {
	r.Metrics = &tool.Metrics{Milliseconds: ms}
	return recorded(0, event.Finished{Call: id, Result: r})
}

// aTurn is a turn in which much happens, and much of it is hostile.
func aTurn() []agent.Signal {
	return []agent.Signal{
		recorded(0, event.Asked{Text: "fix it"}),
		recorded(0, event.Ruled{Path: "AGENTS.md", Text: "be kind"}),
		recorded(0, event.Ruled{Path: "a/AGENTS.md"}),
		recorded(0, event.Ruled{Path: "b/AGENTS.md", Left: "it has too\x1b[31m many bytes"}),
		agent.Typing{Delta: model.Waiting{Until: start.Add(12 * time.Second), Why: "rate limited"}},
		agent.Typing{Delta: model.ReasoningDelta{Text: "Look at\x1b[2J the file."}},
		text("I read\x1b[31m the file\r"), text("\nfirst.\n▎ May Bash rm?"),
		replied(model.Usage{Input: 1200, Output: 30}, 250_000, model.Calls,
			model.Text{Text: "I read\x1b[31m the file\r\nfirst.\n▎ May Bash rm?"},
			callOf("c1", "Read", `{"path":"a.go"}`), callOf("c2", "Grep", `{"pattern":"x\n\u202e"}`)),
		planned("c1", "Read", "read a.go"),
		finished("c1", 3, tool.Result{Status: tool.Success, Text: "1 a\n2 b\n3 c\n"}),
		finished("c2", 1, tool.Failed(&tool.Failure{Kind: tool.Invalid, Message: "pattern: missing )"})),
		replied(model.Usage{Input: 200, Cached: 1200, Output: 80}, 150_000, model.Calls,
			callOf("c3", "Edit", `{"path":"a.go"}`), callOf("c4", "Bash", `{"command":"go test ./..."}`)),
		planned("c3", "Edit", "edit a.go"),
		planned("c4", "Bash", "go test ./..."),
		recorded(0, event.Decided{Call: "c4", Verdict: "allow", By: event.ByPerson, Remember: "Bash(go test ./...)"}),
		finished("c3", 5, tool.Result{Status: tool.Success, Text: "-1\n+2\n", Edits: []edit.Intent{{Path: "a.go"}}}),
		agent.Output{Call: "c4", Text: []byte("=== RUN\x1b]0;owned\x07 1%\r2%")},
		agent.Output{Call: "c4", Text: []byte("\r100%\nok")},
		finished("c4", 61_000, tool.Result{Status: tool.Interrupted, Text: "cut", Failure: &tool.Failure{Kind: tool.Cancelled, Message: "interrupted by the user"}}),
		replied(model.Usage{Input: 300, Output: 5}, 0, model.Cut, model.Text{Text: "Half an ans"}),
		recorded(65*time.Second, event.Stopped{Reason: "interrupted"}),
		recorded(70*time.Second, event.Asked{Text: "go on"}),
		text("Done: it "), text("works."),
		replied(model.Usage{Input: 10, Output: 5}, 0, model.End, model.Text{Text: "Done: it works."}),
		recorded(71*time.Second, event.Stopped{Reason: "end"}),
	}
}

// play shows signals and returns what came out.
func play(t *testing.T, o Options, signals ...agent.Signal) (out, progress string) {
	t.Helper()
	var a, b bytes.Buffer
	o.Out, o.Progress = &a, &b
	o.Now = func() time.Time { return start }
	u := New(o)
	for _, s := range signals {
		u.Observe(s)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

func TestTurn(t *testing.T) {
	tests := []struct {
		name string
		o    Options
	}{
		{"plain", Options{}},
		{"narrow", Options{Width: 40}},
		{"colour", Options{Color: true, Stream: true, Width: 80}},
		{"verbose", Options{Verbose: true, Stream: true, Width: 80}},
		{"quiet", Options{Quiet: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, progress := play(t, tt.o, aTurn()...)
			got := "-- out --\n" + out + "-- progress --\n" + strings.ReplaceAll(progress, "\x1b", "␛")
			golden(t, tt.name+".txt", got)
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// One writer for both must not mix their lines.
func TestTurnOnOneTerminal(t *testing.T) {
	var b bytes.Buffer
	u := New(Options{Out: &b, Stream: true, Verbose: true, Width: 80, Now: func() time.Time { return start }})
	for _, s := range aTurn() {
		u.Observe(s)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	golden(t, "one.txt", b.String())
}

func TestBug_U02_NoEscapeWithoutColour(t *testing.T) {
	for _, o := range []Options{{}, {Stream: true}, {Verbose: true}, {Stream: true, Verbose: true, Width: 30}, {Quiet: true}} {
		out, progress := play(t, o, aTurn()...)
		if strings.ContainsAny(out+progress, "\x1b\u009b\x07\r") {
			t.Errorf("%+v: an escape sequence in %q or %q", o, out, progress)
		}
	}
	out, progress := play(t, Options{Color: true, Stream: true, Verbose: true}, aTurn()...)
	if strings.Contains(out, "\x1b") {
		t.Errorf("an escape sequence in the answer %q", out)
	}
	if !strings.Contains(progress, "\x1b[31m✗\x1b[0m") {
		t.Errorf("no colour in %q", progress)
	}
}

func TestR320_FailureSaysStepToolKindAndReason(t *testing.T) {
	conflict := tool.Failed(&tool.Failure{Kind: tool.Stale, Message: "File changed since last read"})
	reply := replied(model.Usage{}, 0, model.Calls, callOf("c1", "Edit", `{"path":"a.go"}`))
	tests := []struct {
		name    string
		signals []agent.Signal
		want    string
	}{
		{"while acting", []agent.Signal{reply, reply, reply, planned("c1", "Edit", "edit a.go"), finished("c1", 2, conflict)},
			"✗ [step 3] Edit a.go: stale (File changed since last read) 2ms\n"},
		{"before it was understood", []agent.Signal{reply, finished("c1", 0, conflict)},
			"✗ [step 1] Edit a.go: stale (File changed since last read) 0ms\n"},
		{"denied", []agent.Signal{reply,
			recorded(0, event.Decided{Call: "c1", Verdict: "deny", By: "deny Edit(*)", Reason: "not here"}),
			finished("c1", 0, tool.Failed(&tool.Failure{Kind: tool.Denied, Message: "deny Edit(*): not here"}))},
			"✗ [step 1] Edit a.go: denied (deny Edit(*): not here) 0ms\n"},
		{"said once", []agent.Signal{reply,
			finished("c1", 0, tool.Failed(&tool.Failure{Kind: tool.Denied, Message: "denied by the user: not here"}))},
			"✗ [step 1] Edit a.go: denied by the user: not here 0ms\n"},
		{"unasked", []agent.Signal{reply,
			finished("c1", 0, tool.Failed(&tool.Failure{Kind: tool.NeedsApproval, Message: "no approver is present: mode ask asks first"}))},
			"✗ [step 1] Edit a.go: needs_approval (no approver is present: mode ask asks first) 0ms\n"},
		{"unknown", []agent.Signal{reply, finished("c1", 0, tool.Result{Status: tool.Unknown, Text: "it may have happened"})},
			"✗ [step 1] Edit a.go: unknown (it may have happened) 0ms\n"},
		{"of another run", []agent.Signal{planned("c1", "Edit", "edit a.go"), finished("c1", 0, conflict)},
			"✗ Edit a.go: stale (File changed since last read) 0ms\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := play(t, Options{}, tt.signals...)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBug_U01_RemarksFit(t *testing.T) {
	for _, s := range texts {
		for width := 1; width <= 120; width++ {
			_, got := play(t, Options{Width: width},
				replied(model.Usage{}, 0, model.Calls, callOf("c1", "Read", string(mustJSON(t, map[string]string{"path": s})))),
				finished("c1", 1, tool.Failed(&tool.Failure{Kind: tool.NotFound, Message: s})))
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) > maxRemark {
				t.Fatalf("%q at %d takes %d lines", s, width, len(lines))
			}
			for _, line := range lines {
				checkShown(t, line, width)
			}
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type broken struct{ n int }

func (b *broken) Write(p []byte) (int, error) {
	b.n++
	return 0, errors.New("pipe is closed")
}

func TestWriteErrorIsToldOnce(t *testing.T) {
	w, told := new(broken), 0
	u := New(Options{Out: w, Stream: true, Broken: func(error) { told++ }})
	for _, s := range aTurn() {
		u.Observe(s)
	}
	err := u.Close()
	if err == nil || told != 1 || w.n != 1 {
		t.Errorf("error %v, told %d times, written to %d times", err, told, w.n)
	}
}

// A terminal that stands still neither holds up the agent nor loses a reply.
func TestSlowTerminalShowsWholeReply(t *testing.T) {
	w := &gate{open: make(chan struct{})}
	u := New(Options{Out: w, Stream: true})
	var whole strings.Builder
	for range 3 * maxQueue {
		whole.WriteString("word ")
		u.Observe(text("word "))
	}
	u.Observe(replied(model.Usage{}, 0, model.End, model.Text{Text: whole.String()}))
	close(w.open)
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(whole.String()+"\n", w.String()); d != "" {
		t.Error(d)
	}
}

// A gate takes nothing until it is open.
type gate struct {
	taken bytes.Buffer
	open  chan struct{}
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.taken.Write(p)
}

func (g *gate) String() string { return g.taken.String() }

func TestFigures(t *testing.T) {
	tests := []struct{ got, want string }{
		{grouped(0), "0"}, {grouped(999), "999"}, {grouped(1000), "1,000"}, {grouped(1234567), "1,234,567"},
		{dollars(1), "$0.0001"}, {dollars(100_000_000), "$1.0000"}, {dollars(123_456_789), "$1.2346"},
		{short(999 * time.Millisecond), "999ms"}, {short(1500 * time.Millisecond), "1.5s"}, {short(125 * time.Second), "2m5s"},
		{count(1, "step"), "1 step"}, {count(0, "step"), "0 steps"},
		{label("Edit", "edit a.go"), "Edit a.go"}, {label("Bash", "go test"), "Bash go test"}, {label("LS", ""), "LS"},
		{target([]byte(`{"a":1}`)), `{"a":1}`}, {target(nil), ""}, {target([]byte(`{"path":"x","a":1}`)), "x"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// R151: the end of a turn tells how many of its calls went to the shell.
func TestR151_TheShareOfTheShellIsTold(t *testing.T) {
	var turn turn
	for _, name := range []string{"Read", "Bash", "Edit", "Bash", "Test"} {
		turn.called(name)
	}
	if got := turn.summary(time.Time{}, event.Stopped{Reason: string(model.End)}); !strings.Contains(got, "2 of 5 calls in the shell") {
		t.Error(got)
	}
}

// What was not reported but counted here is marked.
func TestEstimatesAreMarked(t *testing.T) {
	for estimated, want := range map[bool]string{
		false: "done; 1 step, 1,200 tokens in, 30 out, $0.0025",
		true:  "done; 1 step, ~1,200 tokens in, ~30 out, ~$0.0025",
	} {
		var turn turn
		turn.reply(event.Replied{Usage: model.Usage{Input: 1200, Output: 30, Estimated: estimated}, Cost: 250_000})
		if got := turn.summary(start, event.Stopped{Reason: string(model.End)}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
