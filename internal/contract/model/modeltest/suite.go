package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Heard is all that one Stream yielded.
type Heard struct {
	Text, Reasoning string
	Args            []string // of calls, as they came
	Reply           *model.Reply
	Waits           int
	Err             error
}

// Listen runs one Stream to its end and checks that it keeps to the form that
// model.Provider promises.
func Listen(t testing.TB, p model.Provider, ctx context.Context, req *model.Request) Heard {
	t.Helper()
	var h Heard
	for d, err := range p.Stream(ctx, req) {
		if h.Err != nil {
			t.Errorf("something follows the error %v", h.Err)
		}
		if err != nil {
			h.Err = err
			continue
		}
		if h.Reply != nil {
			t.Errorf("%T follows the reply", d)
		}
		switch d := d.(type) {
		case model.TextDelta:
			h.Text += d.Text
		case model.ReasoningDelta:
			h.Reasoning += d.Text
		case model.CallDelta:
			for len(h.Args) <= d.Index {
				h.Args = append(h.Args, "")
			}
			h.Args[d.Index] += d.Args
		case model.Waiting:
			h.Waits++
		case model.Reply:
			h.Reply = &d
		default:
			t.Errorf("an unknown delta %T", d)
		}
	}
	h.check(t, ctx)
	return h
}

func (h Heard) check(t testing.TB, ctx context.Context) {
	t.Helper()
	switch {
	case h.Reply == nil && h.Err == nil:
		t.Error("neither a reply nor an error came")
	case h.Reply != nil && (h.Reply.Stop == model.Cut) != (h.Err != nil):
		t.Errorf("a reply that stopped with %q and the error %v", h.Reply.Stop, h.Err)
	}
	if h.Err != nil && ctx.Err() == nil {
		_, rejected := errors.AsType[*model.Rejection](h.Err)
		_, unavailable := errors.AsType[*model.Unavailable](h.Err)
		_, bad := errors.AsType[*model.BadRequest](h.Err)
		if !rejected && !unavailable && !bad && !errors.Is(h.Err, model.ErrOverflow) {
			t.Errorf("the error has no type: %v", h.Err)
		}
	}
	if h.Reply == nil {
		return
	}
	if h.Reply.Message.Role != model.Assistant || h.Reply.Message.From == "" {
		t.Errorf("a message by %q, made by %q", h.Reply.Message.Role, h.Reply.Message.From)
	}
	for _, p := range h.Reply.Message.Parts {
		switch p := p.(type) {
		case model.Text, model.Reasoning:
		case model.Call:
			if p.ID != "" || h.Reply.Stop == model.Cut {
				t.Errorf("call %+v in a reply that stopped with %q", p, h.Reply.Stop)
			}
			if !json.Valid(p.Args) || (string(p.Args) == "null") != (p.Malformed != "") {
				t.Errorf("call %+v is neither sound nor malformed", p)
			}
		default:
			t.Errorf("a model says %T", p)
		}
	}
}

// Ask is a request that every provider takes.
func Ask(messages ...model.Message) *model.Request {
	if len(messages) == 0 {
		messages = []model.Message{Say(model.User, "go on, 世界")}
	}
	return &model.Request{
		System: "Be <brief> & exact.", MaxOutput: 1000, Stable: len(messages),
		Tools: []tool.Spec{
			{Name: "Read", Description: "reads", Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
			{Name: "Bash", Description: "runs", Input: json.RawMessage(`{"type":"object"}`)},
		},
		Messages: messages,
	}
}

// Say is a message of text, and Answer one of a result.
func Say(role model.Role, text string) model.Message {
	return model.Message{Role: role, Parts: []model.Part{model.Text{Text: text}}}
}

// Answer is a message that answers call id.
func Answer(id, text string) model.Message {
	return model.Message{Role: model.User, Parts: []model.Part{model.CallResult{Call: id, Text: text}}}
}

// CallOf is a message that calls Read.
func CallOf(ids ...string) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, model.Call{Call: tool.Call{ID: id, Tool: "Read", Args: json.RawMessage(`{"path":"a"}`)}})
	}
	return m
}

// Rich is a reply with a bit of everything, in characters of one to four bytes.
func Rich() Reply {
	return Reply{
		Think: "Erst <lesen> — 考える",
		Text:  "Größe: 世界 🧗 done",
		Calls: []Call{{"Read", `{"path":"日本/🧗.go"}`}, {"Bash", `{}`}},
		Stop:  model.Calls,
		Usage: model.Usage{Input: 120, Cached: 1000, Output: 40, Reasoning: 12},
	}
}

// Check compares what was heard with the reply that was given.
func (r Reply) Check(t testing.TB, h Heard) {
	t.Helper()
	if h.Err != nil || h.Reply == nil {
		t.Fatalf("got the reply %+v and the error %v", h.Reply, h.Err)
	}
	if h.Text != r.Text || h.Reasoning != r.Think || h.Reply.Message.Text() != r.Text {
		t.Errorf("heard %q and %q, with %q in the reply\nwant  %q and %q", h.Text, h.Reasoning, h.Reply.Message.Text(), r.Text, r.Think)
	}
	var args []string
	for i, c := range h.Reply.Message.Calls() {
		if i < len(r.Calls) && c.Tool != r.Calls[i].Tool {
			t.Errorf("call %d is of %q, want %q", i, c.Tool, r.Calls[i].Tool)
		}
	}
	for _, c := range r.Calls {
		args = append(args, c.Args)
	}
	if d := cmp.Diff(args, h.Args); d != "" {
		t.Errorf("arguments as they came (-want +got):\n%s", d)
	}
	if got := len(h.Reply.Message.Calls()); got != len(r.Calls) || h.Reply.Stop != r.Stop {
		t.Errorf("%d calls and the stop %q, want %d and %q", got, h.Reply.Stop, len(r.Calls), r.Stop)
	}
	if d := cmp.Diff(r.Usage, h.Reply.Usage); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
}

// A Play opens a provider that gives the replies, one for each request.
type Play func(t *testing.T, replies ...Reply) model.Provider

// Suite runs what holds for every provider, whatever it speaks.
func Suite(t *testing.T, play Play) {
	t.Run("Reply", func(t *testing.T) {
		Rich().Check(t, Listen(t, play(t, Rich()), t.Context(), Ask()))
	})
	t.Run("LengthStop", func(t *testing.T) { LengthStop(t, play) })
	t.Run("Cut", func(t *testing.T) { Cut(t, play) })
	t.Run("Refused", func(t *testing.T) {
		r := Reply{Text: "I will not.", Stop: model.Refused, Usage: model.Usage{Input: 1, Output: 1}}
		r.Check(t, Listen(t, play(t, r), t.Context(), Ask()))
	})
	t.Run("EmptyBlocks", func(t *testing.T) { EmptyBlocks(t, play) })
	t.Run("Rejections", func(t *testing.T) { rejections(t, play) })
	t.Run("ListenerLeaves", func(t *testing.T) {
		for _, err := range play(t, Rich()).Stream(t.Context(), Ask()) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	})
	t.Run("ContextEnds", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		errWhy := errors.New("the user left")
		var last error
		for _, err := range play(t, Rich()).Stream(ctx, Ask()) {
			cancel(errWhy)
			last = err
		}
		if !errors.Is(last, errWhy) {
			t.Errorf("the stream ends with %v, want the cause of its context", last)
		}
	})
}

// Cut holds that of a reply that breaks off its text is left, and an error
// follows.
func Cut(t *testing.T, play Play) {
	r := Rich()
	r.Stop = model.Cut
	h := Listen(t, play(t, r), t.Context(), Ask())
	if _, ok := errors.AsType[*model.Unavailable](h.Err); !ok || h.Reply == nil {
		t.Fatalf("got the reply %+v and %v, want one that is cut and a *model.Unavailable", h.Reply, h.Err)
	}
	if d := cmp.Diff([]model.Part{model.Text{Text: r.Text}}, h.Reply.Message.Parts); d != "" {
		t.Errorf("what is left of it (-want +got):\n%s", d)
	}
}

// LengthStop holds that the arguments of a reply that hit the output limit are
// not mended, and that the reply says why it stopped.
func LengthStop(t *testing.T, play Play) {
	for name, args := range map[string]string{
		"in a string":               `{"path":"a.go","content":"half of i`,
		"after what looks complete": `{"path":"a.go","content":"half"}`,
	} {
		r := Reply{Text: "I write it.", Calls: []Call{{"Write", args}}, Stop: model.Length, Usage: model.Usage{Input: 1, Output: 9}}
		h := Listen(t, play(t, r), t.Context(), Ask())
		r.Check(t, h)
		call := h.Reply.Message.Parts[len(h.Reply.Message.Parts)-1].(model.Call)
		if json.Valid([]byte(args)) {
			if string(call.Args) != args || call.Malformed != "" {
				t.Errorf("%s: %+v", name, call)
			}
		} else if string(call.Args) != "null" || call.Malformed != args {
			t.Errorf("%s: the arguments were mended: %+v", name, call)
		}
	}
}

// EmptyBlocks sends what a session has after a reasoning-only turn, a silent
// command, a cancelled turn and an empty summary.
func EmptyBlocks(t *testing.T, play Play) {
	end := Reply{Text: "ok", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}
	p := play(t, slices.Repeat([]Reply{end}, 5)...) // a rehearsal takes the four replies as played
	h := Listen(t, p, t.Context(), Ask(
		Say(model.User, "go"),
		model.Message{Role: model.Assistant, From: "other/model", Parts: []model.Part{model.Reasoning{Text: "hm", Raw: json.RawMessage(`{"x":1}`)}}},
		Say(model.User, " \n\t"),
		model.Message{Role: model.Assistant},
		Say(model.User, "again"),
		CallOf("c1", "c2"),
		model.Message{Role: model.User, Parts: []model.Part{
			model.CallResult{Call: "c1"}, model.CallResult{Call: "c2", Text: "\u00a0\n", Error: true},
			model.Text{}, model.Text{Text: "\u2003"},
		}},
		Say(model.Assistant, ""),
		Say(model.User, "and?"),
	))
	end.Check(t, h)
}

// rejections are requests that only a fault of ours explains: each is refused
// here, by place, before anything is sent.
func rejections(t *testing.T, play Play) {
	goal := Say(model.User, "go")
	tests := []struct {
		name          string
		messages      []model.Message
		message, part int
	}{
		{"call without result", []model.Message{goal, CallOf("c1"), Say(model.User, "next")}, 1, 0},
		{"call without result at the end", []model.Message{goal, CallOf("c1")}, 1, 0},
		{"second call without result", []model.Message{goal, CallOf("c1", "c2"), Answer("c1", "a"), Say(model.Assistant, "b"), goal}, 1, 1},
		{"result without call", []model.Message{goal, Answer("c1", "a")}, 1, 0},
		{"result twice", []model.Message{goal, CallOf("c1"), Answer("c1", "a"), Answer("c1", "a")}, 3, 0},
		{"result too late", []model.Message{goal, CallOf("c1"), Say(model.User, "wait"), Answer("c1", "a")}, 3, 0},
		{"id twice", []model.Message{goal, CallOf("c1", "c1"), Answer("c1", "a")}, 1, 1},
		{"id twice, later", []model.Message{goal, CallOf("c1"), Answer("c1", "a"), CallOf("c1"), Answer("c1", "a")}, 3, 0},
		{"no id", []model.Message{goal, CallOf(""), Answer("", "a")}, 1, 0},
		{"call by the user", []model.Message{goal, {Role: model.User, Parts: []model.Part{model.Text{Text: "a"}, CallOf("c1").Parts[0]}}}, 1, 1},
		{"result by the model", []model.Message{goal, CallOf("c1"), {Role: model.Assistant, Parts: Answer("c1", "a").Parts}, goal}, 2, 0},
		{"reasoning by the user", []model.Message{{Role: model.User, Parts: []model.Part{model.Reasoning{Text: "a"}}}}, 0, 0},
		{"image by the model", []model.Message{goal, {Role: model.Assistant, Parts: []model.Part{model.Image{}}}, goal}, 1, 0},
		{"unknown role", []model.Message{goal, Say("system", "a"), goal}, 1, 0},
		{"the model first", []model.Message{Say(model.Assistant, "a"), goal}, 0, 0},
		{"the model last", []model.Message{goal, Say(model.Assistant, "a")}, 1, 0},
	}
	end := Reply{Text: "ok", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := play(t, end)
			h := Listen(t, p, t.Context(), Ask(tt.messages...))
			r, ok := errors.AsType[*model.Rejection](h.Err)
			if !ok || r.Message != tt.message || r.Part != tt.part || strings.TrimSpace(r.Reason) == "" {
				t.Fatalf("got %v, want a *model.Rejection of message %d, part %d", h.Err, tt.message, tt.part)
			}
			end.Check(t, Listen(t, p, t.Context(), Ask())) // nothing was used up
		})
	}
	for name, specs := range map[string][]tool.Spec{
		"bad name":  {{Name: "a.b", Input: json.RawMessage(`{"type":"object"}`)}},
		"twice":     slices.Repeat(Ask().Tools[:1], 2),
		"no object": {{Name: "a", Input: json.RawMessage(`{"type":"string"}`)}},
		"no schema": {{Name: "a"}},
	} {
		req := Ask()
		req.Tools = specs
		h := Listen(t, play(t, end), t.Context(), req)
		if _, ok := errors.AsType[*model.BadRequest](h.Err); !ok {
			t.Errorf("tools, %s: got %v, want a *model.BadRequest", name, h.Err)
		}
	}
}
