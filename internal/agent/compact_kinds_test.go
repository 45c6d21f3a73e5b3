package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
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

// stored keeps content as an artifact.
func stored(t *testing.T, open func(string) (tool.Spill, error), content []byte) string {
	t.Helper()
	spill, err := open("image")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spill.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := spill.Close(); err != nil {
		t.Fatal(err)
	}
	return spill.Handle()
}

func picture(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestR252_R264_WhatIsNotTextOutlivesACompaction: a person's image, one that a call
// showed, one that no API takes, reasoning, a call that a crash cut off and a command
// in the background are in the talk that is compacted. What must not be lost is
// named, a command that ended is not, and a strict server of each API takes what
// comes then.
func TestR252_R264_WhatIsNotTextOutlivesACompaction(t *testing.T) {
	for _, d := range []modeltest.Dialect{modeltest.Chat(), modeltest.Messages(), modeltest.Responses(), modeltest.Gemini()} {
		t.Run(d.Name, func(t *testing.T) {
			calls := func(tools ...string) modeltest.Reply {
				r := modeltest.Reply{Think: "hm " + tools[0], Text: "I act.", Stop: model.Calls, Usage: model.Usage{Input: 1, Output: 1}}
				for _, name := range tools {
					r.Calls = append(r.Calls, modeltest.Call{Tool: name, Args: `{"on":"` + name + `"}`})
				}
				return r
			}
			says := func(text string) modeltest.Reply {
				return modeltest.Reply{Think: "so " + text, Text: text, Stop: model.End, Usage: model.Usage{Input: 1, Output: 1}}
			}
			noted := says(`{"notes":[{"kind":"learning","text":"c9 ran the migration","status":"","evidence":["c9"],"error":"","files":[],"forbids":[]}]}`)
			all := []modeltest.Reply{
				calls("Act"), calls("Shot", "Bad", "Serve", "Build"), says("It is up."),
				noted, noted, says("Gone on."),
				calls("Ended"), says("Over."), noted, noted, says("The end."),
			}
			var responses []modeltest.Response
			for _, r := range all {
				responses = append(responses, modeltest.Response{Body: d.Stream(d.Events(r))})
			}
			api := map[string]string{"chat": "openai", "messages": "anthropic"}[d.Name]
			if api == "" {
				api = d.Name
			}
			p, s := openedAt(t, d, "x/m", api, all, responses...)
			j := openFaulty(t)
			shown := stored(t, j.Spill, picture(t, 3))
			var shot string
			result := func(name string, r tool.Result) tool.Tool {
				return act(name, effect.Read, func(_ context.Context, _ string, env tool.Env) (tool.Result, error) {
					r := r
					switch name {
					case "Shot":
						shot = stored(t, env.Spill, picture(t, 5))
						r.Media = []tool.Artifact{{Handle: shot, Type: "image/png"}}
					case "Bad":
						r.Media = []tool.Artifact{{Handle: stored(t, env.Spill, []byte("no picture")), Type: "image/png"}}
					}
					r.Status = tool.Success
					return r, nil
				})
			}
			tools := []tool.Tool{
				act("Act", effect.Write, ok),
				result("Shot", tool.Result{Text: "a screenshot"}), result("Bad", tool.Result{Text: "a broken one"}),
				result("Serve", tool.Result{Text: "up", Data: []byte(`{"background":"c4"}`)}),
				result("Build", tool.Result{Text: "building", Data: []byte(`{"background":"c5"}`)}),
				result("Ended", tool.Result{Text: "it ended", Data: []byte(`{"name":"c5","running":false}`)}),
			}

			j.append = func(b event.Body) error { // as where power fails while the call runs
				if _, is := b.(event.Finished); is {
					return errors.New("no power")
				}
				return nil
			}
			if err := resume(t, j, p, tools...).Turn(t.Context(), agent.Input{Text: "Look at this.", Media: []string{shown}}); err == nil {
				t.Fatal("it was not cut")
			}
			j.append = nil
			a, err := agent.Open(t.Context(), mustFold(t, j), agent.Options{
				Journal: j, Provider: p, Model: model.Info{Name: "x/m", Window: 100_000}, Tools: tools,
				Session: event.Opened{Session: "s", Root: "/w"}, Policy: policy.Policy{Mode: policy.ModeFull},
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, words := range []string{"Go on.", "And then?", "What is left?"} {
				if err := a.Turn(t.Context(), agent.Input{Text: words}); err != nil {
					t.Fatal(err)
				}
				if i == 2 {
					break
				}
				if i == 1 {
					if err := a.Turn(t.Context(), agent.Input{Text: "Is it over?"}); err != nil {
						t.Fatal(err)
					}
				}
				if err := a.Compact(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				handoff := mustFold(t, j).Handoff()
				for _, want := range []string{
					"call c1 (Act Act) was cut off: whether it happened is unknown", "c4 went on in the background",
					"Look at this. [with an image: " + shown + "]", shot,
				} {
					if !strings.Contains(handoff, want) {
						t.Errorf("%q is not in handoff %d:\n%s", want, i, handoff)
					}
				}
				for _, not := range []string{"migration", "hm ", "so It is up"} {
					if strings.Contains(handoff, not) {
						t.Errorf("%q is in handoff %d:\n%s", not, i, handoff)
					}
				}
				if got := strings.Contains(handoff, "c5 went on in the background"); got != (i == 0) {
					t.Errorf("the command that has ended by then is named in handoff %d: %v", i, got)
				}
			}
			bodies := s.Bodies()
			if len(bodies) != len(all) {
				t.Errorf("%d requests", len(bodies))
			}
			if q := quarantined(t, j.Journal); len(q) != 1 || !q[0].Media {
				t.Errorf("quarantined: %+v", q)
			}
			if last := bodies[len(bodies)-1]; !strings.Contains(last, "whether it happened is unknown") || strings.Contains(last, "hm ") {
				t.Errorf("the last request is %s", last)
			}
		})
	}
}

// TestR264_WhatWasRefusedDoesNotComeBackInAHandoff: an answer that the API takes no
// more is neither quoted for notes nor reported after a compaction. One of which it
// only refuses the reasoning is.
func TestR264_WhatWasRefusedDoesNotComeBackInAHandoff(t *testing.T) {
	for part, not := range []string{"", "not "} { // 0 is the reasoning, 1 the words
		r := newRig(t, options{script: strings.NewReplacer("PART", fmt.Sprint(part), "NOT ", not).Replace(`
-- handoff --
expect: user /Do go on/
expect: NOT user /poison/
say: {"notes": []}
-- step --
think: hm
say: Here is the poison.
-- step --
fail: rejected message=1 part=PART
-- step --
say: Well, ` + strings.Repeat("word ", 2_000) + `
-- step --
say: So it is.
-- step --
expect: user /the model reported: Well/
expect: NOT user /the model reported: Here is the poison/
say: And on.
`)})
		for _, words := range []string{"go", "Do go on", "Is it so?"} {
			if err := r.Turn(t.Context(), agent.Input{Text: words}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Compact(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		quarantined := 0
		for _, e := range r.events {
			if q, ok := e.Body.(event.Quarantined); ok && q.Part == part {
				quarantined++
			}
		}
		if quarantined != 1 {
			t.Errorf("part %d is quarantined %d times", part, quarantined)
		}
	}
}
