package agent_test

import (
	"context"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestBug_P06_AResumedSessionChangesItsModel works with one model, resumes with
// another, and again with the first: each strict server takes what it gets, its
// own thoughts among it and no others.
func TestBug_P06_AResumedSessionChangesItsModel(t *testing.T) {
	apis := map[string]modeltest.Dialect{
		"openai": modeltest.Chat(), "responses": modeltest.Responses(), "anthropic": modeltest.Messages(), "gemini": modeltest.Gemini(),
	}
	call := modeltest.Reply{Think: "hm", Text: "I act.", Calls: []modeltest.Call{{Tool: "Act", Args: `{"on":"a"}`}}, Stop: model.Calls, Usage: model.Usage{Input: 1, Output: 1}}
	end := modeltest.Reply{Think: "hm", Text: "Done.", Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}
	for first, d := range apis {
		for second, e := range apis {
			t.Run(first+" "+second, func(t *testing.T) {
				plays := func(d modeltest.Dialect, turns int) []modeltest.Response {
					var out []modeltest.Response
					for range turns {
						out = append(out, modeltest.Response{Body: d.Stream(d.Events(call))}, modeltest.Response{Body: d.Stream(d.Events(end))})
					}
					return out
				}
				p, s := openedAt(t, d, "x/m", first, []modeltest.Reply{call}, plays(d, 2)...)
				q, other := openedAt(t, e, "y/m", second, []modeltest.Reply{call}, plays(e, 1)...)
				j := openFaulty(t)
				act := act("Act", effect.Write, func(context.Context, string, tool.Env) (tool.Result, error) {
					return tool.Result{Status: tool.Success, Text: "ok"}, nil
				})
				for _, m := range []model.Provider{p, q, p} {
					if err := resume(t, j, m, act).Turn(t.Context(), agent.Input{Text: "go"}); err != nil {
						t.Fatal(err)
					}
				}
				if a, b := len(s.Bodies()), len(other.Bodies()); a != 4 || b != 2 {
					t.Errorf("%d and %d requests", a, b)
				}
			})
		}
	}
}
