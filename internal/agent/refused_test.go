package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// apis are the APIs by the names that settings have for them.
func apis() map[string]modeltest.Dialect {
	return map[string]modeltest.Dialect{
		"openai": modeltest.Chat(), "responses": modeltest.Responses(), "anthropic": modeltest.Messages(), "gemini": modeltest.Gemini(),
	}
}

// TestR264_WhatWasRefusedIsNotSentAfterAResume: a request that was refused for what
// it is, with nothing to leave out of it, is not sent again by a process that comes
// after the one that heard so. Other words, and another model, make it another.
func TestR264_WhatWasRefusedIsNotSentAfterAResume(t *testing.T) {
	for api, d := range apis() {
		end := modeltest.Response{Body: d.Stream(d.Events(modeltest.Reply{Text: "Done.", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}))}
		for name, no := range map[string]modeltest.Response{
			"unexplained": {Status: 400, Body: d.Error("invalid_request_error", "something is odd")},
			"not valid":   {Status: 422, Body: d.Error("invalid_request_error", "not valid")},
			"too long":    {Status: 400, Body: d.Error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")},
			"too large":   {Status: 413},
			"in a stream": {Body: "event: error\ndata: " + d.Error("invalid_request_error", "prompt is too long") + "\n\n"},
		} {
			t.Run(api+"/"+name, func(t *testing.T) {
				j := openFaulty(t)
				s := modeltest.Serve(t, d, nil, no, end, end)
				again := func(of, words string) error {
					a, err := agent.Open(t.Context(), mustFold(t, j), agent.Options{
						Journal: j, Provider: reopened(t, s, of, api), Model: model.Info{Name: of}, Session: event.Opened{Session: "s", Root: "/w"},
						Policy: policy.Policy{Mode: policy.ModeFull},
					})
					if err != nil {
						t.Fatal(err)
					}
					return a.Turn(t.Context(), agent.Input{Text: words})
				}
				first := again("x/m", "go")
				if !model.Final(first) {
					t.Fatalf("Turn = %v", first)
				}
				for range 3 { // each is a process of its own
					err := again("x/m", "")
					if !model.Final(err) || errors.Is(err, model.ErrOverflow) != errors.Is(first, model.ErrOverflow) ||
						strings.Count(err.Error(), "is not sent again") != 1 || !strings.Contains(err.Error(), first.Error()) {
						t.Fatalf("resumed: %v, after %v", err, first)
					}
				}
				if n := len(s.Bodies()); n != 1 {
					t.Fatalf("the request was sent %d times", n)
				}
				want := 2
				if api != "gemini" { // whose server knows one model by its path
					want++
					if err := again("x/other", ""); err != nil {
						t.Errorf("another model: %v", err)
					}
				}
				if err := again("x/m", "leave that out"); err != nil {
					t.Errorf("other words: %v", err)
				}
				bodies := s.Bodies()
				if slices.Sort(bodies); len(bodies) != want || len(slices.Compact(bodies)) != want {
					t.Errorf("%d requests, of which some are the same", len(bodies))
				}
			})
		}
	}
}

// TestR264_AKillAfterAQuarantine: a process that dies between what it learns of a
// refusal and the next request leaves a session whose next request is another.
func TestR264_AKillAfterAQuarantine(t *testing.T) {
	d := modeltest.Messages()
	call := modeltest.Reply{Think: "hm", Calls: []modeltest.Call{{Tool: "Act", Args: `{"on":"a"}`}}, Stop: model.Calls, Usage: model.Usage{Input: 1, Output: 1}}
	end := modeltest.Reply{Text: "Done.", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}
	s := modeltest.Serve(t, d, []modeltest.Reply{call},
		modeltest.Response{Body: d.Stream(d.Events(call))},
		modeltest.Response{Status: 400, Body: d.Error("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block")},
		modeltest.Response{Body: d.Stream(d.Events(end))})
	j := openFaulty(t)
	dead, killed := errors.New("killed"), false
	j.append = func(b event.Body) error {
		if killed {
			return dead
		}
		_, killed = b.(event.Quarantined)
		return nil
	}
	act := act("Act", effect.Write, func(context.Context, string, tool.Env) (tool.Result, error) {
		return tool.Result{Status: tool.Success, Text: "ok"}, nil
	})
	if err := resume(t, j, reopened(t, s, "anthropic/m", "anthropic"), act).Turn(t.Context(), agent.Input{Text: "go"}); !errors.Is(err, dead) {
		t.Fatalf("Turn = %v", err)
	}
	j.append = nil
	if err := resume(t, j, reopened(t, s, "anthropic/m", "anthropic"), act).Turn(t.Context(), agent.Input{}); err != nil {
		t.Fatal(err)
	}
	bodies := s.Bodies()
	if len(bodies) != 3 || bodies[1] == bodies[2] || strings.Contains(bodies[2], `"thinking"`) {
		t.Errorf("sent %q", bodies)
	}
}
