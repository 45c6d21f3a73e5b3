package provider

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// TestBug_P08_Waiting: overload was given up too soon, and a Retry-After over a
// limit ended the wait without a word.
func TestBug_P08_Waiting(t *testing.T) {
	silent := func(r *http.Request) (*http.Response, error) {
		resp, err := says200("")(r)
		resp.Body = quiet{strings.NewReader(""), r.Context()}
		return resp, err
	}
	busy := saysStatus(529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`)
	for _, tt := range []struct {
		name        string
		answers     []answer
		least, most time.Duration // until the last request
		err         string
	}{
		{"429 with 2 seconds", []answer{saysStatus(429, "", "Retry-After", "2"), fine()}, 2 * time.Second, 2 * time.Second, ""},
		{"529 three times", []answer{busy, busy, busy, fine()}, 1750 * time.Millisecond, 3500 * time.Millisecond, ""},
		{"529 ten times", []answer{busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, fine()}, time.Minute, 3 * time.Minute, ""},
		{"503 with a date", []answer{saysStatus(503, "", "Retry-After", "Sat, 01 Jan 2000 00:01:30 GMT"), fine()}, 90 * time.Second, 90 * time.Second, ""},
		{"two hours", []answer{saysStatus(429, "slow down", "Retry-After", "7200")}, 0, 0, "slow down (HTTP 429); it asks to be left alone for 2h, until 02:00:00 on 1 January, and Belay waits for 5m at most"},
		{"400", []answer{saysStatus(400, "no")}, 0, 0, "no (HTTP 400)"},
		{"401", []answer{saysStatus(401, "no")}, 0, 0, "no (HTTP 401)"},
		{"a reset", []answer{fails(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), fine()}, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"no byte for 90 s", []answer{silent, fine()}, 90*time.Second + 250*time.Millisecond, 90*time.Second + 500*time.Millisecond, ""},
		{"a limit of OpenAI", []answer{saysStatus(429, "", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "1m3.5s", "x-ratelimit-remaining-requests", "7", "x-ratelimit-reset-requests", "2h"), fine()}, 63500 * time.Millisecond, 63500 * time.Millisecond, ""},
		{"a limit of a router", []answer{saysStatus(429, "", "X-RateLimit-Reset", "946684830000"), fine()}, 30 * time.Second, 30 * time.Second, ""},
		{"a limit of Anthropic", []answer{saysStatus(429, "", "anthropic-ratelimit-requests-remaining", "0", "anthropic-ratelimit-requests-reset", "2000-01-01T00:00:07Z"), fine()}, 7 * time.Second, 7 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				l := &line{}
				for _, a := range tt.answers {
					l.answers = append(l.answers, func(r *http.Request) (*http.Response, error) {
						b, _ := io.ReadAll(r.Body)
						bodies = append(bodies, string(b))
						return a(r)
					})
				}
				begun := time.Now()
				h := modeltest.Listen(t, openLine(t, l, Patience{Idle: 90 * time.Second}), t.Context(), modeltest.Ask())
				if tt.err == "" {
					short().Check(t, h)
				} else if h.Err == nil || !strings.Contains(h.Err.Error(), tt.err) {
					t.Errorf("got %v, want %q", h.Err, tt.err)
				}
				if len(l.at) != len(tt.answers) || h.Waits != len(l.at)-1 {
					t.Fatalf("%d requests and %d waits, want %d and one less", len(l.at), h.Waits, len(tt.answers))
				}
				if took := l.at[len(l.at)-1].Sub(begun); took < tt.least || took > tt.most {
					t.Errorf("the last request was sent after %v, want %v to %v", took, tt.least, tt.most)
				}
				for _, b := range bodies {
					if b != bodies[0] {
						t.Errorf("%s is sent after %s", b, bodies[0])
					}
				}
			})
		})
	}
}

// A server that stays busy is asked until the deadline, and that is said.
func TestBusyUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{}
		for range 100 {
			l.answers = append(l.answers, saysStatus(503, "busy"))
		}
		h := modeltest.Listen(t, openLine(t, l, Patience{Deadline: 2 * time.Minute}), t.Context(), modeltest.Ask())
		u, ok := errors.AsType[*model.Unavailable](h.Err)
		if !ok || !u.Busy || !strings.Contains(h.Err.Error(), "times in 2m") {
			t.Errorf("got %v", h.Err)
		}
		if last := l.at[len(l.at)-1].Sub(l.at[0]); len(l.at) < 8 || last < 90*time.Second || last > 2*time.Minute {
			t.Errorf("%d attempts in %v", len(l.at), last)
		}
	})
}

func TestInterruptedWaitEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errStop := errors.New("Ctrl-C")
		ctx, cancel := context.WithCancelCause(t.Context())
		l := &line{answers: []answer{saysStatus(429, "", "Retry-After", "200")}}
		time.AfterFunc(3*time.Second, func() { cancel(errStop) })
		begun := time.Now()
		h := modeltest.Listen(t, openLine(t, l, Patience{}), ctx, modeltest.Ask())
		if !errors.Is(h.Err, errStop) || time.Since(begun) != 3*time.Second {
			t.Errorf("ended with %v after %v", h.Err, time.Since(begun))
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("Retry-After", "7", "0")
	f.Add("Retry-After-Ms", "NaN", "")
	f.Add("X-Ratelimit-Reset", "1e300", "0")
	f.Add("Anthropic-Ratelimit-Tokens-Reset", "2000-01-01T00:00:07Z", "0")
	f.Fuzz(func(t *testing.T, name, value, left string) {
		h := http.Header{}
		h.Set(name, value)
		h.Set("X-Ratelimit-Remaining-Tokens", left)
		h.Set("Anthropic-Ratelimit-Tokens-Remaining", left)
		if d := retryAfter(h, time.Unix(946684800, 0)); d < 0 || d > maxAfter {
			t.Errorf("%s: %s is %v", name, value, d)
		}
	})
}

// A connectProxy leads CONNECT requests to one server, whatever they ask for.
type connectProxy struct {
	to       string // address
	refuse   int    // a status, instead
	password string // that it wants
	led      atomic.Int32
}

func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, password, _ := proxyAuth(r); r.Method != http.MethodConnect || p.refuse != 0 || password != p.password {
		status := p.refuse
		if status == 0 {
			status = http.StatusProxyAuthRequired
		}
		w.WriteHeader(status)
		return
	}
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = server.Close()
		return
	}
	p.led.Add(1)
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	_, _ = io.Copy(client, server)
	_ = client.Close()
}

func proxyAuth(r *http.Request) (name, password string, ok bool) {
	return (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
}

// secure serves the chat dialect over TLS with a certificate of its own.
func secure(t *testing.T) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, modeltest.Chat().Stream(modeltest.Chat().Events(short())))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, roots
}

func askOver(t *testing.T, base string, tr *http.Transport) modeltest.Heard {
	t.Helper()
	t.Cleanup(tr.CloseIdleConnections)
	tr.OnProxyConnectResponse = CheckProxy
	p, _, err := Open(Options{Name: "openai/m", BaseURL: base, Key: "sk-hush-hush", Client: &http.Client{Transport: tr}, Patience: Patience{Attempts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Listen(t, p, t.Context(), modeltest.Ask())
}

func TestCertificatesOfOnesOwn(t *testing.T) {
	s, roots := secure(t)
	short().Check(t, askOver(t, s.URL, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}))
	for name, tt := range map[string]struct {
		base   string
		config *tls.Config
		hint   string
	}{
		"unknown":   {s.URL, &tls.Config{RootCAs: x509.NewCertPool()}, "ca_file"},
		"another":   {strings.Replace(s.URL, "127.0.0.1", "localhost", 1), &tls.Config{RootCAs: roots, ServerName: "model.test"}, "another name"},
		"too late":  {s.URL, &tls.Config{RootCAs: roots, Time: func() time.Time { return s.Certificate().NotAfter.Add(time.Hour) }}, "clock"},
		"too early": {s.URL, &tls.Config{RootCAs: roots, Time: func() time.Time { return s.Certificate().NotBefore.Add(-time.Hour) }}, "clock"},
	} {
		h := askOver(t, tt.base, &http.Transport{TLSClientConfig: tt.config})
		bad, ok := errors.AsType[*model.BadRequest](h.Err)
		if !ok || !strings.Contains(bad.Hint, tt.hint) || strings.Contains(bad.Reason, "hush") {
			t.Errorf("%s: got %v, want a hint with %q", name, h.Err, tt.hint)
		}
	}
	plain := httptest.NewServer(s.Config.Handler)
	defer plain.Close()
	h := askOver(t, strings.Replace(plain.URL, "http:", "https:", 1), &http.Transport{})
	if bad, ok := errors.AsType[*model.BadRequest](h.Err); !ok || !strings.Contains(bad.Hint, "begin with http://") {
		t.Errorf("https to a plain server: %v", h.Err)
	}
}

func TestProxies(t *testing.T) {
	s, roots := secure(t)
	address := s.Listener.Addr().String()
	const base = "https://example.com/v1" // which the certificate is for as well
	through := func(p *connectProxy, user string) (modeltest.Heard, string) {
		proxy := httptest.NewServer(p)
		t.Cleanup(proxy.Close)
		at, _ := url.Parse(strings.Replace(proxy.URL, "http://", "http://"+user, 1))
		return askOver(t, base, &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: roots}}), at.Host
	}
	open := &connectProxy{to: address}
	h, _ := through(open, "")
	short().Check(t, h)
	locked := &connectProxy{to: address, password: "pass-hush"}
	h, _ = through(locked, "me:pass-hush@")
	short().Check(t, h)
	if open.led.Load() != 1 || locked.led.Load() != 1 {
		t.Errorf("led %d and %d connections", open.led.Load(), locked.led.Load())
	}
	for name, tt := range map[string]struct {
		proxy *connectProxy
		hint  string // "" is a wait
	}{
		"a wrong password": {&connectProxy{to: address, password: "x"}, "a name and a password"},
		"forbidden":        {&connectProxy{refuse: 403}, "NO_PROXY"},
		"no way":           {&connectProxy{refuse: 502}, ""},
	} {
		h, host := through(tt.proxy, "me:pass-hush@")
		bad, ok := errors.AsType[*model.BadRequest](h.Err)
		if h.Err == nil || ok != (tt.hint != "") || ok && !strings.Contains(bad.Hint, tt.hint) ||
			!strings.Contains(h.Err.Error(), "the proxy http://me:xxxxx@"+host+" refuses") || strings.Contains(h.Err.Error(), "hush") {
			t.Errorf("%s: got %v, want a hint with %q", name, h.Err, tt.hint)
		}
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := &url.URL{Scheme: "http", Host: gone.Addr().String()}
	_ = gone.Close()
	h = askOver(t, base, &http.Transport{Proxy: http.ProxyURL(at)})
	if h.Err == nil || !strings.Contains(h.Err.Error(), "proxyconnect") {
		t.Errorf("no proxy: %v", h.Err)
	}
}

// A connection that breaks in the middle of a reply leaves what was said, and
// nothing of it is asked for again here.
func TestBug_P08_LossInMidStream(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var asked atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
				event := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n"
				_, _ = fmt.Fprintf(c, "%x\r\n%s\r\n", len(event), event)
			}
			_ = c.Close()
		}
	}()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	p, _, err := Open(Options{Name: "openai/m", BaseURL: "http://" + l.Addr().String(), Client: &http.Client{Transport: tr}})
	if err != nil {
		t.Fatal(err)
	}
	h := modeltest.Listen(t, p, t.Context(), modeltest.Ask())
	if h.Text != "half" || h.Reply == nil || h.Reply.Stop != model.Cut || h.Reply.Message.Text() != h.Text || asked.Load() != 1 {
		t.Errorf("got %+v, %v after %d requests", h.Reply, h.Err, asked.Load())
	}
	if _, ok := errors.AsType[*model.Unavailable](h.Err); !ok {
		t.Errorf("got %v", h.Err)
	}
}
