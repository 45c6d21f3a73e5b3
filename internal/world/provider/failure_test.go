package provider

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// kind names the type of an error of a provider.
func kind(err error) string {
	if r, ok := errors.AsType[*model.BadRequest](err); ok {
		return fmt.Sprintf("bad %d", r.Status)
	}
	if _, ok := errors.AsType[*model.Unavailable](err); ok {
		return "unavailable"
	}
	if errors.Is(err, model.ErrOverflow) {
		return "overflow"
	}
	return fmt.Sprintf("%T", err)
}

func TestFailuresHaveTypes(t *testing.T) {
	chat := modeltest.Chat().Error
	tests := []struct {
		name, kind, text, hint string
		status                 int
		body                   string
	}{
		{"wrong key", "bad 401", "Incorrect API key provided: [key]", "OPENAI_API_KEY", 401, chat("invalid_request_error", "Incorrect API key provided: sk-test-secret")},
		{"wrong key, anthropic", "bad 401", "invalid x-api-key", "OPENAI_API_KEY", 401, modeltest.Messages().Error("authentication_error", "invalid x-api-key")},
		{"forbidden", "bad 403", "region", "OPENAI_API_KEY", 403, chat("x", "region not supported")},
		{"unknown model", "bad 404", "model openai/m", "name of the model", 404, chat("invalid_request_error", "The model `m` does not exist")},
		{"unknown model, 400", "bad 400", "model openai/m", "name of the model", 400, `{"error":{"message":"no m here","code":"model_not_found"}}`},
		{"no such path", "bad 404", "web page", "base URL", 404, "<!DOCTYPE html><title>nginx</title>"},
		{"no credit", "bad 429", "exceeded your current quota", "billing", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`},
		{"no credit, anthropic", "bad 400", "credit balance", "billing", 400, modeltest.Messages().Error("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")},
		{"payment", "bad 402", "Insufficient Balance", "billing", 402, chat("unknown_error", "Insufficient Balance")},
		{"rate", "unavailable", "Rate limit reached (HTTP 429)", "", 429, chat("rate_limit_error", "Rate limit reached")},
		{"one too large for the rate", "overflow", "Request too large", "", 429, chat("tokens", "Request too large for gpt-4o on tokens per min: Limit 30000, Requested 50000")},
		{"413", "overflow", "Request Entity Too Large", "", 413, ""},
		{"openai", "overflow", "maximum context", "", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`},
		{"anthropic", "overflow", "prompt is too long", "", 400, modeltest.Messages().Error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")},
		{"anthropic, with output", "overflow", "exceed context limit", "", 400, modeltest.Messages().Error("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000")},
		{"llama.cpp", "overflow", "context size", "", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`},
		{"llama.cpp, old", "overflow", "context size", "", 500, `{"error":{"code":500,"message":"context size has been exceeded","type":"server_error"}}`},
		{"gemini", "overflow", "input token count", "", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
		{"vllm", "overflow", "maximum context length", "", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`},
		{"a field", "bad 400", "Unrecognized request argument", "", 400, chat("invalid_request_error", "Unrecognized request argument supplied: foo")},
		{"detail", "bad 422", "field required", "", 422, `{"detail":[{"msg":"field required"}]}`},
		{"a plain string", "bad 400", "model is loading", "", 400, `{"error":"model is loading"}`},
		{"no JSON", "bad 400", "what?", "", 400, "what?"},
		{"nothing", "unavailable", "Service Unavailable (HTTP 503)", "", 503, ""},
		{"gateway page", "unavailable", `the server sent a web page ("502 Bad & Gateway")`, "", 502, "<html><head><title>502 Bad &amp; Gateway</title></head></html>"},
		{"huge", "bad 400", "xxx", "", 400, strings.Repeat("x", 1<<20)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := served(t, modeltest.Chat(), nil, modeltest.Response{Status: tt.status, Body: tt.body, Header: map[string]string{"Content-Type": "application/json"}})
			h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
			if kind(h.Err) != tt.kind || !strings.Contains(h.Err.Error(), tt.text) || len(h.Err.Error()) > maxReason+200 {
				t.Errorf("got %s: %.300v\nwant %s: %s", kind(h.Err), h.Err, tt.kind, tt.text)
			}
			if bad, ok := errors.AsType[*model.BadRequest](h.Err); ok && !strings.Contains(bad.Hint, tt.hint) {
				t.Errorf("the hint is %q, want %q in it", bad.Hint, tt.hint)
			}
		})
	}
}

// TestFailuresUnder200 are errors that a server sends as if all were well.
func TestFailuresUnder200(t *testing.T) {
	jsonType := map[string]string{"Content-Type": "application/json; charset=utf-8"}
	page := map[string]string{"Content-Type": "text/html"}
	for _, d := range dialects() {
		half := short()
		half.Stop = model.Cut
		begun := d.Stream(d.Events(half))
		event := func(kind, words string) string {
			return "event: error\ndata: " + d.Error(kind, words) + "\n\n"
		}
		for _, tt := range []struct {
			name, kind string
			cut        bool
			response   modeltest.Response
		}{
			{"overloaded at once", "unavailable", false, modeltest.Response{Body: event("overloaded_error", "Overloaded")}},
			{"overloaded later", "unavailable", true, modeltest.Response{Body: begun + event("overloaded_error", "Overloaded")}},
			{"invalid at once", "bad 400", false, modeltest.Response{Body: event("invalid_request_error", "no")}},
			{"overflow later", "overflow", true, modeltest.Response{Body: begun + event("invalid_request_error", "prompt is too long")}},
			{"wrong key", "bad 401", false, modeltest.Response{Body: event("authentication_error", "who?")}},
			{"an error event without JSON", "unavailable", true, modeltest.Response{Body: begun + "event: error\ndata: upstream went away\n\n"}},
			{"JSON error", "unavailable", false, modeltest.Response{Body: d.Error("api_error", "oops"), Header: jsonType}},
			{"JSON that is no stream", "bad 200", false, modeltest.Response{Body: `{"id":"x","choices":[]}`, Header: jsonType}},
			{"a web page", "bad 200", false, modeltest.Response{Body: "<html><title>Login</title></html>", Header: page}},
		} {
			t.Run(d.Name+"/"+tt.name, func(t *testing.T) {
				p, _ := served(t, d, nil, tt.response)
				h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
				if kind(h.Err) != tt.kind || (h.Reply != nil) != tt.cut {
					t.Errorf("got %s: %v, and the reply %+v", kind(h.Err), h.Err, h.Reply)
				}
			})
		}
	}
}

func FuzzRefusal(f *testing.F) {
	f.Add(400, `{"error":{"message":"a","type":"b","code":3}}`)
	f.Add(500, `[{"error":"x"}]`)
	f.Add(429, `<html><title>x</title>`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		p, _, err := Open(Options{Name: "openai/m", BaseURL: "http://model.test"})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := p.(*chat).post.fault(p.(*chat).post.readRefusal(status, http.Header{}, []byte(body)))
		if kind(got) == fmt.Sprintf("%T", got) {
			t.Errorf("no type: %v", got)
		}
		if len(got.Error()) > maxReason+200 {
			t.Errorf("%d bytes of error", len(got.Error()))
		}
	})
}
