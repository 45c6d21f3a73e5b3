package agent_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/world/provider"
)

// reach opens a model at a server in the dialect d that answers as it is told.
func reach(t *testing.T, d modeltest.Dialect, name string, answer http.HandlerFunc) agent.Fallback {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	p, info, err := provider.Open(provider.Options{
		Name: name, BaseURL: s.URL, Key: "k", Client: s.Client(), Patience: provider.Patience{Attempts: 2, Deadline: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return agent.Fallback{Provider: p, Model: info}
}

// TestBug_P08_TheFallbackGoesOn: where the model stays busy, another one goes on
// with the turn, without the reasoning of the first, at its own price; and the next
// turn begins with the first again.
func TestBug_P08_TheFallbackGoesOn(t *testing.T) {
	messages, chat := modeltest.Messages(), modeltest.Chat()
	asked := 0
	first := reach(t, messages, "anthropic/claude-sonnet-4-6", func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 1 && asked < 4 {
			w.WriteHeader(529)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		r := modeltest.Reply{Text: "again", Stop: model.End, Usage: model.Usage{Input: 100, Output: 10}}
		if asked == 1 {
			r = modeltest.Reply{Think: "secret thoughts", Text: "first", Calls: modeltest.Rich().Calls[:1], Stop: model.Calls, Usage: r.Usage}
		}
		_, _ = io.WriteString(w, messages.Stream(messages.Events(r)))
	})
	var body string
	second := reach(t, chat, "openai/gpt-5.4-mini", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chat.Stream(chat.Events(modeltest.Reply{Text: "second", Stop: model.End, Usage: model.Usage{Input: 100, Output: 10}})))
	})
	r := newRig(t, options{script: "-- step --\nsay: x\n", change: func(o *agent.Options) {
		o.Provider, o.Model, o.Fallback = first.Provider, first.Model, &second
	}})
	for range 2 {
		if err := r.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	type said struct {
		From string
		Cost int64
	}
	var got []any
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case event.Replied:
			got = append(got, said{b.Message.From, b.Cost})
		case event.Switched:
			if !strings.Contains(b.Why, "HTTP 529") {
				t.Errorf("switched because of %q", b.Why)
			}
			got = append(got, b.To)
		}
	}
	want := []any{
		said{"anthropic/claude-sonnet-4-6", 100*300 + 10*1500}, "openai/gpt-5.4-mini",
		said{"openai/gpt-5.4-mini", 100*75 + 10*450}, said{"anthropic/claude-sonnet-4-6", 100*300 + 10*1500},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c, err := chat.Parse([]byte(body))
	if err != nil || c.Model != "gpt-5.4-mini" || strings.Contains(body, "secret thoughts") || !strings.Contains(body, "first") {
		t.Errorf("the fallback was asked, %v, for %s:\n%s", err, c.Model, body)
	}
}

// Where the fallback cannot be reached either, its error ends the turn.
func TestBug_P08_TheFallbackFailsToo(t *testing.T) {
	busy := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }
	first := reach(t, modeltest.Chat(), "openai/a", busy)
	second := reach(t, modeltest.Chat(), "openai/b", busy)
	r := newRig(t, options{script: "-- step --\nsay: x\n", change: func(o *agent.Options) {
		o.Provider, o.Model, o.Fallback = first.Provider, first.Model, &second
	}})
	err := r.turn(t.Context())
	if _, ok := errors.AsType[*model.Unavailable](err); !ok {
		t.Errorf("Turn = %v", err)
	}
	switched := 0
	for _, e := range r.events {
		if _, ok := e.Body.(event.Switched); ok {
			switched++
		}
	}
	if switched != 1 {
		t.Errorf("switched %d times", switched)
	}
}

// TestBug_C05_AnOverflowStops: a request that is too long ends the turn, clearly, and
// is not sent again and again.
func TestBug_C05_AnOverflowStops(t *testing.T) {
	asked := 0
	small := reach(t, modeltest.Chat(), "openai/small", func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"maximum context length is 8192 tokens","code":"context_length_exceeded"}}`)
	})
	r := newRig(t, options{script: "-- step --\nsay: x\n", change: func(o *agent.Options) {
		o.Provider, o.Model, o.Fallback = small.Provider, small.Model, &small
	}})
	if err := r.turn(t.Context()); !errors.Is(err, model.ErrOverflow) || asked > 2 {
		t.Errorf("Turn = %v after %d requests", err, asked)
	}
}
