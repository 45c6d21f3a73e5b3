package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
)

// TestR057_SchemasGoOutWhole: every tool is offered in the form of each API, with
// its whole schema.
func TestR057_SchemasGoOutWhole(t *testing.T) {
	tools := []tool.Spec{
		{Name: "Read", Description: "reads", Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"<a> & b"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "Edit", Description: "edits", Input: json.RawMessage(`{"type":"object","properties":{"all":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"n":{"type":"integer","minimum":1}},"required":["old","n"],"additionalProperties":false}}},"required":["all"],"additionalProperties":false}`)},
	}
	for _, d := range dialects() {
		p, s := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(short()))})
		req := modeltest.Ask()
		req.Tools = tools
		short().Check(t, modeltest.Listen(t, p, t.Context(), req))
		c, err := d.Parse([]byte(s.Bodies()[0]))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Tools) != len(tools) {
			t.Fatalf("%s offers %d tools", d.Name, len(c.Tools))
		}
		for i, offer := range c.Tools {
			var got, want any
			if err := errors.Join(json.Unmarshal(offer.Schema, &got), json.Unmarshal(tools[i].Input, &want)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" || offer.Name != tools[i].Name {
				t.Errorf("%s: %s is offered otherwise (-want +got):\n%s", d.Name, offer.Name, diff)
			}
			if !strings.Contains(s.Bodies()[0], `"`+tools[i].Description+`"`) {
				t.Errorf("%s: %s has lost its description", d.Name, offer.Name)
			}
		}
	}
}

// TestR264_RepairKeepsCallsWithTheirResults: whatever was recorded, cut off, kept
// out or summed up, each API gets a request that the strictest server takes: each
// call with its one result right behind it, and turns in their order.
func TestR264_RepairKeepsCallsWithTheirResults(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 264))
		state := anySession(t, r)
		for _, d := range dialects() {
			p, s := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(short()))})
			req := prompt.Request(state, modeltest.Ask().Tools)
			req.MaxOutput = 100
			if h := modeltest.Listen(t, p, t.Context(), req); h.Err != nil {
				t.Fatalf("seed %d, %s: %v\n%s", seed, d.Name, h.Err, strings.Join(s.Bodies(), "\n"))
			}
			c, err := d.Parse([]byte(s.Bodies()[0]))
			if err != nil {
				t.Fatal(err)
			}
			open := map[string]bool{}
			for _, turn := range c.Turns {
				for _, b := range turn.Blocks {
					switch {
					case b.Kind == "call":
						open[b.ID] = true
					case b.Kind == "result" && !open[b.ID]:
						t.Errorf("seed %d, %s: the result of %s answers nothing", seed, d.Name, b.ID)
					case b.Kind == "result":
						delete(open, b.ID)
					}
				}
			}
			if len(open) > 0 {
				t.Errorf("seed %d, %s: calls without a result: %v", seed, d.Name, open)
			}
		}
	}
}

// anySession is a session in which much was cut off.
func anySession(t *testing.T, r *rand.Rand) *session.State {
	t.Helper()
	s := new(session.State)
	add := func(b event.Body) {
		if err := s.Apply(event.Event{Seq: s.Seq() + 1, Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	add(event.Opened{Session: "s", Root: "/w"})
	for range 1 + r.IntN(4) {
		add(event.Asked{Text: "do it"})
		for range r.IntN(4) {
			m := model.Message{Role: model.Assistant, From: "openai/other"}
			if r.IntN(2) == 0 {
				m.Parts = append(m.Parts, model.Reasoning{Text: "hm", Raw: json.RawMessage(`{"of":"another"}`)})
			}
			if r.IntN(2) == 0 {
				m.Parts = append(m.Parts, model.Text{Text: []string{"I say", "", " \n"}[r.IntN(3)]})
			}
			calls := r.IntN(4)
			for i := range calls {
				c := model.Call{Call: tool.Call{ID: s.NextCall(i), Tool: []string{"Read", "No such tool!"}[r.IntN(2)], Args: json.RawMessage(`{"path":"a"}`)}}
				if r.IntN(4) == 0 {
					c.Args, c.Malformed = json.RawMessage(`null`), `{"path":`
				}
				m.Parts = append(m.Parts, c)
			}
			stop := []model.Stop{model.End, model.Length, model.Cut}[r.IntN(3)]
			if stop == model.Cut {
				m.Parts, calls = []model.Part{model.Text{Text: "half"}}, 0
			}
			add(event.Replied{Message: m, Stop: stop})
			for _, c := range m.Calls() {
				if r.IntN(5) > 0 { // else it has none yet
					add(event.Finished{Call: c.ID, Result: tool.Result{Status: tool.Success, Text: strings.Repeat("x", r.IntN(3))}})
				}
			}
			if r.IntN(4) == 0 {
				add(event.Quarantined{Seq: s.Seq(), Part: r.IntN(3), Reason: "no"})
			}
		}
		if r.IntN(2) == 0 {
			add(event.Stopped{Reason: "interrupted"})
		}
	}
	if r.IntN(4) == 0 && len(s.Open()) == 0 {
		add(event.Compacted{Through: int64(r.IntN(int(s.Seq()))), Handoff: json.RawMessage(`{"goal":"x"}`)})
	}
	if !s.Turn().Open {
		add(event.Asked{Text: "and now?"})
	}
	return s
}

// TestBug_C05_R265_OverflowIsOneAnswer: what is too long for the model is known as
// that, in the words of each server, and asked for once; where the window is known
// it is not even sent.
func TestBug_C05_R265_OverflowIsOneAnswer(t *testing.T) {
	long := modeltest.Say(model.User, strings.Repeat("words that fill a window ", 1200)) // 30 KB
	for i, answer := range []modeltest.Response{
		{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`},
		{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`},
		{Status: 400, Body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`},
		{Status: 400, Body: `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
		{Status: 413, Body: ""},
	} {
		for _, d := range dialects() {
			p, s := served(t, d, nil, answer)
			h := modeltest.Listen(t, p, t.Context(), modeltest.Ask(long))
			if !errors.Is(h.Err, model.ErrOverflow) || len(s.Bodies()) != 1 {
				t.Errorf("answer %d of %s gives %v after %d requests", i, d.Name, h.Err, len(s.Bodies()))
			}
		}
	}
	for name, served := range map[string]*LocalModel{
		"small":      {Window: 4096, Tools: true},
		"just right": {Window: 9216, Tools: true},
		"unknown":    nil,
	} {
		d, answer := modeltest.Chat(), short()
		answer.Usage.Input = 7000
		s := modeltest.Serve(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(answer))})
		p, info, err := Open(Options{Name: "ollama/m", BaseURL: s.URL, Client: s.Client, Served: served})
		if err != nil {
			t.Fatal(err)
		}
		h := modeltest.Listen(t, p, t.Context(), modeltest.Ask(long))
		if name != "small" {
			answer.Check(t, h)
			continue
		}
		want := "fit into the window of 4096 of ollama/m beside a reply"
		if !errors.Is(h.Err, model.ErrOverflow) || !strings.Contains(h.Err.Error(), want) || len(s.Bodies()) != 0 || info.MaxOutput != 1024 {
			t.Errorf("%s: %v after %d requests, %+v", name, h.Err, len(s.Bodies()), info)
		}
	}
}

// TestR217_UsableInput: what is left for input is the window without what a reply
// and a margin need; system prompt, tools and messages have to share it.
func TestR217_UsableInput(t *testing.T) {
	for _, tt := range []struct{ window, output, usable int }{
		{200_000, 64_000, 200_000 - 50_000 - 10_000}, {200_000, 8_192, 200_000 - 8_192 - 10_000}, {4_096, 1_024, 4_096 - 1_024 - 204},
	} {
		i := model.Info{Name: "a/b", Window: tt.window, MaxOutput: tt.output, Known: true}
		if got := usable(i); got != tt.usable {
			t.Errorf("of %d with replies of %d are usable %d, want %d", tt.window, tt.output, got, tt.usable)
		}
		for part, grow := range map[string]func(*model.Request, string){
			"system": func(r *model.Request, s string) { r.System = s },
			"tools":  func(r *model.Request, s string) { r.Tools[0].Description = s },
			"results": func(r *model.Request, s string) {
				r.Messages = append(r.Messages, modeltest.CallOf("c1"), modeltest.Answer("c1", s))
			},
		} {
			over := modeltest.Ask()
			grow(over, string(bytes.Repeat([]byte("x"), (tt.usable+1)*5)))
			p := fitting(nil, i) // which is never asked
			var err error
			for _, e := range p.Stream(t.Context(), over) {
				err = e
			}
			if !errors.Is(err, model.ErrOverflow) {
				t.Errorf("%s: %v", part, fmt.Sprint(err))
			}
		}
	}
}
