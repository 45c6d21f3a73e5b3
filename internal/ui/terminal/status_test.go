package terminal

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// watch runs f in a bubble, in which time is what the test lets pass, and returns
// what the terminal got.
func watch(t *testing.T, o Options, f func(u *UI)) (seen string) {
	synctest.Test(t, func(t *testing.T) {
		s := new(screen)
		o.Out = s
		u := New(o)
		f(u)
		if err := u.Close(); err != nil {
			t.Error(err)
		}
		seen = s.String()
	})
	return strings.ReplaceAll(seen, "\x1b[K", "␛[K")
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func started(u *UI, id, command string) {
	u.Observe(replied(model.Usage{}, 0, model.Calls, callOf(id, "Bash", `{"command":"`+command+`"}`)))
	u.Observe(planned(id, "Bash", command))
	u.Observe(recorded(0, event.Started{Call: id}))
}

func ended(u *UI, id string) {
	u.Observe(finished(id, 3000, tool.Result{Status: tool.Success}))
}

// What runs longer than a second is shown on one line, which is drawn again each
// second and gone when anything else is written.
func TestStatus(t *testing.T) {
	live := Options{Live: true, Width: 40}
	for _, tc := range []struct {
		name string
		o    Options
		f    func(u *UI)
		want string
	}{
		{"a command", live, func(u *UI) {
			started(u, "c1", "make")
			pass(time.Second)
			u.Observe(agent.Output{Call: "c1", Text: []byte("one\ntwo\x1b[2J\r\nthr")})
			pass(time.Second)
			ended(u, "c1")
		}, "· 1s Bash make\r␛[K· 1s Bash make\n  │ one\n  │ two\\x1b[2J\r␛[K\x1b[A␛[K\x1b[A␛[K" +
			"· 2s Bash make\n  │ one\n  │ two\\x1b[2J\r␛[K\x1b[A␛[K\x1b[A␛[K✓ Bash make 3.0s\n"},
		{"a command that falls silent", live, func(u *UI) {
			started(u, "c1", "make")
			u.Observe(agent.Output{Call: "c1", Text: []byte("1\n2\n3\n4\n5\n6\n7\n")})
			pass(4500 * time.Millisecond)
			pass(time.Second)
			ended(u, "c1")
		}, strings.Join([]string{"· 1s Bash make\n", "· 2s Bash make\n", "· 3s Bash make\n", "· 4s Bash make\n", "· 5s Bash make, silent for 5s\n", "✓ Bash make 3.0s\n"},
			"  │ 3\n  │ 4\n  │ 5\n  │ 6\n  │ 7\r␛[K"+strings.Repeat("\x1b[A␛[K", 5))},
		{"a model that takes its time", live, func(u *UI) {
			u.Observe(recorded(0, event.Sent{Bytes: 100}))
			pass(time.Second)
			u.Observe(text(strings.Repeat("x", 400)))
			pass(time.Second)
			u.Observe(replied(model.Usage{}, 0, model.End, model.Text{Text: "Hi."}))
			pass(time.Hour)
		}, "· 1s waiting for the model\r␛[K· 2s waiting for the model, about 100 …\r␛[KHi.\n"},
		{"work of our own", live, func(u *UI) {
			done := u.Doing("keeping the files as they are")
			pass(time.Second)
			done()
			pass(time.Hour)
			u.Doing("a moment")()
			pass(time.Hour)
		}, "· 1s keeping the files as they are\r␛[K"},
		{"a screen of few rows", Options{Live: true, Width: 40, Height: 6}, func(u *UI) {
			started(u, "c1", "make")
			u.Observe(agent.Output{Call: "c1", Text: []byte("1\n2\n3\n")})
			pass(time.Second)
			ended(u, "c1")
		}, "· 1s Bash make\n  │ 3\r␛[K\x1b[A␛[K✓ Bash make 3.0s\n"},
		{"a wait", live, func(u *UI) {
			u.Observe(agent.Typing{Delta: model.Waiting{Until: time.Now().Add(3 * time.Second), Why: "busy"}})
			pass(4*time.Second + time.Millisecond)
			u.Observe(replied(model.Usage{}, 0, model.End, model.Text{Text: "Hi."}))
			pass(time.Hour)
		}, "· waiting 3s, until 00:00:03: busy\n· asking again in 3s (Ctrl-C stops)\r␛[K· asking again in 2s (Ctrl-C stops)\r␛[K· asking again in 1s (Ctrl-C stops)\r␛[K· asking again\r␛[K· asking again\r␛[KHi.\n"},
		{"a wait while a person may type", Options{Live: true, Width: 40, Stream: true}, func(u *UI) {
			u.Observe(agent.Typing{Delta: model.Waiting{Until: time.Now().Add(4 * time.Second), Why: "busy"}})
			pass(1*time.Second + time.Millisecond)
			u.Say("the model hears that")
			pass(2 * time.Second)
			pass(time.Hour) // it stays at its end
			u.Observe(replied(model.Usage{}, 0, model.End, model.Text{Text: "Hi."}))
		}, "· waiting 4s, until 00:00:04: busy\n· asking again in 4s (Ctrl-C stops)\n\x1b7\x1b[A\r␛[K· asking again in 3s (Ctrl-C stops)\x1b8" +
			"\x1b7\x1b[A\r␛[K· the model hears that\x1b8· asking again in 2s (Ctrl-C stops)\n\x1b7\x1b[A\r␛[K· asking again in 1s (Ctrl-C stops)\x1b8\x1b7\x1b[A\r␛[K· asking again\x1b8Hi.\n"},
		{"a wait of a person who types", Options{Live: true, Width: 40, Stream: true}, func(u *UI) {
			u.Observe(agent.Typing{Delta: model.Waiting{Until: time.Now().Add(2 * time.Second), Why: "busy"}})
			pass(time.Millisecond)
			u.do(context.Background(), u.view.typed)
			pass(2 * time.Second)
		}, "· waiting 2s, until 00:00:02: busy\n· asking again in 2s (Ctrl-C stops)\n· asking again in 1s (Ctrl-C stops)\n\x1b7\x1b[A\r␛[K· asking again\x1b8"},
		{"a wait in a narrow window", Options{Live: true, Width: 20, Stream: true, Color: false}, func(u *UI) {
			u.Observe(agent.Typing{Delta: model.Waiting{Until: time.Now().Add(2 * time.Second), Why: "busy"}})
			pass(time.Second)
		}, "· waiting 2s, until\n    00:00:02: busy\n· asking again in …\n\x1b7\x1b[A\r␛[K· asking again in …\x1b8"},
		{"a wait on a terminal that obeys nothing", Options{Width: 40, Stream: true}, func(u *UI) {
			u.Observe(agent.Typing{Delta: model.Waiting{Until: time.Now().Add(3 * time.Second), Why: "busy"}})
			pass(time.Hour)
		}, "· waiting 3s, until 00:00:03: busy\n"},
		{"a wait of a program", Options{}, func(u *UI) {
			u.Observe(agent.Typing{Delta: model.Waiting{Until: time.Now().Add(3 * time.Second), Why: "busy"}})
			pass(time.Hour)
		}, "· waiting 3s, until 00:00:03: busy\n"},
		{"a quick one", live, func(u *UI) {
			started(u, "c1", "make")
			pass(time.Second - 1)
			ended(u, "c1")
			pass(time.Hour)
		}, "✓ Bash make 3.0s\n"},
		{"two", live, func(u *UI) {
			started(u, "c1", "make")
			started(u, "c2", "ls")
			pass(time.Second)
			ended(u, "c1")
			pass(time.Second)
			ended(u, "c2")
		}, "· 1s Bash make\n· 1s Bash ls\r␛[K\x1b[A␛[K✓ Bash make 3.0s\n· 2s Bash ls\r␛[K✓ Bash ls 3.0s\n"},
		{"a wide one", live, func(u *UI) {
			started(u, "c1", strings.Repeat("x", 60))
			pass(time.Second)
			u.Observe(agent.Output{Call: "c1", Text: []byte("a\tb " + strings.Repeat("y", 60) + "\n")})
			pass(time.Second)
			u.Say("hello")
		}, "· 1s Bash xxxxxxxxxxxxx…\r␛[K· 1s Bash xxxxxxxxxxxxx…\n  │ a       b yyyyyyyyyyyyyyyyyyyyyyyy…\r␛[K\x1b[A␛[K" +
			"· 2s Bash xxxxxxxxxxxxx…\n  │ a       b yyyyyyyyyyyyyyyyyyyyyyyy…\r␛[K\x1b[A␛[K· hello\n"},
		{"the end", live, func(u *UI) {
			started(u, "c1", "make")
			pass(time.Second)
		}, "· 1s Bash make\r␛[K"},
		{"with output", Options{Live: true, Width: 40, Verbose: true}, func(u *UI) {
			started(u, "c1", "make")
			pass(time.Second)
			u.Observe(agent.Output{Call: "c1", Text: []byte("one\n")})
			pass(0)
		}, "· plan: Bash make\n· 1s Bash make\r␛[K  │ one\n"},
		{"while a person may type", Options{Live: true, Width: 40, Stream: true}, func(u *UI) {
			started(u, "c1", "make")
			pass(2*time.Second + time.Millisecond)
			ended(u, "c1")
			u.Say("hello")
		}, "· 1s Bash make\n\x1b7\x1b[A\r␛[K· 2s Bash make\x1b8\x1b7\x1b[A\r␛[K✓ Bash make 3.0s\x1b8· hello\n"},
		{"what a person types stays below it", Options{Live: true, Width: 40, Stream: true}, func(u *UI) {
			started(u, "c1", "make")
			pass(time.Second + time.Millisecond)
			u.do(context.Background(), u.view.typed)
			pass(time.Second)
			u.Observe(text("Hi."))
			pass(0)
			ended(u, "c1")
		}, "· 1s Bash make\n· 2s Bash make\n\x1b7\x1b[A\r␛[K\x1b8Hi.\n✓ Bash make 3.0s\n"},
		{"quiet", Options{Live: true, Width: 40, Quiet: true}, func(u *UI) {
			started(u, "c1", "make")
			pass(time.Minute)
			ended(u, "c1")
		}, ""},
		{"no terminal", Options{Live: true}, func(u *UI) {
			started(u, "c1", "make")
			pass(time.Minute)
			ended(u, "c1")
		}, "✓ Bash make 3.0s\n"},
		{"a line that is begun", Options{Live: true, Width: 40}, func(u *UI) {
			started(u, "c1", "make")
			u.do(context.Background(), func() { u.view.prompt("> ") })
			pass(time.Minute)
		}, "> \n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, watch(t, tc.o, tc.f)); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

// The status fits its line, whatever a command is and prints, and nothing of that
// is obeyed.
func TestBug_U01_StatusFits(t *testing.T) {
	for _, s := range texts {
		for width := 1; width <= 120; width++ {
			v := newView(Options{Live: true, Width: width, Now: func() time.Time { return start }})
			v.calls["c1"] = call{label: s}
			v.started("c1")
			v.output(agent.Output{Call: "c1", Text: []byte(s + "\n")})
			checkShown(t, v.statusLine(start.Add(time.Hour)), width)
			for _, row := range v.window(start.Add(time.Hour)) {
				checkShown(t, row, width)
			}
		}
	}
}
