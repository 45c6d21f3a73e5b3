package provider

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dialects() []modeltest.Dialect {
	return []modeltest.Dialect{modeltest.Chat(), modeltest.Messages(), modeltest.Responses(), modeltest.Gemini()}
}

// apiOf is the API of a dialect, as settings name it.
func apiOf(d modeltest.Dialect) string {
	return map[string]string{"chat": "openai", "messages": "anthropic", "responses": "responses", "gemini": "gemini"}[d.Name]
}

// modelOf is the name under which the tests open a dialect.
func modelOf(d modeltest.Dialect) string {
	switch d.Name {
	case "messages":
		return "anthropic/m"
	case "gemini":
		return "google/m"
	}
	return "openai/m"
}

func openAt(t *testing.T, d modeltest.Dialect, s *modeltest.Server, patience Patience) model.Provider {
	t.Helper()
	p, _, err := Open(Options{Name: modelOf(d), API: apiOf(d), BaseURL: s.URL, Key: "sk-test-secret", Client: s.Client, Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// served opens d at a strict server that gives the responses; nothing is tried
// twice.
func served(t *testing.T, d modeltest.Dialect, own []modeltest.Reply, responses ...modeltest.Response) (model.Provider, *modeltest.Server) {
	t.Helper()
	s := modeltest.Serve(t, d, own, responses...)
	return openAt(t, d, s, Patience{Attempts: 1}), s
}

// plays are the ways to open each provider.
func plays() map[string]modeltest.Play {
	plays := map[string]modeltest.Play{"rehearsed": func(t *testing.T, replies ...modeltest.Reply) model.Provider {
		var b strings.Builder
		for _, r := range replies {
			b.WriteString(rehearse(r))
		}
		p, err := NewRehearsed("suite", []byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}}
	for _, d := range dialects() {
		plays[d.Name] = func(t *testing.T, replies ...modeltest.Reply) model.Provider {
			var responses []modeltest.Response
			for _, r := range replies {
				responses = append(responses, modeltest.Response{Body: d.Stream(d.Events(r))})
			}
			p, _ := served(t, d, replies, responses...)
			return p
		}
	}
	return plays
}

func eachPlay(t *testing.T, test func(t *testing.T, play modeltest.Play)) {
	for name, play := range plays() {
		t.Run(name, func(t *testing.T) { test(t, play) })
	}
}

func TestSuite(t *testing.T) { eachPlay(t, modeltest.Suite) }

func TestBug_P02_LengthStop(t *testing.T) { eachPlay(t, modeltest.LengthStop) }

func TestBug_P04_Cut(t *testing.T) { eachPlay(t, modeltest.Cut) }

func TestBug_P07_EmptyBlocks(t *testing.T) { eachPlay(t, modeltest.EmptyBlocks) }

// rehearse writes a reply as a step of a script.
func rehearse(r modeltest.Reply) string {
	var b strings.Builder
	b.WriteString("-- step --\n")
	if r.Think != "" {
		fmt.Fprintf(&b, "think: %s\n", r.Think)
	}
	if r.Text != "" {
		fmt.Fprintf(&b, "say: %s\n", r.Text)
	}
	for _, c := range r.Calls {
		key := "call"
		if validJSON(c.Args) != nil {
			key = "garble"
		}
		fmt.Fprintf(&b, "%s: %s %s\n", key, c.Tool, c.Args)
	}
	fmt.Fprintf(&b, "stop: %s\nusage: input=%d cached=%d output=%d reasoning=%d\n", r.Stop, r.Usage.Input, r.Usage.Cached, r.Usage.Output, r.Usage.Reasoning)
	return b.String()
}
