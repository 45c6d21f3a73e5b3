package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// converse plays the replies of a session of reads, step by step, and returns
// the bodies of its requests.
func converse(t *testing.T, d modeltest.Dialect, steps int, recap bool) []string {
	t.Helper()
	var replies []modeltest.Reply
	var responses []modeltest.Response
	for range steps {
		r := modeltest.Rich()
		r.Calls = r.Calls[:1]
		replies = append(replies, r)
		responses = append(responses, modeltest.Response{Body: d.Stream(d.Events(r))})
	}
	p, s := served(t, d, replies, responses...)
	history := []model.Message{modeltest.Say(model.User, "fix <it> & go")}
	for i := range steps {
		req := modeltest.Ask(history...)
		if recap {
			req.Messages = append(req.Messages[:len(history):len(history)], modeltest.Say(model.User, "todo: "+strings.Repeat("x", i+1)))
		}
		h := modeltest.Listen(t, p, t.Context(), req)
		if h.Err != nil {
			t.Fatal(h.Err)
		}
		id := "c" + string(rune('1'+i))
		history = append(history, numbered(h.Reply, id), modeltest.Answer(id, "line <1>\nline 2"))
	}
	return s.Bodies()
}

// TestRequestsRepeatTheOneBefore holds that a request begins with the bytes of
// the one before, up to its last message: so do caches of prefixes work.
func TestRequestsRepeatTheOneBefore(t *testing.T) {
	t.Run("chat", func(t *testing.T) {
		for _, recap := range []bool{false, true} {
			bodies := converse(t, modeltest.Chat(), 4, recap)
			for i := 1; i < len(bodies); i++ {
				want := strings.TrimSuffix(bodies[i-1], "]}")
				if recap {
					want = want[:strings.LastIndex(want, `,{"role":"user"`)]
				}
				if !strings.HasPrefix(bodies[i], want) {
					t.Errorf("request %d does not begin with\n%s\nbut is\n%s", i, want, bodies[i])
				}
			}
		}
	})
	t.Run("messages", func(t *testing.T) {
		// The cache mark wanders, and is no part of what the API compares.
		mark := `,"cache_control":{"type":"ephemeral"}`
		for _, recap := range []bool{false, true} {
			bodies := converse(t, modeltest.Messages(), 4, recap)
			for i := 1; i < len(bodies); i++ {
				before, after := strings.ReplaceAll(bodies[i-1], mark, ""), strings.ReplaceAll(bodies[i], mark, "")
				want := strings.TrimSuffix(before, "]}]}")
				if recap {
					want = want[:strings.LastIndex(want, `,{"type":"text"`)]
				}
				if !strings.HasPrefix(after, want) {
					t.Errorf("request %d does not begin with\n%s\nbut is\n%s", i, want, after)
				}
			}
		}
	})
}

// TestWhatIsConstantStandsBeforeTheMessages fixes the order of fields.
func TestWhatIsConstantStandsBeforeTheMessages(t *testing.T) {
	for _, d := range dialects() {
		r := short()
		p, s := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))})
		req := modeltest.Ask()
		req.Effort, req.Schema = "high", json.RawMessage(`{"type":"object"}`)
		r.Check(t, modeltest.Listen(t, p, t.Context(), req))
		dec := json.NewDecoder(strings.NewReader(s.Bodies()[0]))
		var keys []string
		if _, err := dec.Token(); err != nil {
			t.Fatal(err)
		}
		for dec.More() {
			key, err := dec.Token()
			var value json.RawMessage
			if err != nil || dec.Decode(&value) != nil {
				t.Fatal(err)
			}
			keys = append(keys, key.(string))
		}
		want := []string{"model", "stream", "stream_options", "max_tokens", "reasoning_effort", "response_format", "tools", "messages"}
		switch d.Name {
		case "messages":
			want = []string{"model", "max_tokens", "stream", "thinking", "output_config", "system", "tools", "messages"}
		case "responses":
			want = []string{"model", "stream", "store", "include", "max_output_tokens", "reasoning", "text", "instructions", "tools", "input"}
		case "gemini":
			want = []string{"generationConfig", "systemInstruction", "tools", "contents"}
		}
		if d := cmp.Diff(want, keys); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestRequestOfEachDialect(t *testing.T) {
	history := []model.Message{
		modeltest.Say(model.User, "go"),
		{Role: model.Assistant, From: "other/model", Parts: []model.Part{
			model.Reasoning{Text: "hm", Raw: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"foreign"}`)},
			model.Text{Text: "I try.", Raw: json.RawMessage(`{"foreign":1}`)},
			model.Call{Call: tool.Call{ID: "c1", Tool: "Read", Args: json.RawMessage(`{"path":"a<b"}`)}},
			model.Call{Call: tool.Call{ID: "c2", Tool: "no such.tool!", Args: json.RawMessage("null")}, Malformed: "{oops"},
			model.Call{Call: tool.Call{ID: "c3", Tool: "", Args: json.RawMessage(`["a"]`)}},
		}},
		{Role: model.User, Parts: []model.Part{
			model.CallResult{Call: "c1", Text: "package a"},
			model.CallResult{Call: "c2", Text: "no such tool", Error: true},
			model.CallResult{Call: "c3"},
			model.Text{Text: "and mind the tests"},
		}},
		modeltest.Say(model.User, "todo: one"),
	}
	want := map[string]string{
		"chat": `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000,
			"tools":[{"type":"function","function":{"name":"Read","description":"reads","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}}}],
			"messages":[{"role":"system","content":"Be <brief> & exact."},{"role":"user","content":"go"},
			{"role":"assistant","content":"I try.","tool_calls":[
				{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"a<b\"}"}},
				{"id":"c2","type":"function","function":{"name":"no_such_tool_","arguments":"{}"}},
				{"id":"c3","type":"function","function":{"name":"unnamed","arguments":"{}"}}]},
			{"role":"tool","content":"package a","tool_call_id":"c1"},{"role":"tool","content":"no such tool","tool_call_id":"c2"},{"role":"tool","content":"(no output)","tool_call_id":"c3"},
			{"role":"user","content":"and mind the tests"},{"role":"user","content":"todo: one"}]}`,
		"messages": `{"model":"m","max_tokens":1000,"stream":true,
			"system":[{"text":"Be <brief> & exact.","cache_control":{"type":"ephemeral"},"type":"text"}],
			"tools":[{"name":"Read","description":"reads","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}}],
			"messages":[{"role":"user","content":[{"text":"go","type":"text"}]},
			{"role":"assistant","content":[{"text":"I try.","type":"text"},
				{"id":"c1","input":{"path":"a<b"},"name":"Read","type":"tool_use"},
				{"id":"c2","input":{},"name":"no_such_tool_","type":"tool_use"},
				{"id":"c3","input":{},"name":"unnamed","type":"tool_use"}]},
			{"role":"user","content":[
				{"tool_use_id":"c1","content":[{"text":"package a","type":"text"}],"type":"tool_result"},
				{"tool_use_id":"c2","is_error":true,"content":[{"text":"no such tool","type":"text"}],"type":"tool_result"},
				{"tool_use_id":"c3","content":[{"text":"(no output)","type":"text"}],"type":"tool_result"},
				{"text":"and mind the tests","cache_control":{"type":"ephemeral"},"type":"text"},
				{"text":"todo: one","type":"text"}]}]}`,
		"responses": `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":1000,
			"instructions":"Be <brief> & exact.",
			"tools":[{"type":"function","name":"Read","description":"reads","strict":true,"parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}}],
			"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I try."}]},
			{"type":"function_call","call_id":"c1","name":"Read","arguments":"{\"path\":\"a<b\"}"},
			{"type":"function_call","call_id":"c2","name":"no_such_tool_","arguments":"{}"},
			{"type":"function_call","call_id":"c3","name":"unnamed","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"package a"},
			{"type":"function_call_output","call_id":"c2","output":"no such tool"},
			{"type":"function_call_output","call_id":"c3","output":"(no output)"},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"and mind the tests"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"todo: one"}]}]}`,
		"gemini": `{"generationConfig":{"maxOutputTokens":1000},
			"systemInstruction":{"parts":[{"text":"Be <brief> & exact."}]},
			"tools":[{"functionDeclarations":[{"name":"Read","description":"reads","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}}]}],
			"contents":[{"role":"user","parts":[{"text":"go"}]},
			{"role":"model","parts":[{"text":"I try."},
				{"functionCall":{"id":"c1","name":"Read","args":{"path":"a<b"}},"thoughtSignature":"skip_thought_signature_validator"},
				{"functionCall":{"id":"c2","name":"no_such_tool_","args":{}}},
				{"functionCall":{"id":"c3","name":"unnamed","args":{}}}]},
			{"role":"user","parts":[
				{"functionResponse":{"id":"c1","name":"Read","response":{"output":"package a"}}},
				{"functionResponse":{"id":"c2","name":"no_such_tool_","response":{"error":"no such tool"}}},
				{"functionResponse":{"id":"c3","name":"unnamed","response":{"output":"(no output)"}}}]},
			{"role":"user","parts":[{"text":"and mind the tests"},{"text":"todo: one"}]}]}`,
	}
	for _, d := range dialects() {
		r := short()
		p, s := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))})
		req := modeltest.Ask(history...)
		req.Tools, req.Stable = req.Tools[:1], 3
		r.Check(t, modeltest.Listen(t, p, t.Context(), req))
		var got, wanted any
		if err := json.Unmarshal([]byte(s.Bodies()[0]), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want[d.Name]), &wanted); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(wanted, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, d := range dialects() {
		r := short()
		p, s := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))})
		r.Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
		h := s.Headers()[0]
		if (d.Name == "chat" || d.Name == "responses") && h.Get("Authorization") != "Bearer sk-test-secret" ||
			d.Name == "messages" && (h.Get("X-Api-Key") != "sk-test-secret" || h.Get("Anthropic-Version") == "" || h.Get("Authorization") != "") ||
			d.Name == "gemini" && (h.Get("X-Goog-Api-Key") != "sk-test-secret" || h.Get("Authorization") != "") {
			t.Errorf("%s: %v", d.Name, h)
		}
	}
}

// TestBug_P06_ReasoningGoesBackUntouched holds that opaque blocks of all
// kinds return byte for byte to the model that made them, after the log has had them,
// and to no other.
func TestBug_P06_ReasoningGoesBackUntouched(t *testing.T) {
	d := modeltest.Messages()
	blocks := []string{
		`{"type":"thinking","thinking":"","signature":"EqQ+/8="}`,
		`{"type":"redacted_thinking","data":"EmwKAhgB/+=="}`,
		`{"type":"block_of_tomorrow","nested":{"b":[1,2.50,1e3],"a":null},"u":"é"}`,
	}
	var events []string
	events = append(events, d.Events(short())[0])
	for i, b := range blocks {
		n := string(rune('0' + i))
		events = append(events, `{"type":"content_block_start","index":`+n+`,"content_block":`+b+`}`, `{"type":"content_block_stop","index":`+n+`}`)
	}
	events = append(events,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`)
	p, _ := served(t, d, nil, modeltest.Response{Body: d.Stream(events)})
	h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
	logged, err := json.Marshal(numbered(h.Reply, "c1"))
	if err != nil {
		t.Fatal(err)
	}
	var reply model.Message
	if err := json.Unmarshal(logged, &reply); err != nil {
		t.Fatal(err)
	}
	req := modeltest.Ask(modeltest.Say(model.User, "go"), reply, modeltest.Answer("c1", "ok"))
	body, _, err := p.(*messages).encode(req)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), strings.Join(blocks, ",")+`,{"type":"tool_use"`) {
		t.Errorf("they do not stand in their order before the call:\n%s", body)
	}
	for _, b := range blocks {
		if !strings.Contains(string(body), b) {
			t.Errorf("%s does not go back in\n%s", b, body)
		}
	}
	other := &messages{name: "anthropic/other", from: "anthropic/other", maxOutput: 1}
	if body, _, err = other.encode(req); err != nil || strings.Contains(string(body), "thinking") || strings.Contains(string(body), "tomorrow") {
		t.Errorf("reasoning goes to another model (%v):\n%s", err, body)
	}
}

func TestImages(t *testing.T) {
	var good bytes.Buffer
	if err := png.Encode(&good, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"artifact:good": good.Bytes(), "artifact:cut": good.Bytes()[:good.Len()-20], "artifact:text": []byte("no image"),
		"artifact:large": make([]byte, maxPicture+1),
		"artifact:webp":  []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x06\x00\x01\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"),
	}
	ask := func(handle string, media bool) *model.Request {
		a := tool.Artifact{Handle: handle}
		result := model.CallResult{Call: "c1", Text: "a picture"}
		parts := []model.Part{result, model.Image{Artifact: a}}
		if media {
			result.Media = []tool.Artifact{a}
			parts = []model.Part{result, model.Text{Text: "look"}}
		}
		req := modeltest.Ask(modeltest.Say(model.User, "go"), modeltest.CallOf("c1"), model.Message{Role: model.User, Parts: parts})
		req.Open = func(handle string) (io.ReadSeekCloser, error) {
			b, ok := files[handle]
			if !ok {
				return nil, errors.New("no such artifact")
			}
			return struct {
				io.ReadSeeker
				io.Closer
			}{bytes.NewReader(b), io.NopCloser(nil)}, nil
		}
		return req
	}
	for _, d := range dialects() {
		for _, media := range []bool{false, true} {
			r := short()
			p, s := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))}, modeltest.Response{Body: d.Stream(d.Events(r))})
			r.Check(t, modeltest.Listen(t, p, t.Context(), ask("artifact:good", media)))
			r.Check(t, modeltest.Listen(t, p, t.Context(), ask("artifact:webp", media)))
			for i, kind := range []string{"image/png", "image/webp"} {
				if !strings.Contains(s.Bodies()[i], kind) {
					t.Errorf("%s: no %s in %s", d.Name, kind, s.Bodies()[i])
				}
			}
			part := 1
			if media {
				part = 0
			}
			for _, handle := range []string{"artifact:cut", "artifact:text", "artifact:large", "artifact:none"} {
				h := modeltest.Listen(t, p, t.Context(), ask(handle, media))
				if rej, ok := errors.AsType[*model.Rejection](h.Err); !ok || rej.Message != 2 || rej.Part != part {
					t.Errorf("%s, %s: got %v, want a rejection of message 2, part %d", d.Name, handle, h.Err, part)
				}
			}
		}
	}
}
