package provider

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// TestBug_P09_AnswersThatAreNoStream: what ends without an event is told by what it
// is, whatever its type says, and however it arrives.
func TestBug_P09_AnswersThatAreNoStream(t *testing.T) {
	stream, plain := "text/event-stream", "text/plain; charset=utf-8"
	for _, d := range dialects() {
		for _, tt := range []struct{ name, kind, body, want, says string }{
			{"nothing", stream, "", "unavailable", "unexpected EOF"},
			{"keep-alives", stream, ": ping\n\n: ping\n\n", "unavailable", "unexpected EOF"},
			{"a reply in one piece", stream, `{"id":"x","choices":[{"message":{"role":"assistant","content":"hello"}}]}`, "bad 200", "answers with JSON, not with a stream"},
			{"a reply in lines", stream, "{\n  \"id\": \"x\",\n  \"choices\": []\n}\n", "bad 200", "answers with JSON"},
			{"lines of JSON", "application/x-ndjson", "{\"message\":1}\n{\"message\":2}\n", "bad 200", "answers with JSON"},
			{"no type", "", `{"id":"x"}`, "bad 200", "answers with JSON"},
			{"an error as JSON", stream, d.Error("overloaded_error", "Overloaded"), "unavailable", "Overloaded"},
			{"an error of a key", plain, d.Error("authentication_error", "who are you?"), "bad 401", "who are you?"},
			{"an overflow", stream, d.Error("invalid_request_error", "prompt is too long"), "overflow", "prompt is too long"},
			{"a page", stream, "\n<!doctype html><title>Sign in</title>", "bad 200", `a web page ("Sign in")`},
			{"a page by its type", "text/html", "Sign in", "bad 200", "a web page"},
			{"words", plain, "upstream connect error", "unavailable", `no stream of events: "upstream connect error"`},
			{"half of an error", stream, `{"error":{"mess`, "unavailable", "no stream of events"},
		} {
			for _, chunk := range []int{0, 1, 5} {
				p, _ := served(t, d, nil, modeltest.Response{Body: tt.body, Header: map[string]string{"Content-Type": tt.kind}, Chunk: chunk})
				h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
				if h.Reply != nil || kind(h.Err) != tt.want || !strings.Contains(h.Err.Error(), tt.says) {
					t.Errorf("%s, %s: %s, %v, and the reply %+v", d.Name, tt.name, kind(h.Err), h.Err, h.Reply)
				}
			}
		}
		r := short()
		p, _ := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r)), Header: map[string]string{"Content-Type": "application/json"}})
		r.Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask())) // a stream that is called something else
	}
}

// TestBug_P04_AWholeReplyIsWhole: once a reply has ended, how its connection ends is
// nothing to it, and nobody waits for that.
func TestBug_P04_AWholeReplyIsWhole(t *testing.T) {
	for _, d := range dialects() {
		r := short()
		whole := d.Stream(d.Events(r))
		p, _ := served(t, d, nil, modeltest.Response{Body: whole, Abort: true}, modeltest.Response{Body: whole, Header: map[string]string{"Content-Length": fmt.Sprint(len(whole) + 9)}})
		for range 2 {
			r.Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
		}
		for name, goesOn := range map[string]func(*http.Request) io.ReadCloser{
			"silent":        func(req *http.Request) io.ReadCloser { return quiet{strings.NewReader(""), req.Context()} },
			"kept alive":    func(req *http.Request) io.ReadCloser { return chatterbox{req.Context()} },
			"without a sum": func(req *http.Request) io.ReadCloser { return quiet{strings.NewReader(": x\n\n"), req.Context()} },
		} {
			synctest.Test(t, func(t *testing.T) {
				l := &line{answers: []answer{func(req *http.Request) (*http.Response, error) {
					resp, err := says200("")(req)
					rest := goesOn(req)
					resp.Body = struct {
						io.Reader
						io.Closer
					}{io.MultiReader(strings.NewReader(strings.ReplaceAll(whole, "data: [DONE]\n\n", "")), rest), rest}
					return resp, err
				}}}
				p, _, err := Open(Options{Name: modelOf(d), API: apiOf(d), BaseURL: "http://model.test", Key: "k", Client: &http.Client{Transport: l}})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				r.Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
				if took := time.Since(begun); took > tailWait {
					t.Errorf("%s, %s: the reply came %v after its end", d.Name, name, took)
				}
			})
		}
	}
}

// TestALongReplyIsNotCopiedWithEachPiece holds that what a stream costs grows with
// its length, and no faster: for each of its bytes as much is allocated where it
// has 500 pieces as where it has 5000. A reply that is copied with each piece would
// take over 40 bytes more in the long one.
func TestALongReplyIsNotCopiedWithEachPiece(t *testing.T) {
	for _, d := range dialects() {
		for name, reply := range map[string]func(words string) modeltest.Reply{
			"text":     func(words string) modeltest.Reply { return modeltest.Reply{Text: words, Stop: model.End} },
			"thoughts": func(words string) modeltest.Reply { return modeltest.Reply{Think: words, Text: "x", Stop: model.End} },
			"arguments": func(words string) modeltest.Reply {
				return modeltest.Reply{Calls: []modeltest.Call{{Tool: "Read", Args: `{"p":"` + words + `"}`}}, Stop: model.Calls}
			},
		} {
			short := allocated(t, d, reply(strings.Repeat("abcde", 500)))
			long := allocated(t, d, reply(strings.Repeat("abcde", 5000)))
			if long > 200 || long > short+15 {
				t.Errorf("%s, %s: %d bytes are allocated for each byte of a short stream, and %d of a long one", d.Name, name, short, long)
			}
		}
	}
}

// allocated hears the stream of r, and returns how many bytes are allocated for
// each of it.
func allocated(t *testing.T, d modeltest.Dialect, r modeltest.Reply) uint64 {
	t.Helper()
	stream := []byte(d.Stream(d.Events(r)))
	l := listenTo(d)(nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := splitter{max: maxEvent, emit: func(f frame) error { _, err := l.hear(f); return err }}
	err := errors.Join(s.write(stream), s.close())
	got := l.reply()
	runtime.ReadMemStats(&after)
	if err != nil || got.Stop != r.Stop || got.Message.Text() != r.Text {
		t.Fatalf("%s: %v, stopped with %q", d.Name, err, got.Stop)
	}
	return (after.TotalAlloc - before.TotalAlloc) / uint64(len(stream))
}

// TestTooManyCalls: a reply that is nothing but calls ends, and costs no more than
// what it may hold.
func TestTooManyCalls(t *testing.T) {
	for _, d := range []modeltest.Dialect{modeltest.Chat(), modeltest.Responses()} {
		r := modeltest.Reply{Stop: model.Calls}
		for range maxHeard + 2 {
			r.Calls = append(r.Calls, modeltest.Call{Tool: "Read", Args: "{}"})
		}
		p, _ := served(t, d, nil, modeltest.Response{Body: d.Stream(d.Events(r))})
		if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); !errors.Is(h.Err, errManyCalls) || h.Reply == nil || len(h.Reply.Message.Calls()) > 0 {
			t.Errorf("%s: %v", d.Name, h.Err)
		}
	}
}

// TestWhatAReplyCanDoWithout: counts of tokens in a form of their own, and errors
// that are none, cost no reply.
func TestWhatAReplyCanDoWithout(t *testing.T) {
	chat := func(extra, usage string) string {
		return `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]` + extra + "}\n\n" +
			`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]` + extra + "}\n\n" +
			`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":"stop"}],"usage":` + usage + extra + "}\n\ndata: [DONE]\n\n"
	}
	for _, tt := range []struct {
		d            modeltest.Dialect
		name, stream string
	}{
		{modeltest.Chat(), "usage of a list", chat("", "[]")},
		{modeltest.Chat(), "usage of words", chat("", `"n/a"`)},
		{modeltest.Chat(), "usage in fractions", chat("", `{"prompt_tokens":1.5,"completion_tokens":2}`)},
		{modeltest.Chat(), "details of a list", chat("", `{"prompt_tokens":1,"prompt_tokens_details":[]}`)},
		{modeltest.Chat(), "no error", chat(`,"error":""`, "null")},
		{modeltest.Chat(), "an error without anything", chat(`,"error":{}`, "{}")},
		{modeltest.Gemini(), "usage of a list", "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":[],\"error\":\"\"}\n\n"},
		{modeltest.Responses(), "usage of a list", "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}}\n\n" +
			"data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":[]}}\n\n"},
		{modeltest.Messages(), "usage of a list", "data: {\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":[]}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":\"\"}\n\ndata: {\"type\":\"message_stop\"}\n\n"},
	} {
		p, _ := served(t, tt.d, nil, modeltest.Response{Body: tt.stream})
		h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
		if h.Err != nil || h.Text != "hi" || h.Reply.Stop != model.End || h.Reply.Usage.Total() == 0 {
			t.Errorf("%s, %s: %q, %+v, %v", tt.d.Name, tt.name, h.Text, h.Reply, h.Err)
		}
	}
}

// TestStatuses: which of them pass, and what to do about the others.
func TestStatuses(t *testing.T) {
	for _, status := range []int{408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 529, 530, 598} {
		for _, page := range []string{"", "<html><title>error</title></html>"} {
			p, _ := served(t, modeltest.Chat(), nil, modeltest.Response{Status: status, Body: page})
			if h := modeltest.Listen(t, p, t.Context(), modeltest.Ask()); kind(h.Err) != "unavailable" {
				t.Errorf("%d %s: %v", status, page, h.Err)
			}
		}
	}
	for status, hint := range map[int]string{
		405: "check the base URL", 407: "HTTPS_PROXY=", 501: "", 505: "", 410: "", 415: "", 431: "", 451: "",
		401: "check providers.openai.key", 403: "check providers.openai.key", 404: "base URL", 402: "billing",
	} {
		p, _ := served(t, modeltest.Chat(), nil, modeltest.Response{Status: status, Body: `{"error":{"message":"no"}}`})
		h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
		bad, ok := errors.AsType[*model.BadRequest](h.Err)
		if hint = strings.Replace(hint, "providers.openai.key", "OPENAI_API_KEY", 1); !ok || bad.Status != status || !strings.Contains(bad.Hint, hint) {
			t.Errorf("%d: %v, %+v", status, h.Err, bad)
		}
	}
}

// TestTheKeyIsInNoError: a server that repeats the key, whole or where its words are
// cut, is not quoted with it.
func TestTheKeyIsInNoError(t *testing.T) {
	const key = "sk-test-secret"
	for _, d := range dialects() {
		for _, status := range []int{200, 400, 401, 404, 413, 429, 500} {
			for _, before := range []int{0, maxReason - len(key)/2, 200 - len(key)/2} {
				words := strings.Repeat("x", before) + key + " is bad"
				for _, body := range []string{words, d.Error("invalid_request_error", words), "event: error\ndata: " + d.Error("x", words) + "\n\n"} {
					p, s := served(t, d, nil, modeltest.Response{Status: status, Body: body})
					h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
					bad, _ := errors.AsType[*model.BadRequest](h.Err)
					if said := fmt.Sprintf("%v %+v", h.Err, bad); h.Err == nil || strings.Contains(said, key[:5]) {
						t.Errorf("%s, %d, after %d: %s", d.Name, status, before, said)
					}
					s.Forgive()
				}
			}
		}
	}
}

// TestALocalServerGetsItsKey: it says what it serves to who may ask, and a redirect
// takes the key nowhere.
func TestALocalServerGetsItsKey(t *testing.T) {
	var asked []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = append(asked, "elsewhere "+r.Header.Get("Authorization"))
	}))
	defer other.Close()
	away := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization"))
		if away {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","max_model_len":4096}]}`)
	}))
	defer s.Close()
	o := Options{Name: "vllm/m", BaseURL: s.URL, Key: "k-e-y", Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	if got := AskLocalModel(t.Context(), o); got == nil || got.Window != 4096 {
		t.Errorf("got %+v", got)
	}
	away = true
	if got := AskLocalModel(t.Context(), o); got != nil {
		t.Errorf("got %+v from elsewhere", got)
	}
	if d := cmp.Diff([]string{"Bearer k-e-y", "Bearer k-e-y"}, asked); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
}
