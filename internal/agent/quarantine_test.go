package agent_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/provider"
)

// openedAt returns a provider at a strict server, and the server.
func openedAt(t *testing.T, d modeltest.Dialect, name, api string, own []modeltest.Reply, responses ...modeltest.Response) (model.Provider, *modeltest.Server) {
	t.Helper()
	s := modeltest.Serve(t, d, own, responses...)
	return reopened(t, s, name, api), s
}

// reopened returns a provider at s that remembers nothing, as in a new process.
func reopened(t *testing.T, s *modeltest.Server, name, api string) model.Provider {
	t.Helper()
	p, _, err := provider.Open(provider.Options{Name: name, API: api, BaseURL: s.URL, Client: s.Client})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// resume goes on with the session of j, at p.
func resume(t *testing.T, j *faulty, p model.Provider, tools ...tool.Tool) *agent.Agent {
	t.Helper()
	a, err := agent.Open(t.Context(), mustFold(t, j), agent.Options{
		Journal: j, Provider: p, Tools: tools, Session: event.Opened{Session: "s", Root: "/w"},
		Policy: policy.Policy{Mode: policy.ModeFull},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func quarantined(t *testing.T, j *journal.Journal) []event.Quarantined {
	t.Helper()
	var found []event.Quarantined
	for e, err := range j.Since(0) {
		if err != nil {
			t.Fatal(err)
		}
		if q, ok := e.Body.(event.Quarantined); ok {
			found = append(found, q)
		}
	}
	return found
}

// TestR264_WhatTheAPIRefusesStaysOut is a signed thought that the API takes back
// no more: it is quarantined once, and the session goes on, live and resumed.
func TestR264_WhatTheAPIRefusesStaysOut(t *testing.T) {
	d := modeltest.Messages()
	call := modeltest.Reply{Think: "hm", Calls: []modeltest.Call{{Tool: "Act", Args: `{"on":"a"}`}}, Stop: model.Calls, Usage: model.Usage{Input: 1, Output: 1}}
	end := modeltest.Reply{Text: "Done.", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}
	whole := func(r modeltest.Reply) modeltest.Response { return modeltest.Response{Body: d.Stream(d.Events(r))} }
	p, s := openedAt(t, d, "anthropic/m", "", []modeltest.Reply{call},
		whole(call),
		modeltest.Response{Status: 400, Body: d.Error("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block")},
		whole(end), whole(end))
	j := openFaulty(t)
	done := 0
	act := act("Act", effect.Write, func(context.Context, string, tool.Env) (tool.Result, error) {
		done++
		return tool.Result{Status: tool.Success, Text: "ok"}, nil
	})
	if err := resume(t, j, p, act).Turn(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if err := resume(t, j, p, act).Turn(t.Context(), agent.Input{Text: "again"}); err != nil {
		t.Fatal(err)
	}
	if q := quarantined(t, j.Journal); len(q) != 1 || q[0].Part != 0 || q[0].Media || !strings.Contains(q[0].Reason, "signature") {
		t.Errorf("quarantined: %+v", q)
	}
	bodies := s.Bodies()
	var thinks []bool
	for _, b := range bodies {
		thinks = append(thinks, strings.Contains(b, `"thinking"`))
	}
	if diff := cmp.Diff([]bool{false, true, false, false}, thinks); diff != "" {
		t.Errorf("which requests hold the thought (-want +got):\n%s", diff)
	}
	slices.Sort(bodies)
	if len(slices.Compact(bodies)) != 4 || done != 1 {
		t.Errorf("something was sent, or done, twice (%d)", done)
	}
}

// TestR264_AnImageThatDoesNotDecode is found here, before anything is sent: its
// words stay.
func TestR264_AnImageThatDoesNotDecode(t *testing.T) {
	for _, d := range []modeltest.Dialect{modeltest.Chat(), modeltest.Messages(), modeltest.Responses(), modeltest.Gemini()} {
		t.Run(d.Name, func(t *testing.T) {
			api := map[string]string{"chat": "openai", "messages": "anthropic"}[d.Name]
			if api == "" {
				api = d.Name
			}
			call := modeltest.Reply{Calls: []modeltest.Call{{Tool: "Look", Args: `{"on":"a"}`}}, Stop: model.Calls, Usage: model.Usage{Input: 1, Output: 1}}
			end := modeltest.Reply{Text: "Done.", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}
			p, s := openedAt(t, d, "x/m", api, nil,
				modeltest.Response{Body: d.Stream(d.Events(call))}, modeltest.Response{Body: d.Stream(d.Events(end))}, modeltest.Response{Body: d.Stream(d.Events(end))})
			j := openFaulty(t)
			look := act("Look", effect.Read, func(_ context.Context, _ string, env tool.Env) (tool.Result, error) {
				spill, err := env.Spill("shot.png")
				if err != nil {
					return tool.Result{}, err
				}
				_, err = io.WriteString(spill, "no picture")
				if err := errors.Join(err, spill.Close()); err != nil {
					return tool.Result{}, err
				}
				return tool.Result{Status: tool.Success, Text: "a screenshot", Media: []tool.Artifact{{Handle: spill.Handle(), Type: "image/png"}}}, nil
			})
			for _, words := range []string{"go", "again"} {
				if err := resume(t, j, p, look).Turn(t.Context(), agent.Input{Text: words}); err != nil {
					t.Fatal(err)
				}
			}
			if q := quarantined(t, j.Journal); len(q) != 1 || !q[0].Media {
				t.Errorf("quarantined: %+v", q)
			}
			for _, b := range s.Bodies()[1:] {
				if !strings.Contains(b, "a screenshot") || strings.Contains(b, "base64") {
					t.Errorf("the request is %s", b)
				}
			}
		})
	}
}

// TestRefusedForTheWordsOfThePerson: what they said is never left out.
func TestRefusedForTheWordsOfThePerson(t *testing.T) {
	d := modeltest.Messages()
	no := modeltest.Response{Status: 400, Body: d.Error("invalid_request_error", "messages.0.content.1: this is not allowed")}
	p, s := openedAt(t, d, "anthropic/m", "", nil, no)
	j := openFaulty(t)
	err := resume(t, j, p).Turn(t.Context(), agent.Input{Text: "go"})
	if bad, ok := errors.AsType[*model.BadRequest](err); !ok || bad.Status != 400 {
		t.Fatalf("Turn = %v", err)
	}
	if n := len(s.Bodies()); n != 1 || len(quarantined(t, j.Journal)) > 0 {
		t.Errorf("%d requests, and quarantined was %+v", n, quarantined(t, j.Journal))
	}
}
