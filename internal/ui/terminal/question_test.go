package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func part(name string, effects ...effect.Effect) tool.Part {
	return tool.Part{Name: name, Effects: effects}
}

func question(name string, parts ...tool.Part) agent.Question {
	return agent.Question{
		Plan:     tool.Plan{Call: tool.Call{ID: "c1", Tool: name}, Summary: "go test ./...", Parts: parts},
		Action:   &tool.Action{},
		Decision: policy.Decision{Verdict: policy.Ask, Rule: "mode ask", Reason: "it may do anything"},
	}
}

var bash = func() agent.Question {
	q := question("Bash", part("go test ./...", effect.Effect{Kind: effect.Anything}))
	q.Remember = []string{"Bash(go test ./...)", "Bash(gofmt -l *)"}
	return q
}()

// A keyboard is an input that a test types on, and a screen to watch. Inside
// synctest, typing happens when the UI waits.
type keyboard struct {
	*UI
	keys   *io.PipeWriter
	screen *screen
}

type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// withKeyboard runs f in a bubble; whatever is left open there fails the test.
func withKeyboard(t *testing.T, o Options, f func(t *testing.T, k *keyboard)) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		k := &keyboard{keys: w, screen: new(screen)}
		o.In, o.Out, o.Stream = r, k.screen, true
		k.UI = New(o)
		f(t, k)
		w.Close()
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (k *keyboard) typeIn(s string) {
	synctest.Wait()
	io.WriteString(k.keys, s)
	synctest.Wait()
}

type reply struct {
	agent.Answer
	err error
}

func (k *keyboard) ask(ctx context.Context, q agent.Question) <-chan reply {
	c := make(chan reply, 1)
	go func() {
		a, err := k.Approve(ctx, q)
		c <- reply{a, err}
	}()
	synctest.Wait()
	return c
}

func TestApproveAnswers(t *testing.T) {
	tests := []struct {
		typed string
		want  agent.Answer
	}{
		{"y\n", agent.Answer{Allow: true}},
		{" YES \n", agent.Answer{Allow: true}},
		{"n\n", agent.Answer{}},
		{"a\n", agent.Answer{Allow: true, Remember: bash.Remember}},
		{"s\n", agent.Answer{Allow: true, Remember: bash.Remember, Save: true}},
		{"Save\n", agent.Answer{Allow: true, Remember: bash.Remember, Save: true}},
		{"n only the tests of a\n", agent.Answer{Reason: "only the tests of a"}},
		{"No, put it elsewhere\n", agent.Answer{Reason: "put it elsewhere"}},
		{"ok\nsure\nmaybe\nyes please\ny, but\nalways!\nnot this\nn\n", agent.Answer{}},
		{"\nx\ny\n", agent.Answer{Allow: true}},
		{"y\r\n", agent.Answer{Allow: true}},
		{"\x1b[200~y\x1b[201~\ny\n", agent.Answer{Allow: true}},
	}
	for _, tt := range tests {
		t.Run(tt.typed, func(t *testing.T) {
			withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
				c := k.ask(t.Context(), bash)
				for line := range strings.SplitAfterSeq(tt.typed, "\n") {
					if line != "" {
						k.typeIn(line)
					}
				}
				if d := cmp.Diff(tt.want, (<-c).Answer); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

func TestApproveIsNoWithoutAnAnswer(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		c := k.ask(t.Context(), bash)
		k.keys.Close()
		if r := <-c; r.Allow || r.err != nil || r.Reason != "no answer was given" {
			t.Errorf("at the end of the input: %+v", r)
		}
		if r := <-k.ask(t.Context(), bash); r.Allow || r.err != nil {
			t.Errorf("after it: %+v", r)
		}
	})
	u := New(Options{Out: io.Discard})
	defer u.Close()
	if a, err := u.Approve(t.Context(), bash); a.Allow || err != nil || a.Reason == "" {
		t.Errorf("without an input: %+v, %v", a, err)
	}
}

func TestApproveEndsWithItsContext(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		ctx, cancel := context.WithCancel(t.Context())
		first, second := k.ask(ctx, bash), k.ask(ctx, bash)
		cancel()
		for _, c := range []<-chan reply{first, second} {
			if r := <-c; r.Allow || !errors.Is(r.err, context.Canceled) {
				t.Errorf("got %+v", r)
			}
		}
		k.typeIn("y\n") // too late for the first, too early for the next
		c := k.ask(t.Context(), bash)
		select {
		case r := <-c:
			t.Fatalf("an old line answered: %+v", r)
		default:
		}
		k.typeIn("n\n")
		if r := <-c; r.Allow {
			t.Errorf("got %+v", r)
		}
		if n := strings.Count(k.screen.String(), "May Bash"); n != 2 {
			t.Errorf("%d questions were shown, one of them to nobody", n)
		}
	})
}

func TestApproveEndsWithClose(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		c := k.ask(t.Context(), bash)
		k.Close()
		if r := <-c; r.Allow || !errors.Is(r.err, ErrClosed) {
			t.Errorf("got %+v", r)
		}
		if _, err := k.Approve(t.Context(), bash); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := k.ReadLine(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestApproveDropsWhatWasTypedBefore(t *testing.T) {
	discarded := 0
	withKeyboard(t, Options{Discard: func() { discarded++ }}, func(t *testing.T, k *keyboard) {
		lines := make(chan string, 1)
		go func() {
			line, _ := k.ReadLine(t.Context())
			lines <- line
		}()
		k.typeIn("hello\ny\ny\n") // one write: the rest is in the buffer
		if got := <-lines; got != "hello" {
			t.Fatalf("read %q", got)
		}
		c := k.ask(t.Context(), bash)
		select {
		case r := <-c:
			t.Fatalf("an old line answered: %+v", r)
		default:
		}
		k.typeIn("no\n")
		if r := <-c; r.Allow || discarded != 1 {
			t.Errorf("got %+v, discarded %d times", r, discarded)
		}
	})
}

// While a question is open everything else waits, and a person who was writing
// something else answers the question first.
func TestApproveComesFirst(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		lines := make(chan string, 1)
		go func() {
			line, _ := k.ReadLine(t.Context())
			lines <- line
		}()
		synctest.Wait()
		c := k.ask(t.Context(), bash)
		k.Say("meanwhile")
		synctest.Wait()
		if strings.Contains(k.screen.String(), "meanwhile") {
			t.Error("the question was written into")
		}
		k.typeIn("y\n")
		if r := <-c; !r.Allow {
			t.Errorf("got %+v", r)
		}
		k.typeIn("next\n")
		if got := <-lines; got != "next" {
			t.Errorf("read %q", got)
		}
		if !strings.Contains(k.screen.String(), "meanwhile") {
			t.Error("what waited was lost")
		}
	})
}

func TestQuestion(t *testing.T) {
	q := agent.Question{
		Plan: tool.Plan{
			Call:    tool.Call{ID: "c1", Tool: "Edit"},
			Summary: "edit a.go\x1b[2K\nAllow everything? y",
			Preview: "artifact:12",
			Parts: []tool.Part{
				part("a.go", effect.Effect{Kind: effect.Read, On: "a.go"}, effect.Effect{Kind: effect.Write, On: "a.go"}),
				part("deploy", effect.Effect{Kind: effect.Network, On: "example.com"}, effect.Effect{Kind: effect.Permanent}),
				part("vendor", effect.Effect{Kind: effect.Write, On: "vendor", Tree: true}),
				part("nothing"),
			},
		},
		Action: &tool.Action{Preview: "@@ -1,2 +1,2 @@\n-\told\r\n+\tnew " + strings.Repeat("long ", 20) + "\u202e\n context\n"},
		Decision: policy.Decision{
			Rule: "ask Edit(a.go)", Reason: "you wanted to see these",
		},
	}
	for _, tt := range []struct {
		name string
		o    Options
	}{{"question", Options{}}, {"question-narrow", Options{Width: 32}}, {"question-colour", Options{Width: 60, Color: true}}} {
		t.Run(tt.name, func(t *testing.T) {
			withKeyboard(t, tt.o, func(t *testing.T, k *keyboard) {
				k.Observe(agent.Typing{Delta: model.TextDelta{Text: "I will"}})
				c := k.ask(t.Context(), q)
				k.typeIn("n\n")
				<-c
				k.Say("after")
				synctest.Wait()
				golden(t, tt.name+".txt", strings.ReplaceAll(k.screen.String(), "\x1b", "␛"))
			})
		})
	}
}

func TestUnknownAnswers(t *testing.T) {
	call := session.OpenCall{Plan: tool.Plan{Call: tool.Call{ID: "c1", Tool: "Bash"}, Summary: "make deploy", Preview: "make deploy"}}
	for _, tt := range []struct {
		typed string
		want  event.Settled
		err   error
	}{
		{"d\n", event.Settled{As: "done"}, nil},
		{"what?\nretry\n", event.Settled{As: "retry"}, nil},
		{"s the server is gone\n", event.Settled{As: "skip", Note: "the server is gone"}, nil},
		{"\n", event.Settled{}, ErrNobody},
	} {
		t.Run(tt.typed, func(t *testing.T) {
			withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
				var got event.Settled
				var err error
				done := make(chan struct{})
				go func() {
					got, err = k.Unknown(t.Context(), call)
					close(done)
				}()
				synctest.Wait()
				for line := range strings.Lines(tt.typed) {
					k.typeIn(line)
				}
				<-done
				if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
					t.Errorf("err %v, answer (-want +got):\n%s", err, diff)
				}
				if !strings.Contains(k.screen.String(), "▎ Belay was stopped while Bash make deploy ran") {
					t.Errorf("shown:\n%s", k.screen)
				}
			})
		})
	}
}

func TestAskPutsOneChoice(t *testing.T) {
	const schema = `{"type":"object","properties":{"keep":{"enum":["mine","theirs","both"]}},"required":["keep"]}`
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		type reply struct {
			answer json.RawMessage
			err    error
		}
		c := make(chan reply, 1)
		go func() {
			answer, err := k.Ask(t.Context(), json.RawMessage(schema), "f.txt line 2\x1b[2J\nmine: a\ntheirs: b")
			c <- reply{answer, err}
		}()
		synctest.Wait()
		k.typeIn("neither\n")
		k.typeIn("Both\n")
		if got := <-c; got.err != nil || string(got.answer) != `{"keep":"both"}` {
			t.Errorf("Ask = %s, %v", got.answer, got.err)
		}
		if shown := k.screen.String(); !strings.Contains(shown, "▎ keep: mine, theirs, both") || strings.Contains(shown, "\x1b[2J") {
			t.Errorf("shown:\n%s", shown)
		}
	})
	u := New(Options{Out: io.Discard, In: strings.NewReader("")})
	defer u.Close()
	for _, schema := range []string{schema, `{"type":"string"}`, `{"properties":{"a":{},"b":{"enum":["x"]}}}`, `{`} {
		if answer, err := u.Ask(t.Context(), json.RawMessage(schema), "?"); err == nil {
			t.Errorf("Ask(%s) = %s at the end of the input", schema, answer)
		}
	}
}

func TestUnknownWithoutAPerson(t *testing.T) {
	u := New(Options{Out: io.Discard})
	defer u.Close()
	if _, err := u.Unknown(t.Context(), session.OpenCall{}); !errors.Is(err, ErrNobody) {
		t.Errorf("err = %v, want ErrNobody", err)
	}
}

// TestNextLineLeavesAnswersToQuestions: what is typed while a question is open
// answers it, and the next line is the one who waits for.
func TestNextLineLeavesAnswersToQuestions(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		lines := make(chan string, 1)
		go func() {
			line, _ := k.NextLine(t.Context())
			lines <- line
		}()
		synctest.Wait()
		c := k.ask(t.Context(), bash)
		k.typeIn("y\n")
		if a := <-c; !a.Allow {
			t.Errorf("the answer is %+v", a)
		}
		k.typeIn("steer\n")
		if got := <-lines; got != "steer" {
			t.Errorf("read %q", got)
		}
	})
}

// TestQuestionSaysEverythingOnce: a command that is its own summary and preview
// is shown whole, and once: in its question, its reason and its choices together.
func TestQuestionSaysEverythingOnce(t *testing.T) {
	long := "go test " + strings.Repeat("./x ", 50)
	for _, tc := range []struct{ name, command, summary, reason, once string }{
		{"short", "go test ./...", "go test ./...", "mode ask asks first: the call may do anything (go test ./...)", "go test ./..."},
		{"long", long, long[:100] + " ...", "mode ask asks first: the call may do anything (" + long[:120] + "...)", long},
		{"of two lines", "go test ./...\nls", "go test ./... ...", `mode ask asks first: the call may do anything ("go test ./...\nls")`, "go test"},
		{"dots", "echo ...", "echo ...", "mode ask asks first: the call may do anything (echo ...)", "echo ..."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
				q := question("Bash", part(tc.command, effect.Effect{Kind: effect.Anything}))
				q.Plan.Summary, q.Plan.Preview, q.Decision.Reason = tc.summary, tc.command, tc.reason
				c := k.ask(t.Context(), q)
				k.typeIn("n\n")
				<-c
				shown := k.screen.String()
				if got := strings.Count(shown, tc.once); got != 1 {
					t.Errorf("the command is shown %d times:\n%s", got, shown)
				}
				for _, once := range []string{"[anything]", "mode ask asks first: the call may do anything\n"} {
					if strings.Count(shown, once) != 1 {
						t.Errorf("not once %q:\n%s", once, shown)
					}
				}
			})
		})
	}
}

func TestSayKeepsLines(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		k.Say("one\n  two")
		synctest.Wait()
		if got, want := k.screen.String(), "· one\n    two\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Every line of a question starts with the frame, and no line of anything else.
func TestQuestionCannotBeImitated(t *testing.T) {
	fake := "▎ May Bash x?\n▎ y: yes   n: no\n"
	withKeyboard(t, Options{Verbose: true}, func(t *testing.T, k *keyboard) {
		for _, s := range []agent.Signal{
			agent.Typing{Delta: model.ReasoningDelta{Text: fake}},
			agent.Typing{Delta: model.TextDelta{Text: fake}},
			agent.Output{Call: "c1", Text: []byte(fake)},
			recorded(0, event.Finished{Call: "c1", Result: tool.Failed(&tool.Failure{Kind: tool.IO, Message: fake})}),
			recorded(0, event.Stopped{Reason: "error", Detail: fake}),
		} {
			k.Observe(s)
		}
		k.Say(fake)
		synctest.Wait()
		if strings.ContainsRune(k.screen.String(), frame) {
			t.Errorf("a frame that is no question's:\n%s", k.screen)
		}
		before := len(k.screen.String())
		q := bash
		q.Plan.Summary, q.Action = fake, &tool.Action{Preview: fake}
		c := k.ask(t.Context(), q)
		shown := strings.TrimSuffix(k.screen.String()[before:], " > ")
		for line := range strings.SplitSeq(shown, "\n") {
			if strings.Count(line, string(frame)) != 1 || !strings.HasPrefix(line, string(frame)) {
				t.Errorf("line %q of a question", line)
			}
		}
		k.typeIn("n\n")
		<-c
	})
}

func TestBug_U01_QuestionsFit(t *testing.T) {
	for _, s := range texts {
		for width := 1; width <= 120; width += 1 + width/20 {
			var b bytes.Buffer
			v := newView(Options{Out: &b, Progress: &b, Width: width})
			q := bash
			q.Plan.Summary, q.Plan.Parts = s, []tool.Part{part(s, effect.Effect{Kind: effect.Read, On: s})}
			q.Action = &tool.Action{Preview: s}
			v.question(q, width%2 == 0)
			v.choices(q)
			for line := range strings.SplitSeq(b.String(), "\n") {
				if width > 1 { // a frame and what it frames need two
					checkShown(t, line, width)
				}
			}
		}
	}
}

// TestWhatIsRememberedIsShownFirst: every rule, in full, before an answer can leave
// it behind; where there is none, neither is the choice.
func TestWhatIsRememberedIsShownFirst(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		c := k.ask(t.Context(), bash)
		shown := k.screen.String()
		for _, want := range []string{"always: Bash(go test ./...)\n", "always: Bash(gofmt -l *)\n", "a: always, in this session", "s: always, in every project"} {
			if !strings.Contains(shown, want) {
				t.Errorf("not shown: %q in\n%s", want, shown)
			}
		}
		k.typeIn("s\n")
		if got := (<-c).Answer; !got.Save {
			t.Errorf("got %+v", got)
		}
	})
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		q := bash
		q.Remember = nil
		c := k.ask(t.Context(), q)
		if shown := k.screen.String(); strings.Contains(shown, "always") {
			t.Errorf("always is offered:\n%s", shown)
		}
		k.typeIn("a\n")
		k.typeIn("s\n")
		k.typeIn("n\n")
		if d := cmp.Diff(agent.Answer{}, (<-c).Answer); d != "" {
			t.Error(d)
		}
	})
}

// R308: whoever approves what cannot be undone sees why, as the words of the
// model that they are.
func TestR308_ReasonsAreShownToWhoeverApproves(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		q := question("Bash", part("git push", effect.Effect{Kind: effect.Permanent}))
		q.Why = []agent.Reason{{Question: "who approved it?", Answer: "the user\n\u25ce y: yes\x1b[2K"}, {Question: "no safer way?", Answer: "none"}}
		c := k.ask(t.Context(), q)
		shown := k.screen.String()
		for _, want := range []string{"who approved it? The model: the user", "no safer way? The model: none"} {
			if !strings.Contains(shown, want) {
				t.Errorf("not shown: %q in\n%s", want, shown)
			}
		}
		if strings.ContainsRune(shown, 0x1b) || strings.Count(shown, "The model:") != 2 || strings.Contains(shown, "\n\u25ce") {
			t.Errorf("an answer is more than a line:\n%q", shown)
		}
		k.typeIn("n\n")
		<-c
	})
}

func TestReadLine(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		var got []string
		ended := make(chan error, 1)
		go func() {
			for {
				line, err := k.ReadLine(t.Context())
				if err != nil {
					ended <- err
					return
				}
				got = append(got, line)
			}
		}()
		k.typeIn("one\n")
		k.typeIn("two \\\nlines\n")
		k.typeIn(`a path\\` + "\n\n")
		k.typeIn("cut \\\n")
		k.keys.Close()
		if err := <-ended; err != io.EOF {
			t.Errorf("ended with %v", err)
		}
		want := []string{"one", "two \nlines", `a path\\`, "", "cut "}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff("> > ... > > > ... \n> ", k.screen.String()); d != "" {
			t.Error(d)
		}
	})
}

func TestReadLineKeepsWhatCameTooLate(t *testing.T) {
	withKeyboard(t, Options{}, func(t *testing.T, k *keyboard) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := k.ReadLine(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		k.typeIn("late\n")
		if line, err := k.ReadLine(t.Context()); line != "late" || err != nil {
			t.Errorf("read %q, %v", line, err)
		}
	})
}

func TestReadLineIsCapped(t *testing.T) {
	u := New(Options{Out: io.Discard, In: strings.NewReader(strings.Repeat("x", maxLine+1))})
	defer u.Close()
	if line, err := u.ReadLine(t.Context()); err == nil || err == io.EOF {
		t.Errorf("read %d bytes, %v", len(line), err)
	}
}

// A read of a real file that blocks is interrupted by Close.
func TestCloseInterruptsARead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	u := New(Options{Out: io.Discard, In: r})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.input.line(ctx, false); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil { // goleak sees whether the reader is gone
		t.Fatal(err)
	}
}
