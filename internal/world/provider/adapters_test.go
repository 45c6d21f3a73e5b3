package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/toolbox"
	"github.com/belay-agent/belay/internal/world/process"
	"github.com/belay-agent/belay/internal/world/workspace"
)

// An encoder is an adapter, as far as it makes requests.
type encoder interface {
	model.Provider
	encode(*model.Request) ([]byte, *sites, error)
}

// adapter returns the adapter of d that speaks for a model of the name.
func adapter(t testing.TB, d modeltest.Dialect, name string) encoder {
	t.Helper()
	base, err := url.Parse("http://model.test")
	if err != nil {
		t.Fatal(err)
	}
	return adapt(Options{Name: name, API: apiOf(d)}, base, &transport{}, model.Info{MaxOutput: 1000}).(encoder)
}

// hear makes the reply that e takes out of a stream.
func hear(t testing.TB, e encoder, stream string) *model.Reply {
	t.Helper()
	req := modeltest.Ask()
	var l listener
	switch e := e.(type) {
	case *chat:
		l = &chatListener{from: e.from, req: req}
	case *messages:
		l = newMessagesListener(e.from, req)
	case *responses:
		l = newResponsesListener(e.from, req)
	case *gemini:
		l = &geminiListener{from: e.from, req: req}
	}
	s := splitter{max: maxEvent, emit: func(f frame) error { _, err := l.hear(f); return err }}
	if err := errors.Join(s.write([]byte(stream)), s.close()); err != nil {
		t.Fatal(err)
	}
	r := l.reply()
	return &r
}

// logged returns m as a session has it after a resume.
func logged(t testing.TB, m model.Message) model.Message {
	t.Helper()
	b, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back model.Message
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// TestBug_P06_ModelsChange lets each model go on where another has worked, in
// the midst of its calls and after them: the strict servers take back their own
// thoughts, byte for byte, and no others.
func TestBug_P06_ModelsChange(t *testing.T) {
	for _, first := range dialects() {
		for _, second := range dialects() {
			for _, same := range []bool{true, false} {
				name := fmt.Sprintf("%s then %s, same model %v", first.Name, second.Name, same)
				own, other := adapter(t, first, "p/one"), adapter(t, second, "p/one")
				if !same {
					other = adapter(t, second, "p/two")
				}
				r := modeltest.Rich()
				said := numbered(hear(t, own, first.Stream(first.Events(r))), "a", "b")
				history := []model.Message{modeltest.Say(model.User, "go"), logged(t, said), {Role: model.User, Parts: []model.Part{
					model.CallResult{Call: "a", Text: "1"}, model.CallResult{Call: "b", Text: "2"},
				}}}
				check := func(when string, d modeltest.Dialect, e encoder, mine bool) {
					t.Helper()
					body, _, err := e.encode(modeltest.Ask(history...))
					if err != nil {
						t.Fatalf("%s, %s: %v", name, when, err)
					}
					c, err := d.Parse(body)
					if err == nil {
						err = modeltest.Strict(c, []string{d.Reasoning(r)})
					}
					if err != nil {
						t.Errorf("%s, %s: %v\n%s", name, when, err, body)
					}
					if has := strings.Contains(string(body), d.Reasoning(r)); has != mine {
						t.Errorf("%s, %s: its own thoughts go back: %v\n%s", name, when, has, body)
					}
				}
				again := first.Name == second.Name && same
				check("amid calls", second, other, again)
				check("amid calls, the first again", first, own, true)
				r2 := modeltest.Rich()
				history = append(history, logged(t, numbered(hear(t, other, second.Stream(second.Events(r2))), "c", "d")), model.Message{Role: model.User, Parts: []model.Part{
					model.CallResult{Call: "c", Text: "3"}, model.CallResult{Call: "d", Text: "4"}, model.Text{Text: "and now?"},
				}})
				check("later", second, other, true)
				check("later, the first again", first, own, true)
			}
		}
	}
}

// TestR264_AnyLogMakesARequestThatEachAPITakes: whatever happened in a session,
// whatever was quarantined, and whoever spoke, what follows is a request that a
// strict server takes: each call with its one result right after it, and no
// thoughts but its own. Of 600 sessions of chance the soak tries each, and the
// usual run 120.
func TestR264_AnyLogMakesARequestThatEachAPITakes(t *testing.T) {
	rounds := 600
	if !soak {
		rounds = 120
	}
	var encoders []encoder
	for _, d := range dialects() {
		encoders = append(encoders, adapter(t, d, "p/m"))
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 6))
		s := new(session.State)
		add := func(b event.Body) {
			if s.Fits(b) == nil {
				_ = s.Apply(event.Event{Seq: s.Seq() + 1, Time: time.Unix(s.Seq(), 0), Body: b}) // what does not fit did not happen
			}
		}
		add(event.Opened{Session: "s", Root: "/w"})
		add(event.Asked{Text: "go"})
		for range rng.IntN(16) {
			add(anyBody(t, rng, s, encoders))
			for i, d := range dialects() {
				checkRequest(t, seed, d, encoders[i], s)
			}
		}
	}
}

func checkRequest(t *testing.T, seed int, d modeltest.Dialect, e encoder, s *session.State) {
	t.Helper()
	req := prompt.Request(s, nil, modeltest.Ask().Tools)
	req.MaxOutput = 1000
	body, _, err := e.encode(req)
	if err != nil {
		t.Fatalf("seed %d, %s: %v\n%+v", seed, d.Name, err, req.Messages)
	}
	c, err := d.Parse(body)
	if err == nil {
		err = modeltest.Strict(c, []string{d.Reasoning(modeltest.Rich())})
	}
	if err != nil {
		t.Fatalf("seed %d, %s: %v\n%s", seed, d.Name, err, body)
	}
}

// anyBody returns something that may happen next.
func anyBody(t *testing.T, rng *rand.Rand, s *session.State, encoders []encoder) event.Body {
	switch rng.IntN(9) {
	case 0:
		return event.Asked{Text: []string{"more", " ", "go on"}[rng.IntN(3)]}
	case 1, 2, 3, 4:
		i := rng.IntN(len(encoders))
		d := dialects()[i]
		r := modeltest.Rich()
		r.Stop = []model.Stop{model.Calls, model.Length, model.Refused}[rng.IntN(3)]
		if rng.IntN(3) == 0 {
			r.Text = []string{"", " ", "done"}[rng.IntN(3)]
		}
		if rng.IntN(4) == 0 {
			r.Think = ""
		}
		r.Calls = append([]modeltest.Call{{Tool: "no such!", Args: `{"half`}}, r.Calls...)[rng.IntN(2):][:rng.IntN(3)]
		reply := hear(t, encoders[i], d.Stream(d.Events(r)))
		ids := make([]string, len(reply.Message.Calls()))
		for i := range ids {
			ids[i] = s.NextCall(i)
		}
		m := numbered(reply, ids...)
		if rng.IntN(5) == 0 {
			m.From = "other/model"
		}
		return event.Replied{Message: logged(t, m), Stop: reply.Stop}
	case 5, 6:
		open := s.Open()
		if len(open) == 0 {
			return event.Stopped{Reason: "end"}
		}
		result := tool.Result{Status: tool.Success, Text: []string{"", "ok", "\n"}[rng.IntN(3)]}
		return event.Finished{Call: open[rng.IntN(len(open))].Plan.Call.ID, Result: result}
	case 7:
		return event.Quarantined{Seq: 1 + rng.Int64N(s.Seq()+1), Part: rng.IntN(4), Media: rng.IntN(4) == 0, Reason: "no"}
	}
	b := event.Compacted{Through: rng.Int64N(s.Seq() + 1), Handoff: []string{"", "Goal: x"}[rng.IntN(2)]}
	for _, x := range s.Talk() {
		for _, c := range x.Message.Calls() {
			if rng.IntN(2) == 0 {
				b.Pruned = append(b.Pruned, event.Pruned{Call: c.ID, Text: []string{"", "[left out]"}[rng.IntN(2)], Args: []json.RawMessage{nil, json.RawMessage(`{"short":true}`)}[rng.IntN(2)]})
			}
		}
	}
	return b
}

// TestR057_EachAPIGetsEveryTool holds that every built-in tool reaches each API,
// with its schema as its author wrote it.
func TestR057_EachAPIGetsEveryTool(t *testing.T) {
	w, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var specs []tool.Spec
	var want []modeltest.Offer
	for _, built := range toolbox.All(toolbox.Options{Workspace: w, Host: &process.Host{}}) {
		specs = append(specs, built.Spec())
		want = append(want, modeltest.Offer{Name: built.Spec().Name, Schema: built.Spec().Input})
	}
	for _, d := range dialects() {
		req := modeltest.Ask()
		req.Tools = specs
		body, _, err := adapter(t, d, "p/m").encode(req)
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Tools); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name, diff)
		}
	}
}

// TestEffortOfEachAPI: one setting, said as each API has it.
func TestEffortOfEachAPI(t *testing.T) {
	for _, tt := range []struct {
		d                  modeltest.Dialect
		name, effort, want string
	}{
		{modeltest.Chat(), "p/m", "low", `"reasoning_effort":"low"`},
		{modeltest.Messages(), "p/m", "medium", `"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}`},
		{modeltest.Responses(), "p/m", "high", `"reasoning":{"effort":"high","summary":"auto"}`},
		{modeltest.Gemini(), "p/gemini-3-pro", "high", `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}`},
		{modeltest.Gemini(), "p/gemini-2.5-pro", "medium", `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}`},
	} {
		for _, effort := range []string{tt.effort, ""} {
			req := modeltest.Ask()
			req.Effort = effort
			body, _, err := adapter(t, tt.d, tt.name).encode(req)
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(body), tt.want); has != (effort != "") {
				t.Errorf("%s, effort %q: %v, %s", tt.d.Name, effort, has, body)
			}
		}
	}
}

// TestStrictSchemas: a schema binds the model only where that changes nothing of
// what it means.
func TestStrictSchemas(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{},"additionalProperties":false}`:                                                                   true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                             true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"required":["a"],"additionalProperties":false}`:   true,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object"}`: false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                            false,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`: false,
		`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`:               false,
		`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"],"additionalProperties":false}`:                    false,
		`{"anyOf":[{"type":"string"}]}`: false,
		`true`:                          false,
		`{`:                             false,
	} {
		if got := strictable(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
