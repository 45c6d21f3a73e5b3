package provider

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// TestBug_P08_EveryFormOfRetryAfter reads what servers ask for, and takes what makes
// no sense for nothing.
func TestBug_P08_EveryFormOfRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, tt := range []struct {
		header []string
		words  string
		want   time.Duration
	}{
		{[]string{"Retry-After", "3"}, "", 3 * time.Second},
		{[]string{"Retry-After", " 1.5 "}, "", 1500 * time.Millisecond},
		{[]string{"Retry-After", "0"}, "", 0},
		{[]string{"Retry-After", "-7"}, "", 0},
		{[]string{"Retry-After", "99999999999999999999"}, "", maxAfter},
		{[]string{"Retry-After", "1e400"}, "", 0},
		{[]string{"Retry-After", "Inf"}, "", maxAfter},
		{[]string{"Retry-After", "NaN"}, "", 0},
		{[]string{"Retry-After", "soon"}, "", 0},
		{[]string{"Retry-After", ""}, "", 0},
		{[]string{"Retry-After", at(40 * time.Second)}, "", 40 * time.Second},
		{[]string{"Retry-After", at(-time.Hour)}, "", 0},
		{[]string{"Retry-After", at(30 * time.Second), "Date", at(20 * time.Second)}, "", 10 * time.Second},
		{[]string{"Retry-After", at(-time.Hour + 30*time.Second), "Date", at(-time.Hour)}, "", 30 * time.Second}, // our clock is an hour ahead
		{[]string{"Retry-After", at(time.Hour + 30*time.Second), "Date", at(time.Hour)}, "", 30 * time.Second},   // ... or behind
		{[]string{"Retry-After-Ms", "250", "Retry-After", "9"}, "", 250 * time.Millisecond},
		{[]string{"Retry-After-Ms", "-1", "Retry-After", "9"}, "", 9 * time.Second},
		{[]string{"Retry-After-Ms", "x"}, "", 0},
		{[]string{"X-Ratelimit-Reset", "1772366430"}, "", 30 * time.Second},
		{[]string{"X-Ratelimit-Reset", "1772370030", "Date", at(time.Hour)}, "", 30 * time.Second},
		{nil, "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 1.898s. Visit https://platform.openai.com", 1898 * time.Millisecond},
		{nil, "Please try again in 547ms.", 547 * time.Millisecond},
		{nil, "Please try again in 6m0s.", 6 * time.Minute},
		{nil, "Please try again in 1h12m30s.", time.Hour + 12*time.Minute + 30*time.Second},
		{nil, "Please retry after 26 seconds.", 26 * time.Second},
		{nil, "Please retry in 34.074824224s.", 34074824224 * time.Nanosecond},
		{nil, "try again in 2 minutes and 5 seconds", 2*time.Minute + 5*time.Second},
		{nil, "try again later", 0},
		{nil, "try again in a moment", 0},
		{nil, "try again in ...s", 0},
		{[]string{"Retry-After", "3"}, "Please try again in 20s", 3 * time.Second},
	} {
		h := http.Header{}
		for i := 0; i < len(tt.header); i += 2 {
			h.Set(tt.header[i], tt.header[i+1])
		}
		got := retryAfter(h, now)
		if got == 0 {
			got = saidAfter(tt.words)
		}
		if got.Round(time.Microsecond) != tt.want.Round(time.Microsecond) {
			t.Errorf("%q, %q: %v, want %v", tt.header, tt.words, got, tt.want)
		}
	}
}

// TestBug_P08_TheBodySaysHowLong: Google and OpenAI have no header for it.
func TestBug_P08_TheBodySaysHowLong(t *testing.T) {
	quota := `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}`
	for body, want := range map[string]time.Duration{
		quota:               34 * time.Second,
		"[" + quota + "\n]": 34 * time.Second,
		`{"error":{"message":"Rate limit reached. Please try again in 20s.","type":"tokens","code":"rate_limit_exceeded"}}`: 20 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &line{answers: []answer{saysStatus(429, body), fine()}}
			begun := time.Now()
			short().Check(t, modeltest.Listen(t, openLine(t, l, Patience{}), t.Context(), modeltest.Ask()))
			if took := l.at[1].Sub(begun); took != want {
				t.Errorf("%s: asked again after %v, want %v", body, took, want)
			}
		})
		synctest.Test(t, func(t *testing.T) { // and so in a stream
			l := &line{answers: []answer{says200("event: error\ndata: " + strings.ReplaceAll(body, "\n", "") + "\n\n"), fine()}}
			begun := time.Now()
			short().Check(t, modeltest.Listen(t, openLine(t, l, Patience{}), t.Context(), modeltest.Ask()))
			if took := l.at[1].Sub(begun); took != want {
				t.Errorf("%s in a stream: asked again after %v, want %v", body, took, want)
			}
		})
	}
}

// TestBug_P08_AStormEnds: a server that is always busy, and wants to be asked again
// at once, is asked ever less often, and no longer than the deadline.
func TestBug_P08_AStormEnds(t *testing.T) {
	for _, header := range [][]string{{"Retry-After-Ms", "1"}, {"Retry-After", "0"}, {"Retry-After", "1"}, {"Retry-After", "garbage"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			l := &line{}
			for range 1000 {
				l.answers = append(l.answers, saysStatus(429, "busy", header...))
			}
			begun := time.Now()
			h := modeltest.Listen(t, openLine(t, l, Patience{}), t.Context(), modeltest.Ask())
			if kind(h.Err) != "unavailable" || !strings.Contains(h.Err.Error(), "times in 5m") {
				t.Errorf("%q: %v", header, h.Err)
			}
			if took := time.Since(begun); took > 5*time.Minute || took < 4*time.Minute || len(l.at) > 40 {
				t.Errorf("%q: %d requests in %v", header, len(l.at), took)
			}
		})
	}
}

// drip gives a byte a minute.
type drip struct {
	io.Reader
	r *http.Request
}

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Minute):
		return d.Reader.Read(p[:1])
	case <-d.r.Context().Done():
		return 0, d.r.Context().Err()
	}
}

func (drip) Close() error { return nil }

// TestBug_P08_SlowServers: one that sends a byte a minute, and one that never comes
// to its status.
func TestBug_P08_SlowServers(t *testing.T) {
	whole := modeltest.Chat().Stream(modeltest.Chat().Events(short()))
	for name, answers := range map[string]answer{
		"a body": func(r *http.Request) (*http.Response, error) {
			resp, err := says200("")(r)
			resp.Body = drip{strings.NewReader(strings.Repeat(": x\n", 1000) + whole), r}
			return resp, err
		},
		"a head": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"an error": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 500, Header: http.Header{}, Body: drip{strings.NewReader(strings.Repeat("x", 1000)), r}}, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			h := modeltest.Listen(t, openLine(t, &line{answers: []answer{answers}}, Patience{Attempts: 1}), t.Context(), modeltest.Ask())
			if took := time.Since(begun); kind(h.Err) != "unavailable" || took > 31*time.Minute {
				t.Errorf("%s: %v after %v", name, h.Err, took)
			}
		})
	}
}

// frames are what a server says over HTTP/2, by hand.
func h2(kind, flags byte, stream uint32, payload string) string {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:]
	head = append(head, kind, flags)
	return string(binary.BigEndian.AppendUint32(head, stream)) + payload
}

// TestHTTP2: a server that goes away before it answers is asked again, at once; one
// that goes away, or resets, in the middle of a reply has cut it.
func TestHTTP2(t *testing.T) {
	const headers, settings, goAway, data, reset = 1, 4, 7, 0, 3
	status := h2(headers, 4, 1, "\x88\x0f\x10\x11text/event-stream") // end of headers
	words := h2(data, 0, 1, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n")
	all := h2(data, 1, 1, modeltest.Chat().Stream(modeltest.Chat().Events(short())))
	for name, tt := range map[string]struct {
		first string // what the first connection says once it is asked
		want  string
	}{
		"away before":       {h2(goAway, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x00"), "whole"},
		"away with a cause": {h2(goAway, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x0benhance your calm"), "gone"},
		"away in a reply":   {status + words + h2(goAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x02"), "cut"},
		"reset in a reply":  {status + words + h2(reset, 0, 1, "\x00\x00\x00\x02"), "cut"},
		"away, and ends it": {status + h2(goAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00") + all, "whole"},
	} {
		t.Run(name, func(t *testing.T) {
			s, roots := secure(t)
			config := &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2"}}
			l, err := tls.Listen("tcp", "127.0.0.1:0", config)
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int32
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					answer := status + all
					if asked.Add(1) == 1 {
						answer = tt.first
					}
					sayHTTP2(c, h2(settings, 0, 0, ""), answer, name != "away in a reply")
				}
			}()
			tr := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}
			h := askOver(t, "https://"+l.Addr().String(), tr)
			tr.CloseIdleConnections()
			_ = l.Close()
			<-ended
			switch tt.want {
			case "whole":
				short().Check(t, h)
			case "gone":
				if kind(h.Err) != "unavailable" || h.Reply != nil {
					t.Errorf("%+v, %v", h.Reply, h.Err)
				}
			case "cut":
				if h.Text != "half" || h.Reply == nil || h.Reply.Stop != model.Cut || kind(h.Err) != "unavailable" || asked.Load() != 1 {
					t.Errorf("%q, %+v, %v after %d requests", h.Text, h.Reply, h.Err, asked.Load())
				}
			}
		})
	}
}

// sayHTTP2 opens a connection, waits for a request and answers it.
func sayHTTP2(c net.Conn, opening, answer string, stays bool) {
	defer c.Close() // the answer is over
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadFull(c, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	if _, err := io.WriteString(c, opening); err != nil {
		return
	}
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, size); err != nil {
			return
		}
		if (head[3] == 0 || head[3] == 1) && head[4]&1 != 0 { // the request has ended
			break
		}
	}
	if _, err := io.WriteString(c, answer); err == nil && stays {
		_, _ = io.Copy(io.Discard, c)
	}
}

// TestRedirectsToAnythingElse: no file is read, no other scheme tried, and no
// address that a redirect names is asked.
func TestRedirectsToAnythingElse(t *testing.T) {
	for _, to := range []string{"file:///etc/passwd", "//127.0.0.1:1/v1", "gopher://x", "?key=1", "", "\x7f", "http://[::1"} {
		for _, status := range []int{300, 301, 302, 304, 307, 399} {
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header()["Location"] = []string{to}
				w.WriteHeader(status)
			}))
			h := askOver(t, s.URL, &http.Transport{})
			s.Close()
			if _, err := url.Parse(to); kind(h.Err) == "unavailable" && err != nil && asked == 1 {
				continue // that is no answer
			}
			if !strings.HasPrefix(kind(h.Err), "bad 3") || asked != 1 || strings.Contains(h.Err.Error(), "root:") {
				t.Errorf("%d to %q: %v after %d requests", status, to, h.Err, asked)
			}
		}
	}
}
