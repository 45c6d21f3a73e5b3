package provider

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

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
			grow(over, strings.Repeat("word ", (tt.usable+1)*4/3))
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
