//go:build unix

package crash

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// atOnce is how long a stop may take beyond the grace that commands are given:
// a second, with fivefold slack for a busy machine.
const atOnce = 5 * time.Second

const grace = 2 * time.Second

// stopped interrupts Belay when up returns, and checks that it ends in time, as
// interrupted, leaving nothing running and every call with its result.
func stopped(t *testing.T, p *place, env []string, up func(), most time.Duration, args ...string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	c := p.command(ctx, nil, args...)
	c.Env = append(c.Env, env...)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	up()
	began := time.Now()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	took := time.Since(began)
	t.Logf("it stopped in %v", took.Round(time.Millisecond))
	if took > most {
		t.Errorf("it took %v to stop, more than %v", took, most)
	}
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit status %d\n%s", code, errs.String())
	}
	if left := p.survivors(); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	s := story{place: p}
	all, err := s.events()
	if err != nil {
		t.Fatal(err)
	}
	stops := bodies[event.Stopped](all)
	if len(stops) == 0 || stops[len(stops)-1].Reason != "interrupted" {
		t.Errorf("the turn ended with %+v", stops)
	}
	v := verdict{unknown: map[string]int{}}
	if v.judgeCalls(all); len(v.wrong()) > 0 {
		t.Errorf("calls: %q", v.wrong())
	}
	return outcomes(t, p)
}

// R309: "stop" takes effect at once while a command runs that ignores it.
func TestR309_StopWhileACommandRuns(t *testing.T) {
	t.Parallel()
	p, err := newPlace(t.TempDir(), "", binary(t, plain))
	if err != nil {
		t.Fatal(err)
	}
	play := filepath.Join(p.top, "stubborn.play")
	script := `-- step --
call: Bash {"command": "trap '' TERM INT; (trap '' TERM INT; sleep 99) & echo up >../gate; sleep 99; sleep 99; touch woke"}
call: Bash {"command": "touch never"}
`
	if err := os.WriteFile(play, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	got := stopped(t, p, nil, p.gate(t), grace+atOnce, "run", "--mode", "full", "-m", "script:"+play, "wait")
	if d := cmp.Diff(map[string]string{"c1": "interrupted", "c2": "interrupted"}, got); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
	files, err := p.files()
	if err != nil || len(files) > 0 {
		t.Errorf("something ran on: %v, %v", files, err)
	}
}

// R309: "stop" takes effect at once while the model talks without end, and what
// an earlier command left running ends with it.
func TestR309_StopWhileTheModelTalks(t *testing.T) {
	for _, d := range []modeltest.Dialect{modeltest.Chat(), modeltest.Messages()} {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			p, err := newPlace(t.TempDir(), "", binary(t, plain))
			if err != nil {
				t.Fatal(err)
			}
			server, talking := endless(d)
			defer server.Close()
			defer server.CloseClientConnections()
			m := "openai/m"
			if d.Name == "messages" {
				m = "anthropic/m"
			}
			up := func() {
				select {
				case <-talking:
				case <-time.After(bound):
					t.Fatal("the model was never asked twice")
				}
			}
			env := []string{"OPENAI_BASE_URL=" + server.URL, "ANTHROPIC_BASE_URL=" + server.URL}
			got := stopped(t, p, env, up, atOnce, "run", "--mode", "full", "-m", m, "talk")
			if diff := cmp.Diff(map[string]string{"c1": "success"}, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

// endless is a model that first asks for a command and then never ends its
// answer; it says when a good part of that is out.
func endless(d modeltest.Dialect) (*httptest.Server, <-chan struct{}) {
	usage := model.Usage{Input: 10, Output: 5}
	first := d.Stream(d.Events(modeltest.Reply{
		Calls: []modeltest.Call{{Tool: "Bash", Args: `{"command":"sleep 99 >/dev/null 2>&1 &"}`}}, Stop: model.Calls, Usage: usage,
	}))
	events := d.Events(modeltest.Reply{Text: "and so on and so on and so on", Stop: model.End, Usage: usage})
	opening, more := d.Stream(events[:3]), d.Stream(events[3:4]) // a piece of text in both
	talking := make(chan struct{})
	var mu sync.Mutex
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		requests++
		n := requests
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		if n == 1 {
			_, _ = io.WriteString(w, first)
			return
		}
		_, err := io.WriteString(w, opening)
		for i := 0; err == nil && r.Context().Err() == nil; i++ {
			_, err = io.WriteString(w, more)
			if i == 1000 && n == 2 {
				close(talking)
			}
		}
	}))
	return server, talking
}
