package tooltest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestMain is also the program that a test kills: it books in the ledger at
// KEYED_URL under KEYED_KEY.
func TestMain(m *testing.M) {
	address := os.Getenv("KEYED_URL")
	if address == "" {
		os.Exit(m.Run())
	}
	a, err := Keyed(address).Prepare(context.Background(), booking)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r, err := a.Do(context.Background(), tool.Env{Key: os.Getenv("KEYED_KEY")})
	fmt.Println("answered", r.Text, err)
}

var booking = tool.Input{Args: json.RawMessage(`{"amount":5}`)}

// books is a case of Keyed, wrapped, with a ledger of its own.
func books(wrap func(tool.Tool) tool.Tool) Case {
	var ledger *Ledger
	return Case{
		Open: func(t testing.TB, _ string) (tool.Tool, tool.Input) {
			ledger = new(Ledger)
			s := httptest.NewServer(ledger)
			t.Cleanup(s.Close)
			return wrap(Keyed(s.URL)), booking
		},
		Keys: func() []string { return ledger.Keys() },
	}
}

func TestR074_KeysReachTheTarget(t *testing.T) {
	honest := books(func(k tool.Tool) tool.Tool { return k })
	for _, r := range reports(t, honest) {
		t.Error(r)
	}
}

// A bent tool sends or settles in its own way.
type bent struct {
	tool.Tool
	key    func(string) string // that it sends
	settle func(r *tool.Result, err error) (*tool.Result, error)
}

func (b bent) Prepare(ctx context.Context, in tool.Input) (*tool.Action, error) {
	a, err := b.Tool.Prepare(ctx, in)
	if err == nil && b.key != nil {
		do := a.Do
		a.Do = func(ctx context.Context, env tool.Env) (tool.Result, error) {
			env.Key = b.key(env.Key)
			return do(ctx, env)
		}
	}
	return a, err
}

func (b bent) Settle(ctx context.Context, p tool.Plan, fingerprint json.RawMessage) (*tool.Result, error) {
	if b.settle != nil && b.key == nil {
		return b.settle(b.Tool.(tool.Settler).Settle(ctx, p, fingerprint))
	}
	if b.key != nil {
		p.Key = b.key(p.Key)
	}
	return b.Tool.(tool.Settler).Settle(ctx, p, fingerprint)
}

func TestR074_LiesAboutKeysAreCaught(t *testing.T) {
	sent := 0
	for _, c := range []struct {
		name, says string
		bent       bent
	}{
		{"its own key", `has acted under the keys ["mine"], want ["tooltest-c1"]`, bent{key: func(string) string { return "mine" }}},
		{"a new key each time", "a second run under one key ends in", bent{key: func(k string) string { sent++; return fmt.Sprint(k, sent) }}},
		{"one key for all", "after a run under another key", bent{key: func(string) string { return "tooltest-c1" }}},
		{"settles nothing", "Settle returns <nil>, <nil>", bent{settle: func(*tool.Result, error) (*tool.Result, error) { return nil, nil }}},
		{"cannot settle", "Settle: no", bent{settle: func(*tool.Result, error) (*tool.Result, error) { return nil, errors.New("no") }}},
		{"settles otherwise", `Settle ends in success {"entry":9}`, bent{settle: func(r *tool.Result, err error) (*tool.Result, error) {
			r.Data = json.RawMessage(`{"entry":9}`)
			return r, err
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(reports(t, books(func(k tool.Tool) tool.Tool { c.bent.Tool = k; return c.bent })), "\n")
			if !strings.Contains(got, c.says) {
				t.Errorf("the suite does not report %q; it reports:\n%s", c.says, got)
			}
		})
	}
	uncounted := books(func(k tool.Tool) tool.Tool { return k })
	uncounted.Keys = nil
	if got := strings.Join(reports(t, uncounted), "\n"); !strings.Contains(got, "how to count what the target did") {
		t.Errorf("the suite checks keys without counting effects; it reports:\n%s", got)
	}
}

// An answer that is lost is asked for again under the same key, once; after that
// nobody knows.
func TestR074_LostAnswers(t *testing.T) {
	for lost, want := range map[int]tool.Status{1: tool.Success, 2: tool.Unknown} {
		var ledger Ledger
		var left atomic.Int64
		left.Store(int64(lost))
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if left.Add(-1) < 0 {
				ledger.ServeHTTP(w, r)
				return
			}
			ledger.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}))
		a, err := Keyed(s.URL).Prepare(t.Context(), booking)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Do(t.Context(), tool.Env{Key: "k"})
		s.Close()
		if err != nil || r.Status != want {
			t.Errorf("%d answers lost: %s %q, %v, want %s", lost, r.Status, r.Text, err, want)
		}
		if d := cmp.Diff([]string{"k"}, ledger.Keys()); d != "" {
			t.Errorf("%d answers lost: effects (-want +got):\n%s", lost, d)
		}
	}
}

// The process that books is killed between the effect and its answer, and once
// before the effect. Another process settles the call: one effect, one answer.
func TestR074_KilledBetweenEffectAndResult(t *testing.T) {
	const key = "01SESSION/c1"
	for name, booked := range map[string]bool{"after the effect": true, "before the effect": false} {
		t.Run(name, func(t *testing.T) {
			var ledger Ledger
			caller := make(chan *os.Process, 1)
			kill := func(string) {
				p := <-caller
				if err := p.Kill(); err != nil {
					t.Error(err)
				}
				_, _ = p.Wait()
			}
			handler := http.Handler(&ledger)
			if booked {
				ledger.Booked = kill
			} else {
				handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { kill("") })
			}
			s := httptest.NewServer(handler)
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "KEYED_URL="+s.URL, "KEYED_KEY="+key)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			caller <- c.Process
			if b, _ := io.ReadAll(bufio.NewReader(out)); len(b) > 0 {
				t.Errorf("it was not killed, but says %s", b)
			}
			s.Close()
			if got := len(ledger.Keys()); got > 1 || booked != (got == 1) {
				t.Fatalf("%d effects before the crash", got)
			}

			ledger.Booked = nil
			s = httptest.NewServer(&ledger)
			defer s.Close()
			next := Keyed(s.URL) // knows nothing of the call but what is recorded
			plan := tool.Plan{Call: tool.Call{ID: "c1", Tool: "Book", Args: booking.Args}, Key: key}
			for range 2 {
				r, err := next.(tool.Settler).Settle(t.Context(), plan, json.RawMessage(`{"amount":5}`))
				if err != nil {
					t.Fatal(err)
				}
				want := tool.Result{Status: tool.Success, Text: `booked: {"entry":1}`, Data: json.RawMessage(`{"entry":1}`)}
				if d := cmp.Diff(want, *r); d != "" {
					t.Errorf("Settle (-want +got):\n%s", d)
				}
			}
			if d := cmp.Diff([]string{key}, ledger.Keys()); d != "" {
				t.Errorf("effects (-want +got):\n%s", d)
			}
		})
	}
}

func TestLedgerRefuses(t *testing.T) {
	var ledger Ledger
	for _, c := range []struct {
		key, body string
		want      int
	}{
		{"", "a", http.StatusBadRequest},
		{"k", "a", http.StatusOK},
		{"k", "b", http.StatusUnprocessableEntity},
		{"k", "a", http.StatusOK},
		{"l", "a", http.StatusOK},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte(c.body)))
		r.Header.Set(keyHeader, c.key)
		w := httptest.NewRecorder()
		ledger.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("key %q, body %q: %d, want %d", c.key, c.body, w.Code, c.want)
		}
	}
	if d := cmp.Diff([]string{"k", "l"}, ledger.Keys()); d != "" {
		t.Errorf("effects (-want +got):\n%s", d)
	}
}
