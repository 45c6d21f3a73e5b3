package agent_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A narrow server takes requests of at most so many characters and answers longer
// ones in its own words. It is strict about the order of calls and results. It asks
// for so many calls, then ends; it writes no notes.
type narrow struct {
	modeltest.Dialect
	most   int
	status int
	words  string
	usage  func(chars int) model.Usage
	calls  int
	busy   bool // it answers nobody
	notes  string

	mu      sync.Mutex
	took    int // requests
	refused int
	wrong   error
}

func (s *narrow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		w.WriteHeader(529)
		return
	}
	body, err := io.ReadAll(r.Body)
	var c modeltest.Conversation
	if err == nil {
		if c, err = s.Parse(body); err == nil {
			err = modeltest.Strict(c, nil)
		}
	}
	if err != nil && s.wrong == nil {
		s.wrong = fmt.Errorf("%w: %.2000s", err, body)
	}
	chars := len(c.System)
	for _, t := range c.Turns {
		for _, b := range t.Blocks {
			chars += len(b.Text) + len(b.Args)
		}
	}
	if chars > s.most {
		s.refused++
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.Error("invalid_request_error", s.words))
		return
	}
	reply := modeltest.Reply{Text: "Done.", Stop: model.End, Usage: s.usage(chars)}
	if len(c.Tools) == 0 {
		reply.Text = cmp.Or(s.notes, "I make no notes.")
	} else if s.took++; s.took <= s.calls {
		reply.Text, reply.Stop = "", model.Calls
		reply.Calls = []modeltest.Call{{Tool: "Look", Args: fmt.Sprintf(`{"on":"f%d.go"}`, s.took)}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, s.Stream(s.Events(reply)))
}

// TestBug_C05_R261_R262_R264_NoFiguresAndAWindowNobodyKnows: a server that counts
// nothing, zeros, or only what is not cached takes 30,000 characters; of its window
// nothing is known, or too much. What is too long is sent once, made shorter, and
// taken; from then on it is seen in time.
func TestBug_C05_R261_R262_R264_NoFiguresAndAWindowNobodyKnows(t *testing.T) {
	usages := []func(int) model.Usage{
		func(int) model.Usage { return model.Usage{} },
		func(int) model.Usage { return model.Usage{Input: 3, Output: 1} },
		func(chars int) model.Usage { return model.Usage{Input: chars / 4, Output: 3} },
	}
	refusals := []struct {
		status int
		words  string
	}{
		{400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."},
		{400, "prompt is too long: 210000 tokens > 200000 maximum"},
		{400, "the request exceeds the available context size, try increasing it"},
		{400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
		{413, "no"},
	}
	too := filepath.Join(t.TempDir(), "models.toml")
	if err := os.WriteFile(too, []byte("[models.\"openai/m\"]\nwindow = 1000000\noutput = 8000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dialects := []modeltest.Dialect{modeltest.Chat(), modeltest.Messages(), modeltest.Responses(), modeltest.Gemini()}
	for i, refusal := range refusals {
		for n, usage := range usages {
			d := dialects[(i+n)%len(dialects)]
			var catalogues []string
			if (i+n)%2 == 0 {
				catalogues = []string{too}
			}
			t.Run(fmt.Sprintf("%s, %d %.20s, usage %d", d.Name, refusal.status, refusal.words, n), func(t *testing.T) {
				s := &narrow{Dialect: d, most: 30_000, status: refusal.status, words: refusal.words, usage: usage, calls: 12}
				l := s.session(t, catalogues)
				if err := l.turn("go"); err != nil {
					t.Fatal(err)
				}
				if s.wrong != nil {
					t.Fatal(s.wrong)
				}
				all := l.compactions()
				if s.took != 13 || s.refused != 1 || len(all) < 2 || all[0].Trigger != session.ByOverflow {
					t.Errorf("%d requests were taken and %d refused, with %d compactions", s.took, s.refused, len(all))
				}
				for _, b := range all[1:] {
					if b.Trigger != session.ByThreshold {
						t.Errorf("a later compaction is by %s", b.Trigger)
					}
				}
			})
		}
	}
}

// session opens one with the server's model.
func (s *narrow) session(t *testing.T, catalogues []string) *long {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	api := map[string]string{"chat": "openai", "messages": "anthropic", "responses": "responses", "gemini": "gemini"}[s.Name]
	p, info, err := provider.Open(provider.Options{
		Name: "openai/m", API: api, BaseURL: server.URL, Client: server.Client(), Key: "k", Catalogues: catalogues,
	})
	if err != nil {
		t.Fatal(err)
	}
	return newLong(t, &small{size: 1_500}, 0, func(o *agent.Options) { o.Provider, o.Model = p, info })
}

// TestBug_C05_R262_AServerThatNeverTakesItEndsTheTurn: not even the shortest request
// is taken; there is one clear stop after a few.
func TestBug_C05_R262_AServerThatNeverTakesItEndsTheTurn(t *testing.T) {
	s := &narrow{Dialect: modeltest.Chat(), most: 30_000, status: 400, words: "prompt is too long", usage: func(int) model.Usage { return model.Usage{} }, calls: 4}
	l := s.session(t, nil)
	if err := l.turn("go"); err != nil {
		t.Fatal(err)
	}
	s.most = 10
	err := l.turn("and now?")
	limit, ok := errors.AsType[*agent.Limit](err)
	if !ok || limit.What != "overflow" || !strings.Contains(err.Error(), "prompt is too long") {
		t.Fatalf("it ended in %v", err)
	}
	if s.refused > 5 {
		t.Errorf("%d requests were sent for nothing", s.refused)
	}
	s.most = 30_000
	if err := l.turn("and now?"); err != nil {
		t.Errorf("the session is of no use any more: %v", err)
	}
}
