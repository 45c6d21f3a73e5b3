//go:build soak

package agent_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/world/journal"
	"github.com/belay-agent/belay/internal/world/provider"
)

// A shaky server is strict about what it is sent, asks for one call in each
// turn, each with an argument of its own, and fails at some of the requests.
type shaky struct {
	d    modeltest.Dialect
	mu   sync.Mutex
	rng  *rand.Rand
	asks int
	// what there was
	requests, faults int
	kinds            map[string]int
	complaint        error
}

const faultOf = 20 // one request in so many fails

func (s *shaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	reply, fault, at := s.next(body)
	stream := s.d.Stream(s.d.Events(reply))
	w.Header().Set("Content-Type", "text/event-stream")
	status := func(code int, words string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After-Ms", "5")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, s.d.Error("x", words))
	}
	switch fault {
	case "":
		_, _ = io.WriteString(w, stream)
	case "refused":
		status(http.StatusBadRequest, reply.Text)
	case "reset":
		panic(http.ErrAbortHandler)
	case "429", "500", "529":
		code, _ := strconv.Atoi(fault)
		status(code, "not now")
	case "cut":
		_, _ = io.WriteString(w, stream[:int(at*float64(len(stream)))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "ended":
		_, _ = io.WriteString(w, stream[:int(at*float64(len(stream)))])
	case "garbage":
		_, _ = io.WriteString(w, stream[:int(at*float64(len(stream)))]+"\n\ndata: {\"oops\x00\n\n")
	case "page":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><title>Bad Gateway</title></html>")
	case "error":
		_, _ = io.WriteString(w, "event: error\ndata: "+s.d.Error("overloaded_error", "busy")+"\n\n")
	}
}

func (s *shaky) next(body []byte) (reply modeltest.Reply, fault string, at float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	c, err := s.d.Parse(body)
	if err == nil {
		err = modeltest.Strict(c, []string{s.d.Reasoning(modeltest.Rich())})
	}
	if err != nil {
		if s.complaint == nil {
			s.complaint = err
		}
		return modeltest.Reply{Text: err.Error()}, "refused", 0
	}
	reply = modeltest.Rich()
	reply.Calls = nil
	last := c.Turns[len(c.Turns)-1].Blocks
	if slices.ContainsFunc(last, func(b modeltest.Block) bool { return b.Kind == "result" }) { // what is for one step alone stands behind it
		reply.Think, reply.Stop = "", model.End
	} else {
		s.asks++
		reply.Calls = []modeltest.Call{{Tool: "Act", Args: fmt.Sprintf(`{"on":"%d"}`, s.asks)}}
	}
	if s.rng.IntN(faultOf) > 0 {
		return reply, "", 0
	}
	s.faults++
	kinds := []string{"reset", "429", "500", "529", "cut", "ended", "garbage", "page", "error"}
	fault = kinds[s.rng.IntN(len(kinds))]
	s.kinds[fault]++
	return reply, fault, s.rng.Float64()
}

// TestR264_AThousandTurnsAtAShakyServer: with one request in twenty failing in
// some way, no session comes to where it cannot go on, no request is one that a
// strict server refuses, and no call runs twice. BELAY_TURNS sets how many turns.
func TestR264_AThousandTurnsAtAShakyServer(t *testing.T) {
	turns := 1000
	if n, err := strconv.Atoi(os.Getenv("BELAY_TURNS")); err == nil {
		turns = n
	}
	for i, d := range []modeltest.Dialect{modeltest.Chat(), modeltest.Messages(), modeltest.Responses(), modeltest.Gemini()} {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			s := &shaky{d: d, rng: rand.New(rand.NewPCG(6, uint64(i))), kinds: make(map[string]int)}
			shakenSession(t, s, turns/4)
		})
	}
}

func shakenSession(t *testing.T, s *shaky, turns int) {
	server := httptest.NewServer(s)
	defer server.Close()
	server.Config.ErrorLog = nil
	api := map[string]string{"chat": "openai", "messages": "anthropic"}[s.d.Name]
	if api == "" {
		api = s.d.Name
	}
	open, err := journal.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	j := &faulty{Journal: open}
	var mu sync.Mutex
	ran := make(map[string]int)
	act := act("Act", effect.Write, func(_ context.Context, on string, _ tool.Env) (tool.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		ran[on]++
		return tool.Result{Status: tool.Success, Text: "ok"}, nil
	})
	var a *agent.Agent
	failed, inARow := 0, 0
	for n := range turns {
		if n%25 == 0 { // the session is resumed, by another process as far as the provider knows
			p, _, err := provider.Open(provider.Options{Name: "x/m", API: api, BaseURL: server.URL, Client: server.Client()})
			if err != nil {
				t.Fatal(err)
			}
			a = resume(t, j, p, act)
		}
		for {
			err := a.Turn(t.Context(), agent.Input{Text: fmt.Sprintf("turn %d", n)})
			if err == nil {
				inARow = 0
				break
			}
			failed++
			if inARow++; inARow > 3 {
				t.Fatalf("turn %d: the session is stuck: %v", n, err)
			}
		}
	}
	state := mustFold(t, j)
	if open := state.Open(); len(open) > 0 {
		t.Errorf("calls without a result: %+v", open)
	}
	if s.complaint != nil {
		t.Errorf("a strict server refused a request: %v", s.complaint)
	}
	for on, times := range ran {
		if times != 1 {
			t.Errorf("call %s ran %d times", on, times)
		}
	}
	if len(ran) < turns {
		t.Errorf("%d calls ran in %d turns", len(ran), turns)
	}
	results := make(map[string]int)
	for e, err := range j.Since(0) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.Finished); ok {
			results[b.Call]++
		}
	}
	for call, times := range results {
		if times != 1 {
			t.Errorf("call %s has %d results", call, times)
		}
	}
	var kinds []string
	for k, n := range s.kinds {
		kinds = append(kinds, fmt.Sprintf("%s %d", k, n))
	}
	t.Logf("%d turns, %d requests, %d faults (%s), %d turns that failed and were asked for again", turns, s.requests, s.faults, strings.Join(kinds, ", "), failed)
}
