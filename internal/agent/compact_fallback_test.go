package agent_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/provider"
)

// speaker is the model of s, whose window is known to be of so many tokens.
func (s *narrow) speaker(t *testing.T, name string, window int) agent.Fallback {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	known := filepath.Join(t.TempDir(), "models.toml")
	if err := os.WriteFile(known, fmt.Appendf(nil, "[models.%q]\nwindow = %d\noutput = %d\n", name, window, window/8), 0o600); err != nil {
		t.Fatal(err)
	}
	p, info, err := provider.Open(provider.Options{
		Name: name, BaseURL: server.URL, Client: server.Client(), Key: "k", Catalogues: []string{known},
		Patience: provider.Patience{Attempts: 1, Deadline: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return agent.Fallback{Provider: p, Model: info}
}

// A pair is a session with a large model, which is busy from some step on, and a
// small one to fall back to. Both are strict servers that refuse what is too long.
type pair struct {
	*long
	large, small *narrow
}

func newPair(t *testing.T, window, calls, size int) *pair {
	t.Helper()
	usage := func(int) model.Usage { return model.Usage{} } // so both count alike
	refusal := "prompt is too long"
	p := &pair{
		large: &narrow{Dialect: modeltest.Chat(), most: 8 * window, status: 400, words: refusal, usage: usage, calls: calls},
		small: &narrow{Dialect: modeltest.Messages(), most: 3 * 16_000, status: 400, words: refusal, usage: usage, calls: 3},
	}
	first, second := p.large.speaker(t, "openai/large", window), p.small.speaker(t, "anthropic/small", 16_000)
	p.long = newLong(t, &small{size: size}, 0, func(o *agent.Options) {
		o.Provider, o.Model, o.Fallback = first.Provider, first.Model, &second
		watch := o.Observe
		o.Observe = func(s agent.Signal) {
			watch(s)
			if r, ok := s.(agent.Recorded); ok {
				if f, ok := r.Event.Body.(event.Finished); ok && f.Call == fmt.Sprintf("c%d", calls) {
					p.large.busy = true
				}
			}
		}
	})
	return p
}

// complaint is what a strict server found wrong with the form of a request.
func (p *pair) complaint() error { return errors.Join(p.large.wrong, p.small.wrong) }

// TestR255_R261_AFallbackWithASmallerWindowIsGivenWhatFits: in the middle of a turn
// a model goes on that takes far less. What is sent to it fits at once, also where
// the talk was compacted for the first not long before, to more than the second
// takes; and for the first nothing of that holds later.
func TestR255_R261_AFallbackWithASmallerWindowIsGivenWhatFits(t *testing.T) {
	for _, tt := range []struct{ window, from, to, size int }{
		{60_000, 40, 46, 1_500}, // in every distance from a compaction
		{200_000, 30, 32, 1_500},
		{200_000, 14, 16, 7_500}, // the newest result alone fills the small one
	} {
		for calls := tt.from; calls < tt.to; calls++ {
			t.Run(fmt.Sprintf("%d calls for %d in %d", calls, tt.size, tt.window), func(t *testing.T) {
				p := newPair(t, tt.window, calls, tt.size)
				p.small.calls = 0
				if err := p.turn("go"); err != nil {
					t.Fatal(err)
				}
				if err := p.complaint(); err != nil {
					t.Fatal(err)
				}
				if p.small.took != 1 || p.small.refused > 0 || p.large.refused > 0 {
					t.Errorf("the small model took %d requests; %d and %d were too long", p.small.took, p.small.refused, p.large.refused)
				}
				asked, switched := 0, false
				for _, e := range p.events {
					switch b := e.Body.(type) {
					case event.Switched:
						switched = true
					case event.Compacted:
						if switched {
							asked++
							if b.Trigger != session.ByThreshold || b.After > 16_000*8/10 {
								t.Errorf("compacted by %s to %d", b.Trigger, b.After)
							}
						}
					}
				}
				if asked != 1 {
					t.Errorf("%d compactions for the small model", asked)
				}
				before := len(p.compactions())
				p.large.busy, p.large.calls = false, p.large.took+6
				if err := p.turn("and now?"); err != nil || len(p.compactions()) != before {
					t.Errorf("the large model compacts for the small one: %v, %d compactions", err, len(p.compactions())-before)
				}
			})
		}
	}
}

// TestR255_AModelThatIsBusyWhenNotesAreDue: the fallback is asked for them, and
// what is left is made to fit it, in one compaction.
func TestR255_AModelThatIsBusyWhenNotesAreDue(t *testing.T) {
	const size = 120 // tokens: results that are not worth storing
	due := 0
	before := newPair(t, 30_000, 1000, size)
	before.large.calls = 150
	if err := before.turn("go"); err != nil {
		t.Fatal(err)
	}
	for _, e := range before.events {
		switch b := e.Body.(type) {
		case event.Finished:
			due++
		case event.Sent:
			if b.For != "" {
				goto found
			}
		}
	}
	t.Fatal("no notes were asked for")
found:
	p := newPair(t, 30_000, due, size)
	p.small.calls = 0
	p.small.notes = `{"notes":[{"kind":"learning","text":"it recurses","status":"","evidence":[],"error":"","files":[],"forbids":[]}]}`
	if err := p.turn("go"); err != nil || p.complaint() != nil {
		t.Fatal(err, p.complaint())
	}
	var kinds []string // since the newest result
	for _, e := range p.events {
		kind := e.Kind()
		switch b := e.Body.(type) {
		case event.Finished:
			kinds = nil
		case event.Sent:
			kind += " to " + b.Model
		case event.Compacted:
			if b.By != "anthropic/small" || len(b.Notes) != 1 || b.After > 16_000*8/10 {
				t.Errorf("compacted by %s to %d with %d notes: %q", b.By, b.After, len(b.Notes), b.Refused)
			}
		}
		if len(kinds) == 0 || kinds[len(kinds)-1] != kind { // notes may take several pieces
			kinds = append(kinds, kind)
		}
	}
	want := "finished, sent to openai/large, switched, sent to anthropic/small, compacted, sent to anthropic/small, replied, stopped"
	if got := strings.Join(kinds, ", "); got != want || p.small.refused > 0 {
		t.Errorf("%d were too long; it went\n%s, want\n%s", p.small.refused, got, want)
	}
}

// TestR262_AFallbackThatTakesTooLittleEndsInOneStop: no compaction makes the words
// of the person fit. The turn ends in one clear limit, and the first model goes on
// with the session as if nothing had been found too long.
func TestR262_AFallbackThatTakesTooLittleEndsInOneStop(t *testing.T) {
	p := newPair(t, 200_000, 10, 1_500)
	p.small.most = 30_000
	err := p.turn(words("a specification", 20_000))
	limit, ok := errors.AsType[*agent.Limit](err)
	if !ok || limit.What != "overflow" {
		t.Fatalf("it ended in %v", err)
	}
	if last := p.events[len(p.events)-1].Body.(event.Stopped); last.Reason != "limit: overflow" {
		t.Errorf("stopped by %q", last.Reason)
	}
	if p.small.took > 0 || p.small.refused > 4 {
		t.Errorf("the small model took %d requests and refused %d", p.small.took, p.small.refused)
	}
	if n := p.state.Ceiling("openai/large"); n != 0 {
		t.Errorf("what is too long for one model, %d tokens, is held against the other", n)
	}
	before := len(p.compactions())
	p.large.busy, p.large.calls = false, p.large.took+4
	if err := p.turn("and now?"); err != nil || len(p.compactions()) != before || p.complaint() != nil {
		t.Errorf("then it goes on to %v, %v with %d compactions", err, p.complaint(), len(p.compactions())-before)
	}
}

// TestR255_AResumedSessionHasASmallerModel: what was compacted for a large model is
// compacted again before a small one is asked, once.
func TestR255_AResumedSessionHasASmallerModel(t *testing.T) {
	for calls := 38; calls < 44; calls++ {
		resumeSmaller(t, calls)
	}
}

func resumeSmaller(t *testing.T, calls int) {
	t.Helper()
	p := newPair(t, 60_000, calls+1, 1_500)
	p.large.calls, p.small.calls = calls, 0 // the large one ends before it is busy
	if err := p.turn("go"); err != nil {
		t.Fatal(err)
	}
	small := p.small.speaker(t, "anthropic/small", 16_000)
	var after []event.Compacted
	a, err := agent.Open(t.Context(), p.state, agent.Options{
		Journal: p.Journal, Provider: small.Provider, Model: small.Model, Session: event.Opened{Session: "s", Root: "/w", Model: small.Model.Name},
		Tools: p.Tools, Policy: p.Policy,
		Observe: func(s agent.Signal) {
			if r, ok := s.(agent.Recorded); ok {
				if b, ok := r.Event.Body.(event.Compacted); ok {
					after = append(after, b)
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Turn(t.Context(), agent.Input{Text: "and now?"}); err != nil || p.complaint() != nil {
		t.Fatal(err, p.complaint())
	}
	if len(after) != 1 || after[0].Trigger != session.ByThreshold || p.small.refused > 0 || p.small.took != 1 {
		t.Errorf("%d compactions; %d requests were taken and %d refused", len(after), p.small.took, p.small.refused)
	}
}
