package provider

import (
	"errors"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestNoBytesAreRefusedTwice: what a server refused for what it is is not sent
// again; what the user can set right elsewhere is.
func TestNoBytesAreRefusedTwice(t *testing.T) {
	for _, d := range dialects() {
		for _, tt := range []struct {
			status   int
			words    string
			requests int // of two
		}{
			{400, "this is not allowed", 1},
			{422, "not a valid request", 1},
			{400, "prompt is too long: 210000 tokens > 200000 maximum", 1},
			{413, "Request Entity Too Large", 1},
			{401, "invalid key", 2},
			{402, "no money", 2},
			{404, "no such model", 2},
		} {
			no := modeltest.Response{Status: tt.status, Body: d.Error("x", tt.words)}
			p, s := served(t, d, nil, no, no)
			var errs []string
			for range 2 {
				errs = append(errs, modeltest.Listen(t, p, t.Context(), modeltest.Ask()).Err.Error())
			}
			if n := len(s.Bodies()); n != tt.requests || errs[0] != errs[1] {
				t.Errorf("%s, %d %s: %d requests, %q", d.Name, tt.status, tt.words, n, errs)
			}
			end := modeltest.Ask(modeltest.Say(model.User, "something else"))
			if h := modeltest.Listen(t, p, t.Context(), end); tt.requests == 1 && h.Err == nil {
				t.Error("the strict server had no reply left")
			} else if n := len(s.Bodies()); tt.requests == 1 && n != 2 {
				t.Errorf("%s: another request was not sent", d.Name)
			}
			s.Forgive()
		}
	}
}

// TestDoesWithoutWhatIsRefused: what a server does not know, and the request can
// do without, is left out from then on.
func TestDoesWithoutWhatIsRefused(t *testing.T) {
	for _, tt := range []struct {
		d            modeltest.Dialect
		words, field string
	}{
		{modeltest.Chat(), "Unrecognized request argument supplied: reasoning_effort", `"reasoning_effort"`},
		{modeltest.Chat(), "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model", `"response_format"`},
		{modeltest.Chat(), "extra fields not permitted: stream_options", `"stream_options"`},
		{modeltest.Messages(), "output_config.effort: This model does not support the effort parameter.", `"effort"`},
		{modeltest.Messages(), "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block", `"thinking"`},
		{modeltest.Messages(), "adaptive thinking is not supported on this model", `"thinking"`},
		{modeltest.Messages(), "output_config.format: Extra inputs are not permitted", `"json_schema"`},
		{modeltest.Responses(), "Encrypted content is not supported with this model.", `"include"`},
		{modeltest.Responses(), "Your organization must be verified to generate reasoning summaries.", `"summary"`},
		{modeltest.Responses(), "Unsupported parameter: 'reasoning.effort' is not supported with this model.", `"reasoning":`},
		{modeltest.Responses(), "Invalid schema for function 'Read': In context=(), 'x' is not permitted.", `"strict":true`},
		{modeltest.Gemini(), "Function calling with a response mime type: 'application/json' is unsupported", `"responseMimeType"`},
		{modeltest.Gemini(), "Thinking level is not supported for this model.", `"thinkingConfig"`},
	} {
		r := short()
		whole := modeltest.Response{Body: tt.d.Stream(tt.d.Events(r))}
		p, s := served(t, tt.d, nil, modeltest.Response{Status: 400, Body: tt.d.Error("invalid_request_error", tt.words)}, whole, whole)
		for range 2 {
			req := modeltest.Ask()
			req.Effort, req.Schema = "low", []byte(`{"type":"object"}`)
			r.Check(t, modeltest.Listen(t, p, t.Context(), req))
		}
		for i, body := range s.Bodies() {
			if has := strings.Contains(body, tt.field); has != (i == 0) {
				t.Errorf("%s, %q: request %d has %s: %v\n%s", tt.d.Name, tt.words, i, tt.field, has, body)
			}
		}
	}
}

// TestR264_RefusalsNameTheirItem: the words of each API lead to the part that
// they are about.
func TestR264_RefusalsNameTheirItem(t *testing.T) {
	thought := map[string]string{
		"chat": `{"reasoning_content":"hm"}`, "messages": `{"type":"thinking","thinking":"hm","signature":"s"}`,
		"responses": `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"}`, "gemini": `{"text":"","thoughtSignature":"s"}`,
	}
	for _, tt := range []struct {
		d             modeltest.Dialect
		words         string
		message, part int // -1: a *model.BadRequest
	}{
		{modeltest.Messages(), "messages.1.content.0: Invalid `signature` in `thinking` block", 1, 0},
		{modeltest.Messages(), "messages.1.content.2.tool_use.input: Input should be a valid dictionary", 1, 2},
		{modeltest.Messages(), "messages.2: `tool_result` is odd", 2, 0},
		{modeltest.Messages(), "messages.1: all is odd", 1, 0},
		{modeltest.Messages(), "messages.0.content.0.text: this is not allowed", -1, 0},
		{modeltest.Messages(), "messages.9.content.0: there is none", -1, 0},
		{modeltest.Messages(), "tools.0.custom.input_schema: JSON schema is invalid", -1, 0},
		{modeltest.Messages(), "max_tokens: 99 > 8", -1, 0},
		{modeltest.Chat(), "Invalid value for 'messages[2].tool_calls[0].function.arguments'", 1, 2},
		{modeltest.Chat(), "reasoning_content is odd in assistant message at index 2", 1, 0},
		{modeltest.Responses(), "Invalid 'input[1].encrypted_content': not for this organization.", 1, 0},
		{modeltest.Responses(), "The encrypted content gAAA... could not be verified.", 1, 0},
		{modeltest.Responses(), "Invalid 'input[3].arguments'", 1, 2},
		{modeltest.Gemini(), "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES)", 1, 0},
		{modeltest.Gemini(), "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.", 2, 0},
		{modeltest.Gemini(), "Corrupted thought signature.", 1, 0},
		{modeltest.Gemini(), "something is odd", -1, 0},
	} {
		e := adapter(t, tt.d, "p/m")
		req := modeltest.Ask(modeltest.Say(model.User, "go"), model.Message{Role: model.Assistant, From: maker("p/m", apiOf(tt.d)), Parts: []model.Part{
			model.Reasoning{Text: "hm", Raw: []byte(thought[tt.d.Name])}, model.Text{Text: "a"},
			model.Call{Call: tool.Call{ID: "c1", Tool: "Read", Args: []byte(`{}`)}},
		}}, modeltest.Answer("c1", "ok"))
		_, places, err := e.encode(req)
		if err != nil {
			t.Fatal(err)
		}
		got := places.blame(&model.BadRequest{Status: 400, Reason: tt.words})
		r, ok := errors.AsType[*model.Rejection](got)
		if ok != (tt.message >= 0) || ok && (r.Message != tt.message || r.Part != tt.part) {
			t.Errorf("%s, %q: %v, want message %d, part %d", tt.d.Name, tt.words, got, tt.message, tt.part)
		}
	}
}

// TestBug_C05_NoUsageFigures: where the server does not count it is estimated,
// and that is marked; what it counts of the cache is not lost.
func TestBug_C05_NoUsageFigures(t *testing.T) {
	for _, d := range dialects() {
		r := short()
		r.Usage = model.Usage{}
		p, _ := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))})
		if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); h.Reply == nil || !h.Reply.Usage.Estimated || h.Reply.Usage.Input == 0 || h.Reply.Usage.Output == 0 {
			t.Errorf("%s: %+v, %v", d.Name, h.Reply, h.Err)
		}
		r.Usage = model.Usage{Input: 3, Cached: 9000, Output: 5}
		p, _ = served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))})
		r.Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
	}
}

// TestBug_C05_TooLongInAnyWords: four wordings, and the bare status, are one
// error, over each API, and as an event of a stream too.
func TestBug_C05_TooLongInAnyWords(t *testing.T) {
	for _, d := range dialects() {
		for _, words := range []string{
			"prompt is too long: 30001 tokens > 30000 maximum",
			"This model's maximum context length is 30000 tokens. However, your messages resulted in 31000 tokens.",
			"The input token count (31000) exceeds the maximum number of tokens allowed (30000).",
			"Your input exceeds the context window of this model. Please adjust your input and try again.",
			"",
		} {
			no := modeltest.Response{Status: 400, Body: d.Error("invalid_request_error", words)}
			if words == "" {
				no = modeltest.Response{Status: 413}
			}
			p, s := served(t, d, nil, no)
			for range 2 {
				if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); !errors.Is(h.Err, model.ErrOverflow) {
					t.Errorf("%s, %q: %v", d.Name, words, h.Err)
				}
			}
			if n := len(s.Bodies()); n != 1 {
				t.Errorf("%s, %q: sent %d times", d.Name, words, n)
			}
		}
	}
}
