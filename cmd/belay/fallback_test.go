package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// A backend is a strict model server that asks for so many commands with long
// output, one at a time, and then ends, or is busy for an hour. What is longer than
// it takes it refuses.
type backend struct {
	modeltest.Dialect
	calls int
	busy  bool // when it has made its calls
	most  int  // bytes of a request

	mu      sync.Mutex
	took    int
	refused int
	wrong   error
}

func (s *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.wrong = err
	}
	c, err := s.Parse(body)
	if err == nil {
		err = modeltest.Strict(c, nil)
	}
	if err != nil {
		s.wrong = err
	}
	notes := len(c.Tools) == 0
	switch {
	case len(body) > s.most:
		s.refused++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, s.Error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"))
		return
	case s.busy && s.took >= s.calls && !notes:
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	reply := modeltest.Reply{Text: "Done.", Stop: model.End}
	if notes {
		reply.Text = `{"notes": []}`
	} else if s.took++; s.took <= s.calls {
		reply.Text, reply.Stop = "", model.Calls
		reply.Calls = []modeltest.Call{{Tool: "Bash", Args: fmt.Sprintf(`{"command":"seq -f line-%d-%%g 500"}`, s.took)}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, s.Stream(s.Events(reply)))
}

// fallBack runs a task with two models at servers of this machine: a large one that is busy after some steps,
// and one to fall back to that takes far less.
func fallBack(t *testing.T, most int) (large, small *backend, e end, all []event.Event) {
	t.Helper()
	large = &backend{Dialect: modeltest.Chat(), calls: 16, busy: true, most: 1 << 20}
	small = &backend{Dialect: modeltest.Messages(), calls: 2, most: most}
	p := newPlace(t)
	settings := "model = \"mine/large\"\nfallback = \"other/small\"\n"
	for name, s := range map[string]*backend{"mine": large, "other": small} {
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		api := map[string]string{"mine": "openai", "other": "anthropic"}[name]
		settings += fmt.Sprintf("[providers.%s]\napi = %q\nbase_url = %q\nkey = \"k\"\n", name, api, server.URL)
	}
	p.write(t, "../home/.config/belay/config.toml", settings)
	p.write(t, "../home/.config/belay/models.toml",
		"[models.\"mine/large\"]\nwindow = 200000\noutput = 8000\n[models.\"other/small\"]\nwindow = 24000\noutput = 3000\n")
	e = p.run(t, "run", "--mode", "full", "count")
	if large.wrong != nil || small.wrong != nil {
		t.Fatal(large.wrong, small.wrong)
	}
	return large, small, e, p.events(t)
}

// TestR255_R261_TheFallbackTakesLess: what it is sent fits at once, after one
// compaction, and the turn goes on to its end.
func TestR255_R261_TheFallbackTakesLess(t *testing.T) {
	large, small, e, all := fallBack(t, 3*24_000)
	e.wants(t, 0)
	if !strings.HasSuffix(e.out, "Done.\n") || large.took != 16 || large.refused > 0 || small.took != 3 || small.refused > 0 {
		t.Errorf("it prints %q; %d and %d requests were taken, %d refused", e.out, large.took, small.took, small.refused)
	}
	switched, compacted := false, 0
	for _, e := range all {
		switch b := e.Body.(type) {
		case event.Switched:
			switched = true
		case event.Compacted:
			if compacted++; !switched || b.Trigger != "threshold" || b.Before < 24_000 || b.After > 24_000*8/10 {
				t.Errorf("after a switch, %v, compacted by %s from %d to %d", switched, b.Trigger, b.Before, b.After)
			}
		}
	}
	if compacted != 1 {
		t.Errorf("%d compactions:\n%s", compacted, e.err)
	}
}

// TestR262_TheFallbackTakesNothing: where not even the shortest request fits, there
// is one clear end.
func TestR262_TheFallbackTakesNothing(t *testing.T) {
	_, small, e, all := fallBack(t, 100)
	e.wants(t, 4)
	var last event.Stopped
	for _, e := range all {
		if b, ok := e.Body.(event.Stopped); ok {
			last = b
		}
	}
	if last.Reason != "limit: overflow" || small.took > 0 || small.refused > 5 {
		t.Errorf("stopped by %+v after %d requests were refused:\n%s", last, small.refused, e.err)
	}
}
