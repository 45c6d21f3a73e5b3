package otel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// secret is in all that is content in the session below.
const secret = "zebra"

func call(id, name string) model.Part {
	return model.Call{Call: tool.Call{ID: id, Tool: name, Args: json.RawMessage(`{"path":"` + secret + `"}`)}}
}

// story is a session with two calls of a step, of which one waits, a denial, a
// fallback, a turn that is cut and a call that a person makes.
func story() []event.Body {
	reply := func(from string, stop model.Stop, parts ...model.Part) event.Body {
		return event.Replied{Message: model.Message{Role: model.Assistant, From: from, Parts: append([]model.Part{model.Text{Text: secret}}, parts...)},
			Usage: model.Usage{Input: 10, Cached: 5, Output: 3}, Cost: 7, Stop: stop}
	}
	return []event.Body{
		event.Opened{Session: "s1", Root: "/" + secret, Model: "anthropic/opus"},
		event.Asked{Text: secret},
		event.Sent{Request: "artifact:" + secret},
		reply("anthropic/opus", model.Calls, call("c1", "Read"), call("c2", "Edit")),
		event.Planned{Plan: tool.Plan{Call: tool.Call{ID: "c1", Tool: "Read"}, Summary: secret}},
		event.Decided{Call: "c1", Verdict: "allow", By: "Read(" + secret + ")", Reason: secret},
		event.Started{Call: "c1"},
		event.Finished{Call: "c1", Result: tool.Result{Status: tool.Success, Text: secret, Confined: "full"}},
		event.Started{Call: "c2", Waited: []event.Wait{{Call: "c1", Effect: effect.Effect{Kind: effect.Write, On: secret}}}},
		event.Finished{Call: "c2", Result: tool.Failed(&tool.Failure{Kind: tool.Stale, Message: secret, Hint: secret})},
		event.Switched{To: "openai/gpt", Why: secret},
		event.Sent{},
		reply("openai/gpt", model.Length, call("c3", "Bash")),
		event.Stopped{Reason: "error", Detail: secret},
		event.Planned{Plan: tool.Plan{Call: tool.Call{ID: "c4", Tool: "Undo"}}},
		event.Finished{Call: "c4", Result: tool.Result{Status: tool.Success, Text: secret}},
		event.Asked{Text: secret},
	}
}

func fold(content bool) []Span {
	f := Fold{Content: content}
	for i, b := range story() {
		f.Add(event.Event{Seq: int64(i + 1), Time: time.Unix(int64(i+1), 0), Body: b})
	}
	return f.Rest(time.Unix(100, 0))
}

func (s Span) attr(key string) string {
	for _, a := range s.Attrs {
		if a.Key == key {
			b, _ := json.Marshal(a.Value)
			return string(b)
		}
	}
	return ""
}

// TestR326_SpansAreATree: turns are roots, steps and calls below them, with the
// times and the outcomes of the events.
func TestR326_SpansAreATree(t *testing.T) {
	spans := fold(false)
	byID := make(map[ID]Span)
	for _, s := range spans {
		byID[s.ID] = s
	}
	var lines []string
	for _, s := range spans {
		parent := "no parent"
		if s.Parent != "" {
			parent = "in " + byID[s.Parent].Name
			if byID[s.Parent].Trace != s.Trace {
				t.Errorf("%s is of another trace than its parent", s.Name)
			}
		}
		from := ""
		for _, l := range s.Links {
			from = ", asked for by " + byID[l.Span].Name
		}
		lines = append(lines, strings.Join([]string{
			s.Name, parent + from, time.Time(s.Start).UTC().Format("05"), time.Time(s.End).UTC().Format("04:05"), []string{"unset", "ok", "error"}[s.Outcome.Code] + " " + s.attr("error.type"),
		}, "; "))
	}
	want := []string{
		`chat opus; in invoke_agent belay; 03; 00:04; unset `,
		`execute_tool Read; in invoke_agent belay, asked for by chat opus; 07; 00:08; ok `,
		`execute_tool Edit; in invoke_agent belay, asked for by chat opus; 09; 00:10; error {"stringValue":"stale"}`,
		`chat gpt; in invoke_agent belay; 12; 00:13; error {"stringValue":"length"}`,
		`invoke_agent belay; no parent; 02; 00:14; error {"stringValue":"error"}`,
		`execute_tool Undo; no parent; 15; 00:16; ok `,
		`execute_tool Bash; in invoke_agent belay, asked for by chat gpt; 13; 01:40; unset `,
		`invoke_agent belay; no parent; 17; 01:40; unset `,
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("spans (-want +got):\n%s", d)
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": `{"stringValue":"chat"}`, "gen_ai.provider.name": `{"stringValue":"anthropic"}`,
		"gen_ai.request.model": `{"stringValue":"opus"}`, "gen_ai.usage.input_tokens": `{"intValue":"15"}`, "gen_ai.usage.output_tokens": `{"intValue":"3"}`,
		"gen_ai.response.finish_reasons": `{"arrayValue":{"values":[{"stringValue":"calls"}]}}`, "gen_ai.conversation.id": `{"stringValue":"s1"}`,
	} {
		if got := spans[0].attr(key); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}

// TestR326_ContentIsOffUnlessAskedFor: not a word of what was said, shown, or asked
// for is in the spans; asked for, it is.
func TestR326_ContentIsOffUnlessAskedFor(t *testing.T) {
	without, err := Exporter{}.Encode(fold(false))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(without), secret) {
		t.Errorf("content is in %s", without)
	}
	with, err := Exporter{}.Encode(fold(true))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"} {
		if !strings.Contains(string(with), key) {
			t.Errorf("asked for, there is no %s", key)
		}
	}
}

// TestSpansAreTheSameEachTime, with ids that differ within a session.
func TestSpansAreTheSameEachTime(t *testing.T) {
	one, two := fold(false), fold(false)
	a, _ := json.Marshal(one)
	b, _ := json.Marshal(two)
	if string(a) != string(b) {
		t.Error("the same events are other spans the second time")
	}
	seen := make(map[ID]bool)
	for _, s := range one {
		if seen[s.ID] || len(s.ID) != 16 || len(s.Trace) != 32 {
			t.Errorf("%s has the id %s in %s", s.Name, s.ID, s.Trace)
		}
		seen[s.ID] = true
	}
}

// TestSending holds an exporter against collectors that are well, busy, broken,
// and that send it elsewhere.
func TestSending(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []int
		reply   string
		posts   int32
		wrong   string
	}{
		"well":     {[]int{200}, `{"partialSuccess":{}}`, 1, ""},
		"busy":     {[]int{503, 429, 200}, `{}`, 3, ""},
		"broken":   {[]int{503, 503, 503, 503}, `down`, 4, "HTTP 503"},
		"refusing": {[]int{400}, "no such\nfield", 1, `HTTP 400 Bad Request: "no such"`},
		"picky":    {[]int{200}, `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}`, 1, `2 of them: "too old"`},
		"moved":    {[]int{307}, ``, 1, "HTTP 307"},
		"a page":   {[]int{200}, `<html>`, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var posts, elsewhere atomic.Int32
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
			defer other.Close()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := posts.Add(1)
				body, err := io.ReadAll(r.Body)
				if err != nil || !json.Valid(body) || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Key") != "k" || r.URL.Path != "/v1/traces" {
					t.Errorf("%s with %v: %s", r.URL.Path, r.Header, body)
				}
				w.Header().Set("Location", other.URL)
				w.WriteHeader(tc.answers[min(int(n), len(tc.answers))-1])
				io.WriteString(w, tc.reply)
			}))
			defer server.Close()
			url, err := Endpoint(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			err = Exporter{URL: url, Headers: map[string]string{"X-Key": "k"}}.Send(t.Context(), fold(false))
			if posts.Load() != tc.posts || elsewhere.Load() != 0 {
				t.Errorf("%d posts and %d elsewhere, want %d and none", posts.Load(), elsewhere.Load(), tc.posts)
			}
			if tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("error %v, want %q", err, tc.wrong)
			}
			if (name == "picky") != errors.Is(err, ErrPartial) {
				t.Errorf("%v is partial, or not", err)
			}
		})
	}
}

// TestSendingEnds with its context, also while it waits.
func TestSendingEnds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := (Exporter{URL: server.URL}).Send(ctx, fold(false)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"http://localhost:4318":           "http://localhost:4318/v1/traces",
		"https://c.example/otlp/":         "https://c.example/otlp/v1/traces",
		"https://c.example/v1/traces":     "https://c.example/v1/traces",
		"localhost:4318":                  "",
		"":                                "",
		"file:///etc/passwd":              "",
		"https://c.example/v1/traces?k=v": "https://c.example/v1/traces?k=v",
	} {
		got, err := Endpoint(base)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Endpoint(%q) = %q, %v; want %q", base, got, err, want)
		}
	}
}

// FuzzPartial: whatever a collector answers, it is an error or none.
func FuzzPartial(f *testing.F) {
	for _, seed := range []string{`{}`, `{"partialSuccess":{"rejectedSpans":1}}`, `{"partialSuccess":{"rejectedSpans":{"a":[]}}}`, `<html>`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		if err := partial(reply); err != nil && !errors.Is(err, ErrPartial) {
			t.Error(err)
		}
	})
}
