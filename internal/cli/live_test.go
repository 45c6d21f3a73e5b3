package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/secret"
)

// F01: however the output of a call is cut into pieces, no secret of it is shown,
// nothing else is lost, and no line waits for the next.
func TestBug_F01_LiveOutputIsVeiled(t *testing.T) {
	const key = "sk-0123456789abcdef"
	text := "a\nkey " + key + " and " + key + "\nlast " + key
	want := strings.ReplaceAll(text, key, "[redacted:KEY]")
	finished := agent.Recorded{Event: event.Event{Body: event.Finished{Call: "c1"}}}
	for size := 1; size <= len(text); size++ {
		v := newVeil(secret.New(secret.Options{Held: map[string]string{"KEY": key}}))
		var shown strings.Builder
		show := func(s agent.Signal) {
			for _, s := range v.pass(s) {
				if o, ok := s.(agent.Output); ok && o.Call == "c1" {
					shown.Write(o.Text)
				}
			}
		}
		for at := 0; at < len(text); at += size {
			end := min(at+size, len(text))
			show(agent.Output{Call: "c1", Text: []byte(text[at:end])})
			show(agent.Output{Call: "c2", Text: []byte("other")})
			if whole := strings.LastIndex(text[:end], "\n") + 1; strings.Count(shown.String(), "\n") != strings.Count(text[:whole], "\n") {
				t.Errorf("in pieces of %d, after %d bytes: %q", size, end, shown.String())
			}
		}
		show(finished)
		if shown.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, shown.String(), want)
		}
		if len(v.calls) != 1 {
			t.Errorf("%d calls are remembered, want one", len(v.calls))
		}
	}
	v := newVeil(secret.New(secret.Options{}))
	shown := v.pass(agent.Output{Call: "c1", Text: []byte(strings.Repeat("x", 1<<20))})
	if len(shown) != 1 || len(shown[0].(agent.Output).Text) < 900<<10 {
		t.Error("a line without end is held back")
	}
}

// Lines of a private key are shown as one mark, those around it as they come.
func TestR136_APrivateKeyIsNotShownLineByLine(t *testing.T) {
	v := newVeil(secret.New(secret.Options{}))
	var shown strings.Builder
	for line := range strings.Lines("before\n-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 9) + "-----END PRIVATE KEY-----\nafter\n") {
		for _, s := range v.pass(agent.Output{Call: "c1", Text: []byte(line)}) {
			shown.Write(s.(agent.Output).Text)
		}
		if line == "before\n" && shown.String() != line {
			t.Errorf("a line waits for the next: %q", shown.String())
		}
	}
	if want := "before\n[secret:private-key]\nafter\n"; shown.String() != want {
		t.Errorf("%q, want %q", shown.String(), want)
	}
}

// TestR136_WhatTheModelTypesIsVeiled: a reply is shown word by word, and a secret
// in it, also one cut between pieces, is not; nor is one in what a provider says of
// a wait.
func TestR136_WhatTheModelTypesIsVeiled(t *testing.T) {
	const key, pat = "sk-0123456789abcdef", "ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo"
	v := newVeil(secret.New(secret.Options{Held: map[string]string{"KEY": key}}))
	var think, text strings.Builder
	show := func(s agent.Signal) {
		for _, s := range v.pass(s) {
			if s, ok := s.(agent.Typing); ok {
				switch d := s.Delta.(type) {
				case model.ReasoningDelta:
					if text.Len() > 0 {
						t.Error("reasoning is shown after the text")
					}
					think.WriteString(d.Text)
				case model.TextDelta:
					text.WriteString(d.Text)
				case model.Waiting:
					text.WriteString("(" + d.Why + ")")
				case model.CallDelta:
					text.WriteString(d.Args)
				}
			}
		}
	}
	for reply := range 2 {
		think.Reset()
		text.Reset()
		for _, c := range "I think of " + key + " now" {
			show(agent.Typing{Delta: model.ReasoningDelta{Text: string(c)}})
		}
		for i, c := range "it is " + pat + " or\n" + key + ", I think" {
			show(agent.Typing{Delta: model.TextDelta{Text: string(c)}})
			if i == len("it is") && text.String() != "it is " {
				t.Errorf("a word waits: %q", text.String())
			}
		}
		show(agent.Typing{Delta: model.CallDelta{Args: pat}})
		if think.String() != "I think of [redacted:KEY] now" {
			t.Errorf("reply %d: thought %q", reply, think.String())
		}
		if want := "it is [secret:github-pat] or\n"; text.String() != want {
			t.Errorf("reply %d: typed %q, want %q", reply, text.String(), want)
		}
		show(agent.Recorded{Event: event.Event{Body: event.Replied{}}})
	}
	text.Reset()
	show(agent.Typing{Delta: model.Waiting{Why: "bad key " + key}})
	if text.String() != "(bad key [redacted:KEY])" {
		t.Errorf("waiting: %q", text.String())
	}
}

// TestR136_AQuestionShowsNoSecret: who approves sees what is done, with marks, and
// what is done is not changed by that.
func TestR136_AQuestionShowsNoSecret(t *testing.T) {
	const pat = "ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo"
	v := newVeil(secret.New(secret.Options{}))
	ask := func() agent.Question {
		return agent.Question{
			Plan: tool.Plan{
				Call: tool.Call{Args: json.RawMessage(`{"command":"echo ` + pat + `"}`)}, Summary: "echo " + pat, Preview: pat,
				Parts: []tool.Part{{Name: "echo " + pat, Effects: effect.Set{{Kind: effect.Network, On: pat}}}},
			},
			Action: &tool.Action{Preview: "+" + pat, Summary: pat}, Decision: policy.Decision{Reason: "mode (" + pat + ")"},
			Why: []agent.Reason{{Question: "why", Answer: pat}}, Remember: []string{"Bash(echo " + pat + ")", "Bash(echo)"},
		}
	}
	q := ask()
	shown := v.question(q)
	if d := cmp.Diff(ask(), q); d != "" {
		t.Errorf("the question itself has changed (-want +got):\n%s", d)
	}
	text := fmt.Sprintf("%+v %+v %s %v", shown, *shown.Action, shown.Plan.Call.Args, shown.Remember)
	if strings.Contains(text, pat) || strings.Count(text, "[secret:github-pat]") < 9 {
		t.Errorf("shown: %s", text)
	}
	if d := cmp.Diff([]string{"Bash(echo)"}, shown.Remember); d != "" {
		t.Errorf("rules offered (-want +got):\n%s", d)
	}
}
