//go:build unix

package crash

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// eachServer runs f against a strict server of every API, which answers with
// replies; it gets what to put into the environment, and the model's name.
func eachServer(t *testing.T, replies []modeltest.Reply, f func(t *testing.T, s *modeltest.Server, env []string, m string)) {
	for _, d := range []modeltest.Dialect{modeltest.Chat(), modeltest.Messages()} {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			var responses []modeltest.Response
			for _, r := range replies {
				r.Usage = model.Usage{Input: 10, Output: 5}
				responses = append(responses, modeltest.Response{Body: d.Stream(d.Events(r))})
			}
			s := modeltest.Serve(t, d, replies, responses...)
			m := "openai/m"
			if d.Name == "messages" {
				m = "anthropic/m"
			}
			f(t, s, []string{"OPENAI_BASE_URL=" + s.URL, "ANTHROPIC_BASE_URL=" + s.URL}, m)
		})
	}
}

// killOnce starts Belay, waits for up, and kills it.
func (p *place) killOnce(t *testing.T, env []string, up func(), args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	c := p.command(ctx, nil, args...)
	c.Env = append(c.Env, env...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	up()
	kill(t, c)
}

func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if c.ProcessState.ExitCode() != -1 {
		t.Fatalf("it was not killed: %v", c.ProcessState)
	}
}

// outcomes returns how each call ended.
func outcomes(t *testing.T, p *place) map[string]string {
	t.Helper()
	s := story{place: p}
	all, err := s.events()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(map[string]string)
	for _, f := range bodies[event.Finished](all) {
		if ended[f.Call] != "" {
			t.Errorf("%s has two results", f.Call)
		}
		ended[f.Call] = string(f.Result.Status)
	}
	return ended
}

// N01: three calls of one reply, killed after the result of the first: a strict
// provider takes the next request, the two others have a result that says what
// is known, and neither is run again.
func TestBug_N01_KilledBetweenResults(t *testing.T) {
	replies := []modeltest.Reply{
		{Calls: []modeltest.Call{
			{Tool: "Read", Args: `{"path":"notes.md"}`},
			{Tool: "Bash", Args: `{"command":"echo x >>counter-1; echo up >../gate; sleep 99"}`},
			{Tool: "Bash", Args: `{"command":"echo x >>counter-2; : >>counter-1"}`}, // waits for the second
		}, Stop: model.Calls},
		{Text: "I see.", Stop: model.End},
		{Text: "And again.", Stop: model.End},
	}
	from := template(t)
	eachServer(t, replies, func(t *testing.T, s *modeltest.Server, env []string, m string) {
		p, err := newPlace(t.TempDir(), from, binary(t, plain))
		if err != nil {
			t.Fatal(err)
		}
		p.killOnce(t, env, p.gate(t), "run", "--mode", "full", "-m", m, "go")
		if d := cmp.Diff(map[string]string{"c1": "success"}, outcomes(t, p)); d != "" {
			t.Errorf("before it is resumed (-want +got):\n%s", d)
		}
		for i, args := range [][]string{{"resume", "--mode", "full"}, {"resume", "--mode", "full", "once more"}} {
			e, err := p.run(env, nil, args...)
			if err != nil || e.code != 0 || e.out != replies[i+1].Text+"\n" {
				t.Fatalf("resume: %v, %v", err, e)
			}
		}
		want := map[string]string{"c1": "success", "c2": "unknown", "c3": "interrupted"}
		if d := cmp.Diff(want, outcomes(t, p)); d != "" {
			t.Errorf("results (-want +got):\n%s", d)
		}
		if sent := s.Bodies(); len(sent) != 3 || !strings.Contains(sent[1], "may have happened") {
			t.Errorf("%d requests", len(sent))
		}
		one, err := os.ReadFile(filepath.Join(p.dir, "counter-1"))
		if err != nil || string(one) != "x\n" {
			t.Errorf("the first command ran: %q, %v", one, err)
		}
		if _, err := os.Stat(filepath.Join(p.dir, "counter-2")); err == nil {
			t.Error("the second command ran")
		}
		if left := p.survivors(); len(left) > 0 {
			t.Errorf("still running: %q", left)
		}
	})
}

// P07: turns with nothing to say and a silent command leave nothing, also after
// a kill, that a later request could stumble over.
func TestBug_P07_NothingToSayAfterAKill(t *testing.T) {
	silent := modeltest.Reply{Think: "hm", Stop: model.End}
	bash := func(command string) modeltest.Reply {
		return modeltest.Reply{Calls: []modeltest.Call{{Tool: "Bash", Args: `{"command":"` + command + `"}`}}, Stop: model.Calls}
	}
	replies := []modeltest.Reply{silent, bash("true"), bash("echo up >../gate; sleep 99"), silent, bash("touch z"), {Text: "done", Stop: model.End}}
	from := template(t)
	eachServer(t, replies, func(t *testing.T, s *modeltest.Server, env []string, m string) {
		p, err := newPlace(t.TempDir(), from, binary(t, plain))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := p.run(env, nil, "run", "--mode", "full", "-m", m, "think"); err != nil || e.code != 5 {
			t.Fatalf("a turn of reasoning only: %v, %v", err, e)
		}
		p.killOnce(t, env, p.gate(t), "resume", "--mode", "full", "and now?")
		if e, err := p.run(env, nil, "resume", "--mode", "full"); err != nil || e.code != 5 {
			t.Fatalf("reasoning only, after the kill: %v, %v", err, e)
		}
		if e, err := p.run(env, nil, "resume", "--mode", "full", "touch it"); err != nil || e.code != 0 || e.out != "done\n" {
			t.Fatalf("to the end: %v, %v", err, e)
		}
		want := map[string]string{"c1": "success", "c2": "unknown", "c3": "success"}
		if d := cmp.Diff(want, outcomes(t, p)); d != "" {
			t.Errorf("results (-want +got):\n%s", d)
		}
		if n := len(s.Bodies()); n != len(replies) {
			t.Errorf("%d requests, want %d", n, len(replies))
		}
	})
}
