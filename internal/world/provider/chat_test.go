package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestChatDialects are replies as servers give them that only nearly speak Chat
// Completions.
func TestChatDialects(t *testing.T) {
	delta := func(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
	finish := func(reason string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
	}
	call := func(name, args string) model.Call {
		return model.Call{Call: tool.Call{Tool: name, Args: json.RawMessage(args)}}
	}
	tests := []struct {
		name   string
		events []string
		parts  []model.Part
		stop   model.Stop
	}{
		{"no DONE", []string{delta(`{"content":"a"}`), finish("stop")}, []model.Part{model.Text{Text: "a"}}, model.End},
		{"reason and text at once", []string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, "[DONE]"}, []model.Part{model.Text{Text: "a"}}, model.End},
		{"empty reason while it goes on", []string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}`, delta(`{"content":"b"}`), finish("stop")}, []model.Part{model.Text{Text: "ab"}}, model.End},
		{"stop with calls", []string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"Bash","arguments":"{}"}}]}`), finish("stop")}, []model.Part{call("Bash", `{}`)}, model.Calls},
		{"tool_calls without calls", []string{delta(`{"content":"a"}`), finish("tool_calls")}, []model.Part{model.Text{Text: "a"}}, model.End},
		{"no arguments", []string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"Bash"}}]}`), finish("tool_calls")}, []model.Part{call("Bash", `{}`)}, model.Calls},
		{"arguments as an object", []string{delta(`{"tool_calls":[{"id":"x","function":{"name":"Bash","arguments":{"command":"ls"}}}]}`), finish("tool_calls")}, []model.Part{call("Bash", `{"command":"ls"}`)}, model.Calls},
		{"new ids under one index", []string{
			delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"Read","arguments":"{\"a\":"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"y","function":{"name":"Bash","arguments":"{}"}}]}`),
			finish("tool_calls"),
		}, []model.Part{call("Read", `{"a":1}`), call("Bash", `{}`)}, model.Calls},
		{"no index", []string{
			delta(`{"tool_calls":[{"id":"x","function":{"name":"Read","arguments":"{\"a\":"}}]}`),
			delta(`{"tool_calls":[{"function":{"arguments":"1}"}}]}`),
			delta(`{"tool_calls":[{"id":"y","function":{"name":"Bash","arguments":"{}"}}]}`),
			finish("tool_calls"),
		}, []model.Part{call("Read", `{"a":1}`), call("Bash", `{}`)}, model.Calls},
		{"the id in every piece", []string{
			delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"Read","arguments":"{\"a\":"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"Read","arguments":"1}"}}]}`),
			finish("tool_calls"),
		}, []model.Part{call("Read", `{"a":1}`)}, model.Calls},
		{"interleaved", []string{
			delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"Read","arguments":"{\"a\""}},{"index":1,"id":"y","function":{"name":"Bash","arguments":"{\"b\""}}]}`),
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":":2}"}},{"index":0,"function":{"arguments":":1}"}}]}`),
			finish("tool_calls"),
		}, []model.Part{call("Read", `{"a":1}`), call("Bash", `{"b":2}`)}, model.Calls},
		{"reasoning by another name", []string{delta(`{"reasoning":"hm"}`), delta(`{"content":"a"}`), finish("stop")}, []model.Part{model.Reasoning{Text: "hm", Raw: json.RawMessage(`{"reasoning":"hm"}`)}, model.Text{Text: "a"}}, model.End},
		{"content in blocks", []string{delta(`{"content":[{"type":"text","text":"a"}]}`), finish("stop")}, []model.Part{model.Text{Text: "a"}}, model.End},
		{"a refusal", []string{delta(`{"refusal":"I will not"}`), finish("stop")}, []model.Part{model.Text{Text: "I will not"}}, model.Refused},
		{"filtered", []string{delta(`{"content":"a"}`), finish("content_filter")}, []model.Part{model.Text{Text: "a"}}, model.Refused},
		{"other choices", []string{`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"}}]}`, finish("stop")}, []model.Part{model.Text{Text: "a"}}, model.End},
		{"no salvage", []string{delta(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"Bash","arguments":"{\"a\":1}}"}}]}`), finish("tool_calls")},
			[]model.Part{model.Call{Call: tool.Call{Tool: "Bash", Args: json.RawMessage("null")}, Malformed: `{"a":1}}`}}, model.Calls},
		{"nothing said", []string{delta(`{"role":"assistant","content":""}`), finish("stop")}, nil, model.End},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := served(t, modeltest.Chat(), nil, modeltest.Response{Body: modeltest.Chat().Stream(tt.events)})
			h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
			if h.Err != nil {
				t.Fatal(h.Err)
			}
			if d := cmp.Diff(tt.parts, h.Reply.Message.Parts); d != "" || h.Reply.Stop != tt.stop {
				t.Errorf("stop %q (-want +got):\n%s", h.Reply.Stop, d)
			}
			if !h.Reply.Usage.Estimated || h.Reply.Usage.Input == 0 {
				t.Errorf("usage %+v, want an estimate: nothing was reported", h.Reply.Usage)
			}
		})
	}
}

// TestChatDoesWithoutStreamOptions is a server that knows no stream_options: it
// is asked without, from then on.
func TestChatDoesWithoutStreamOptions(t *testing.T) {
	d := modeltest.Chat()
	whole := modeltest.Response{Body: d.Stream(d.Events(short()))}
	p, s := served(t, d, nil,
		modeltest.Response{Status: 400, Body: d.Error("invalid_request_error", "Unrecognized request argument supplied: stream_options")}, whole, whole)
	for range 2 {
		short().Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
	}
	var asked []bool
	for _, b := range s.Bodies() {
		asked = append(asked, strings.Contains(b, "stream_options"))
	}
	if d := cmp.Diff([]bool{true, false, false}, asked); d != "" {
		t.Errorf("which requests asked (-want +got):\n%s", d)
	}
}
