package provider

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// A line answers requests one after the other, on a fake clock.
type line struct {
	answers []func(*http.Request) (*http.Response, error)
	at      []time.Time // of each request
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.at = append(l.at, time.Now())
	if len(l.at) > len(l.answers) {
		return nil, errors.New("one request too many")
	}
	return l.answers[len(l.at)-1](r)
}

type answer = func(*http.Request) (*http.Response, error)

func says200(body string) answer {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func saysStatus(status int, body string, header ...string) answer {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func fails(err error) answer {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

func fine() answer {
	return says200(modeltest.Chat().Stream(modeltest.Chat().Events(short())))
}

func openLine(t *testing.T, l *line, p Patience) model.Provider {
	t.Helper()
	provider, _, err := Open(Options{Name: "openai/m", BaseURL: "http://model.test", Client: &http.Client{Transport: l}, Patience: p})
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func TestRetriesUntilAReplyBegins(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	cut := says200("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
	overloaded := modeltest.Chat().Error("overloaded_error", "busy")
	tests := []struct {
		name    string
		answers []answer
		wait    time.Duration // at least, until the last request
		most    time.Duration
		err     string // "" is a whole reply
	}{
		{"every status", []answer{saysStatus(500, ""), saysStatus(502, ""), saysStatus(503, ""), saysStatus(504, ""), saysStatus(529, ""), fine()}, 7750 * time.Millisecond, 15500 * time.Millisecond, ""},
		{"too many", []answer{saysStatus(500, "x"), saysStatus(500, "x"), saysStatus(500, "x"), saysStatus(500, "x"), saysStatus(500, "x"), saysStatus(500, "the end")}, 7750 * time.Millisecond, 15500 * time.Millisecond, "the end (HTTP 500)"},
		{"seconds", []answer{saysStatus(429, "", "Retry-After", "20"), fine()}, 20 * time.Second, 20 * time.Second, ""},
		{"a date", []answer{saysStatus(429, "", "Retry-After", "Sat, 01 Jan 2000 00:00:40 GMT"), fine()}, 40 * time.Second, 40 * time.Second, ""},
		{"milliseconds", []answer{saysStatus(429, "", "Retry-After", "9", "Retry-After-Ms", "1500"), fine()}, 1500 * time.Millisecond, 1500 * time.Millisecond, ""},
		{"a date gone by", []answer{saysStatus(503, "", "Retry-After", "Fri, 31 Dec 1999 00:00:00 GMT"), fine()}, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"longer than the deadline", []answer{saysStatus(429, "slow down", "Retry-After", "3600")}, 0, 0, "slow down (HTTP 429)"},
		{"connection lost", []answer{fails(io.ErrUnexpectedEOF), fine()}, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"nothing listens", []answer{fails(refused), fails(refused), fails(refused)}, 750 * time.Millisecond, 1500 * time.Millisecond, "reach http://model.test/v1/chat/completions: dial: connection refused"},
		{"an empty stream", []answer{says200(""), fine()}, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"an error in the stream", []answer{says200("data: " + overloaded + "\n\n"), fine()}, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"not after a delta", []answer{cut}, 0, 0, "unexpected EOF"},
		{"not a bad request", []answer{saysStatus(400, `{"error":{"message":"no such field"}}`)}, 0, 0, "no such field (HTTP 400)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &line{answers: tt.answers}
				begun := time.Now()
				h := modeltest.Listen(t, openLine(t, l, Patience{}), t.Context(), modeltest.Ask())
				if tt.err == "" {
					short().Check(t, h)
				} else if h.Err == nil || !strings.Contains(h.Err.Error(), tt.err) {
					t.Errorf("got %v, want %q", h.Err, tt.err)
				}
				if len(l.at) != len(tt.answers) || h.Waits != len(tt.answers)-1 {
					t.Fatalf("%d requests and %d waits, want %d and one less", len(l.at), h.Waits, len(tt.answers))
				}
				if took := l.at[len(l.at)-1].Sub(begun); took < tt.wait || took > tt.most {
					t.Errorf("the last request was sent after %v, want %v to %v", took, tt.wait, tt.most)
				}
			})
		})
	}
}

func TestUnavailableSaysHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{answers: []answer{saysStatus(429, "", "Retry-After", "3600")}}
		h := modeltest.Listen(t, openLine(t, l, Patience{}), t.Context(), modeltest.Ask())
		if u, ok := errors.AsType[*model.Unavailable](h.Err); !ok || u.After != time.Hour {
			t.Errorf("got %v, want an hour", h.Err)
		}
	})
}

func TestWaitingIsShownAndEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{answers: []answer{saysStatus(503, `{"error":"warming up"}`, "Retry-After", "60")}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		var waits []model.Waiting
		var last error
		for d, err := range openLine(t, l, Patience{}).Stream(ctx, modeltest.Ask()) {
			if w, ok := d.(model.Waiting); ok {
				waits = append(waits, w)
			}
			last = err
		}
		want := []model.Waiting{{Until: begun.Add(time.Minute), Why: "http://model.test/v1/chat/completions: warming up (HTTP 503)"}}
		if d := cmp.Diff(want, waits); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if !errors.Is(last, context.DeadlineExceeded) || time.Since(begun) != 5*time.Second {
			t.Errorf("ended with %v after %v", last, time.Since(begun))
		}
	})
}

// A quiet body says what it has and then nothing, until it is closed.
type quiet struct {
	io.Reader
	ctx context.Context
}

func (q quiet) Read(p []byte) (int, error) {
	if n, err := q.Reader.Read(p); err == nil {
		return n, nil
	}
	<-q.ctx.Done()
	return 0, q.ctx.Err()
}

func (quiet) Close() error { return nil }

func TestIdleStreamIsCut(t *testing.T) {
	goesQuiet := func(body string) answer {
		return func(r *http.Request) (*http.Response, error) {
			resp, err := says200("")(r)
			resp.Body = quiet{strings.NewReader(body), r.Context()}
			return resp, err
		}
	}
	whole := modeltest.Chat().Stream(modeltest.Chat().Events(short()))
	synctest.Test(t, func(t *testing.T) {
		l := &line{answers: []answer{goesQuiet(whole[:len(whole)/2])}}
		begun := time.Now()
		h := modeltest.Listen(t, openLine(t, l, Patience{Idle: 20 * time.Second}), t.Context(), modeltest.Ask())
		if !errors.Is(h.Err, errIdle) || h.Reply == nil || h.Reply.Stop != model.Cut || time.Since(begun) != 20*time.Second {
			t.Errorf("got the reply %+v and %v after %v", h.Reply, h.Err, time.Since(begun))
		}
	})
	synctest.Test(t, func(t *testing.T) { // a whole reply does not wait for the end of its stream
		l := &line{answers: []answer{goesQuiet(whole)}}
		begun := time.Now()
		short().Check(t, modeltest.Listen(t, openLine(t, l, Patience{}), t.Context(), modeltest.Ask()))
		if took := time.Since(begun); took > lastWait {
			t.Errorf("waited %v for the end of a stream that was complete", took)
		}
	})
}

// A chatterbox keeps a stream alive without saying anything.
type chatterbox struct{ ctx context.Context }

func (c chatterbox) Read(p []byte) (int, error) {
	select {
	case <-time.After(10 * time.Second):
		return copy(p, ": ping\n\n"), nil
	case <-c.ctx.Done():
		return 0, c.ctx.Err()
	}
}

func (chatterbox) Close() error { return nil }

func TestAStreamThatIsOnlyKeptAliveIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keepsAlive := func(r *http.Request) (*http.Response, error) {
			resp, err := says200("")(r)
			resp.Body = chatterbox{r.Context()}
			return resp, err
		}
		begun := time.Now()
		h := modeltest.Listen(t, openLine(t, &line{answers: []answer{keepsAlive}}, Patience{}), t.Context(), modeltest.Ask())
		if took := time.Since(begun); !errors.Is(h.Err, errMute) || took < 30*time.Minute || took > 31*time.Minute {
			t.Errorf("got %v after %v", h.Err, took)
		}
	})
}

// TestConnectionsAreUsedAgain holds that a step does not cost a handshake.
func TestConnectionsAreUsedAgain(t *testing.T) {
	for _, d := range dialects() {
		body := d.Stream(d.Events(short()))
		s := modeltest.Serve(t, d, nil, modeltest.Response{Body: body}, modeltest.Response{Body: body}, modeltest.Response{Body: body})
		dials := 0
		tr := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}}
		t.Cleanup(tr.CloseIdleConnections)
		s.Client = &http.Client{Transport: tr}
		p := openAt(t, d, s, Patience{})
		for range 3 {
			short().Check(t, modeltest.Listen(t, p, t.Context(), modeltest.Ask()))
		}
		if dials != 1 {
			t.Errorf("%s: %d connections for 3 requests", d.Name, dials)
		}
	}
}

func TestUnreachableServerIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"openai/m", "anthropic/m"} {
		p, _, err := Open(Options{Name: name, BaseURL: "http://user:secret@" + addr, Patience: Patience{Attempts: 1}})
		if err != nil {
			t.Fatal(err)
		}
		h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
		if _, ok := errors.AsType[*model.Unavailable](h.Err); !ok || !strings.Contains(h.Err.Error(), addr) || strings.Contains(h.Err.Error(), "secret") {
			t.Errorf("%s: got %v", name, h.Err)
		}
	}
}

// A server that answers with a redirect gets neither the key nor the
// conversation to wherever it points, which header ever carries the key.
func TestNoRedirectIsFollowed(t *testing.T) {
	for _, d := range dialects() {
		for _, status := range []int{301, 302, 303, 307, 308} {
			whole := modeltest.Response{Body: d.Stream(d.Events(short()))}
			other := modeltest.Serve(t, d, nil, whole)
			to := strings.Replace(other.URL, "http://", "http://user:hush@", 1) + "/elsewhere?token=hush"
			s := modeltest.Serve(t, d, nil, modeltest.Response{Status: status, Header: map[string]string{"Location": to}})
			h := modeltest.Listen(t, openAt(t, d, s, Patience{}), t.Context(), modeltest.Ask())
			bad, ok := errors.AsType[*model.BadRequest](h.Err)
			if !ok || !strings.Contains(bad.Reason, "/elsewhere") || strings.Contains(bad.Reason, "hush") {
				t.Errorf("%s %d: got %v, want to be told where it leads", d.Name, status, h.Err)
			}
			if n := len(other.Bodies()); n != 0 {
				t.Errorf("%s %d: the other server got %d requests", d.Name, status, n)
			}
		}
	}
}
