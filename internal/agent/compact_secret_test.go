package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/secret"
	"github.com/belay-agent/belay/internal/world/journal"
)

// TestR070_R252_ACompactionWritesNoSecrets: a test fails with a key in its message,
// the model writes keys into its notes, and there is more than a handoff holds. No
// request has one of them, no event, no artifact: the mark stands in their place.
func TestR070_R252_ACompactionWritesNoSecrets(t *testing.T) {
	const (
		pat  = "ghp_0Jd8sKq2LmXv93TzBf71RyUcWnEa5GhP6iQo" // known by its shape
		held = "swordfish-of-the-deep"                    // known to Belay
	)
	j, err := journal.Open(t.TempDir(), secret.New(secret.Options{Key: []byte("k"), Held: map[string]string{"KEY": held}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	var consulted []*model.Request
	m := &small{window: 14_000, calls: 60, size: 700}
	m.handoff = func(r *model.Request) (model.Reply, error) {
		consulted = append(consulted, r)
		all := []string{
			fmt.Sprintf(`{"kind":"context","text":"the server takes %s","status":"","evidence":[],"error":"","files":[],"forbids":[]}`, pat),
			fmt.Sprintf(`{"kind":"learning","text":"it signs with %s","status":"","evidence":[],"error":"","files":[],"forbids":[{"rule":"","text":%q,"call":""}]}`, held, held),
			`{"kind":"learning","text":"one that is wrong, so that all is asked for again","status":"","evidence":["c999"],"error":"","files":[],"forbids":[]}`,
		}
		for n := range 20 {
			all = append(all, fmt.Sprintf(`{"kind":"learning","text":"%d of %d: %s %s","status":"","evidence":[],"error":"","files":[],"forbids":[]}`, n, len(consulted), strings.Repeat("detail ", 60), pat))
		}
		return notes(all...)(r)
	}
	l := newLong(t, m, 14_000, func(o *agent.Options) {
		o.Journal = j
		o.Tools = []tool.Tool{act("Look", effect.Read, func(_ context.Context, on string, _ tool.Env) (tool.Result, error) {
			return tool.Result{
				Status: tool.Error, Text: "--- FAIL: TestLogin\n    login_test.go:7: got token " + pat + ", key " + held + "\n" + words(on, m.size) + "exit status 1\n",
				Data:    json.RawMessage(fmt.Sprintf(`{"command":"go test ./%s","outcome":"failed","failing":[{"name":"TestLogin","file":"login_test.go","line":7,"message":"got token %s, key %s"}]}`, on, pat, held)),
				Failure: &tool.Failure{Kind: tool.NonzeroExit, Message: "exit status 1 after " + pat},
			}, nil
		})}
	})
	if err := l.turn("Mend the login; its token was " + pat + "."); err != nil {
		t.Fatal(err)
	}
	clean := func(what, text string) {
		t.Helper()
		for _, s := range []string{pat, held, pat[4:24]} {
			if at := strings.Index(text, s); at >= 0 {
				t.Errorf("%s has %q: %.200s", what, s, text[max(0, at-100):])
				return
			}
		}
	}
	whole, handoffs := 0, 0
	for i, r := range append(m.sent, consulted...) {
		told := r.Messages
		if r.Purpose == model.Handoff { // what follows is the model's own answer, and what is wrong with it
			told = told[:1]
		}
		clean(fmt.Sprint("request ", i), r.System+encoded(t, told))
	}
	handles := regexp.MustCompile(`artifact:[0-9a-f]{64}`)
	seen := make(map[string]bool)
	for e, err := range j.Since(0) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := event.Encode(e, 1)
		if err != nil {
			t.Fatal(err)
		}
		clean(fmt.Sprintf("event %d (%s)", e.Seq, e.Kind()), string(line))
		if b, ok := e.Body.(event.Compacted); ok && b.Handoff != "" {
			handoffs++
			if b.Whole != "" {
				whole++
			}
			for what, text := range map[string]string{"handoff": b.Handoff, "note": b.Notes[0].Text} {
				if !strings.Contains(text, "[secret:github-pat:") {
					t.Errorf("no mark stands in the %s: %s", what, text)
				}
			}
		}
		for _, handle := range handles.FindAllString(string(line), -1) {
			if seen[handle] {
				continue
			}
			seen[handle] = true
			from, err := j.Artifact(handle)
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(from)
			if err != nil {
				t.Fatal(err)
			}
			clean(handle, string(content))
		}
	}
	if handoffs < 2 || whole == 0 || len(seen) < 10 {
		t.Errorf("%d handoffs, %d with more than has a place, %d artifacts", handoffs, whole, len(seen))
	}
}
