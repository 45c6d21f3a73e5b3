package agent_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/secret"
	"github.com/belay-agent/belay/internal/decide/session"
	"github.com/belay-agent/belay/internal/world/journal"
)

// A model can say what happens to be a key: a person can take any word for one.
// The call runs on what was said, the log holds the mark, and the
// session goes on, also when it is opened again.
func TestACallThatNamesASecretRuns(t *testing.T) {
	const key = "swordfish"
	dir := t.TempDir()
	redactor := secret.New(secret.Options{Held: map[string]string{"KEY": key}})
	var on []string
	r := newRig(t, options{
		script: steps("call: Act {\"on\": \"a/"+key+"\"}", "call: Act {\"on\": \"b/"+key+"\"}"),
		tools: []tool.Tool{act("Act", effect.Write, func(_ context.Context, path string, _ tool.Env) (tool.Result, error) {
			on = append(on, path)
			return ok(t.Context(), path, tool.Env{})
		})},
		change: func(o *agent.Options) {
			j, err := journal.Open(dir, redactor)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { j.Close() })
			o.Journal = j
		},
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(on, " "), "a/"+key+" b/"+key; got != want {
		t.Errorf("ran on %s, want %s", got, want)
	}
	again := new(session.State)
	for e, err := range journal.Read(dir) {
		if err == nil {
			err = again.Apply(e)
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := event.Encode(e, 1)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), key) {
			t.Errorf("on disk: %s", line)
		}
	}
	if open := again.Open(); len(open) != 0 || again.Turn().Steps != 3 {
		t.Errorf("opened again it has %d open calls after %d steps", len(open), again.Turn().Steps)
	}
}

// TestR070_WhatTheModelGetsHasNoSecrets: the result of a call is freed of secrets
// that nobody named before the model has it, however long it is: what is inline,
// the artifact with the whole, and the data beside the text.
func TestR070_WhatTheModelGetsHasNoSecrets(t *testing.T) {
	const pat = "ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo"
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 30)
	text := "first\nTOKEN=" + pat + "\n-----BEGIN PRIVATE KEY-----\n" + body + "-----END PRIVATE KEY-----\n"
	j := journal.Memory(secret.New(secret.Options{Key: []byte("k")}))
	r := newRig(t, options{
		script: steps(
			"call: Act {\"on\": \"short\"}",
			"expect: last /TOKEN=\\[secret:github-pat:[a-z2-7]{5}\\]\\n\\[secret:private-key:[a-z2-7]{5}\\]\\nend/\nexpect: not last /ghp_|MIIE/\ncall: Act {\"on\": \"long\"}",
			"expect: last /\\[secret:github-pat:/\nexpect: not last /ghp_|MIIE/\nsay: done"),
		tools: []tool.Tool{act("Act", effect.Write, func(_ context.Context, path string, _ tool.Env) (tool.Result, error) {
			out := text + "end\n"
			if path == "long" { // the key is cut where the middle is left out
				out = strings.Repeat(text, 400) + "end\n"
			}
			return tool.Result{Status: tool.Success, Text: out, Data: []byte(`{"api_key":"0Jd8sKq2LmXv93TzBf71","line":"` + pat + `"}`)}, nil
		})},
		change: func(o *agent.Options) { o.Journal = j },
	})
	if err := r.turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	artifacts := 0
	for e, err := range j.Since(0) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := event.Encode(e, 1)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := e.Body.(event.Finished)
		if !ok {
			continue
		}
		for _, a := range f.Result.Artifacts {
			artifacts++
			from, err := j.Artifact(a.Handle)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := io.ReadAll(from)
			if err != nil {
				t.Fatal(err)
			}
			line = append(line, whole...)
		}
		for _, secret := range []string{pat, "MIIEvQ", "0Jd8sKq2"} {
			if strings.Contains(string(line), secret) {
				t.Errorf("%s is in the result of %s", secret, f.Call)
			}
		}
	}
	if artifacts != 1 {
		t.Errorf("%d artifacts, want the long result", artifacts)
	}
}
