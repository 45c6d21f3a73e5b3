package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

const cutText = "never started: Belay was stopped before\n[interrupted: cancelled; the same call may succeed later]"

// asked is a reply with calls, by "id tool".
func asked(calls ...string) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, c := range calls {
		id, name, _ := strings.Cut(c, " ")
		m.Parts = append(m.Parts, model.Call{Call: tool.Call{ID: id, Tool: name, Args: json.RawMessage(`{}`)}})
	}
	return m
}

// ended holds results, by "id text"; "id !" is one that was interrupted.
func ended(results ...string) model.Message {
	m := model.Message{Role: model.User}
	for _, r := range results {
		id, text, _ := strings.Cut(r, " ")
		p := model.CallResult{Call: id, Text: text}
		if text == "!" {
			p.Text, p.Error = cutText, true
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

// next plays script's answer to messages: the tools it calls, or its words.
func next(t *testing.T, script string, messages ...model.Message) string {
	t.Helper()
	p, err := NewRehearsed("x", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return reply(t, p, messages...)
}

func reply(t *testing.T, p *Rehearsed, messages ...model.Message) string {
	t.Helper()
	h := listen(t.Context(), p, &model.Request{Messages: messages})
	if h.err != nil {
		return h.err.Error()
	}
	var tools []string
	for _, c := range h.reply.Message.Calls() {
		tools = append(tools, c.Tool)
	}
	if len(tools) == 0 {
		return h.reply.Message.Text()
	}
	if h.reply.Stop != model.Calls {
		t.Errorf("a reply with calls stops by %q", h.reply.Stop)
	}
	return strings.Join(tools, " ")
}

// retrying asks for A, B and C, captures what A and C print, and then for D.
const retrying = `
-- all --
retry: interrupted
-- step --
call: A {}
call: B {}
call: C {}
-- step --
expect: result /^a(?P<a>.*)/
expect: result /^c(?P<c>.*)/
expect: not error
call: D {}
-- step --
say: ${a} and ${c}
`

func TestRehearsedAsksAgain(t *testing.T) {
	u := user("go")
	first := asked("c1 A", "c2 B", "c3 C")
	for _, tt := range []struct {
		name     string
		messages []model.Message
		want     string
	}{
		{"for nothing", []model.Message{u, first, ended("c1 a1", "c2 b", "c3 c3")}, "D"},
		{"for one", []model.Message{u, first, ended("c1 a1", "c2 !", "c3 c3")}, "B"},
		{"for all, in their order", []model.Message{u, first, ended("c1 !", "c2 !", "c3 !")}, "A B C"},
		{"although the user spoke", []model.Message{u, first, ended("c1 a1", "c2 !", "c3 c3"), user("and now?")}, "B"},
		{"once more", []model.Message{u, first, ended("c1 a1", "c2 !", "c3 !"), asked("c4 B", "c5 C"), ended("c4 b", "c5 !")}, "C"},
		{"until it is done", []model.Message{u, first, ended("c1 a1", "c2 !", "c3 !"), asked("c4 B", "c5 C"), ended("c4 b", "c5 c5")}, "D"},
		{"a step later", []model.Message{u, first, ended("c1 a1", "c2 !", "c3 c3"), asked("c4 B"), ended("c4 b"), asked("c5 D"), ended("c5 !")}, "D"},
		{"and keeps what it captured", []model.Message{
			u, first, ended("c1 a1", "c2 !", "c3 !"), asked("c4 B", "c5 C"), ended("c4 !", "c5 c5"), asked("c6 B"), ended("c6 b"),
			asked("c7 D"), ended("c7 !"), asked("c8 D"), ended("c8 d"),
		}, "1 and 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := next(t, retrying, tt.messages...); got != tt.want {
				t.Errorf("it answers %q, want %q", got, tt.want)
			}
		})
	}
}

// Only the step that wants it asks again, and text that looks like an
// interruption but is no error is none.
func TestRehearsedAsksAgainOnlyWhereItShould(t *testing.T) {
	const one = "-- step --\ncall: A {}\n-- step --\nretry: interrupted\ncall: B {}\n-- step --\nsay: done\n"
	u := user("go")
	if got := next(t, one, u, asked("c1 A"), ended("c1 !")); got != "B" {
		t.Errorf("a step without retry is followed by %q", got)
	}
	if got := next(t, one, u, asked("c1 A"), ended("c1 a"), asked("c2 B"), ended("c2 !")); got != "B" {
		t.Errorf("a step with retry is followed by %q", got)
	}
	if got := next(t, one, u, asked("c1 A"), ended("c1 a"), asked("c2 B"), ended("c2 "+cutText)); got != "done" {
		t.Errorf("a result that is no error is followed by %q", got)
	}
}

// However often calls are interrupted, and wherever the session is resumed
// meanwhile, the model goes through its steps once, in order.
func TestRehearsedKeepsItsPlace(t *testing.T) {
	const steps = 6
	script := "-- all --\nretry: interrupted\n"
	var want []string
	for i := range steps {
		script += fmt.Sprintf("-- step --\ncall: T%d {}\ncall: U%d {}\n", i, i)
		want = append(want, fmt.Sprintf("T%d", i), fmt.Sprintf("U%d", i))
	}
	slices.Sort(want)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		messages := []model.Message{user("go")}
		var p *Rehearsed
		var done []string
		for calls := 0; ; {
			if p == nil || r.IntN(3) == 0 {
				p, _ = NewRehearsed("x", []byte(script))
			}
			h := listen(t.Context(), p, &model.Request{Messages: messages})
			if h.err != nil {
				if bad := new(model.BadRequest); !errors.As(h.err, &bad) || !strings.Contains(bad.Reason, "ends after step 6") {
					t.Fatalf("seed %d: %v", seed, h.err)
				}
				break
			}
			var ids, results []string
			for _, c := range h.reply.Message.Calls() {
				calls++
				id := fmt.Sprintf("c%d", calls)
				ids = append(ids, id)
				if r.IntN(2) == 0 {
					results = append(results, id+" !")
					continue
				}
				results = append(results, id+" ok")
				done = append(done, c.Tool)
			}
			messages = append(messages, numbered(h.reply, ids...), ended(results...))
		}
		if !slices.IsSortedFunc(done, func(a, b string) int { return strings.Compare(a[1:], b[1:]) }) {
			t.Fatalf("seed %d: a step was left before it was done: %q", seed, done)
		}
		slices.Sort(done)
		if d := cmp.Diff(want, done); d != "" {
			t.Fatalf("seed %d: what was done in the end (-want +got):\n%s", seed, d)
		}
	}
}
