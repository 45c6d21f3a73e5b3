package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// What doctor says of a provider: each way in which one is set up wrongly has its
// own words, and none shows the key.
func TestCheck(t *testing.T) {
	const key = "sk-hush-hush-hush"
	list := `{"object":"list","data":[{"id":"m"},{"id":"mini"},{"id":"other"}]}`
	says := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+key || r.URL.Path != "/v1/models" {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	noList := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"no such path"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, modeltest.Chat().Stream(modeltest.Chat().Events(short())))
	}
	mute := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, tt := range map[string]struct {
		model      string
		serve      http.HandlerFunc
		ok         bool
		note, hint string
	}{
		"fine":           {"mine/m", says(200, list), true, "3 models at 127.0.0.1", ""},
		"none chosen":    {"mine/", says(200, list), true, "3 models", ""},
		"refused key":    {"mine/m", says(401, `{"error":{"message":"bad key `+key+`","type":"authentication_error"}}`), false, "bad key [key] (HTTP 401)", "providers.mine.key"},
		"unknown model":  {"mine/mina", says(200, list), false, "mine/mina is not among its 3 models", "one of them: mini, m, other"},
		"a web page":     {"mine/m", says(200, "<html><title>Welcome</title>", "Content-Type", "text/html"), false, `a web page ("Welcome")`, "base URL"},
		"a lost page":    {"mine/m", says(404, "<html><title>Not found</title>", "Content-Type", "text/html"), false, "a web page", "base URL"},
		"another server": {"mine/m", says(200, `{"hello":1}`), false, "no list of models", "base URL"},
		"no list":        {"mine/m", noList, true, "mine/m answers", ""},
		"no list, none":  {"mine/", noList, false, "no list of models", "config set model mine/NAME"},
		"busy":           {"mine/m", says(503, "overloaded"), false, "overloaded (HTTP 503)", "too much to do"},
		"no credit":      {"mine/m", says(402, "pay"), false, "pay (HTTP 402)", "no credit"},
		"sends on":       {"mine/m", says(301, "", "Location", "https://elsewhere.test/v1?k=hush"), false, `sends on to "https://elsewhere.test/v1"`, "base URL"},
		"slow":           {"mine/m", says(200, list, "Date", "Sat, 01 Jan 2000 00:00:00 GMT"), false, "ahead of its server's", "set the clock"},
		"mute":           {"mine/m", mute, false, "deadline exceeded", "nothing answered in time"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(tt.serve)
			defer s.Close()
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			wait := 5 * time.Second
			if name == "mute" {
				wait = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			h := Check(ctx, Options{Name: tt.model, BaseURL: s.URL, Key: key, Client: &http.Client{Transport: tr}})
			if h.OK != tt.ok || !strings.Contains(h.Note, tt.note) || !strings.Contains(h.Hint, tt.hint) || strings.Contains(h.Note+h.Hint, "hush") {
				t.Errorf("got %+v, want %v, %q and %q", h, tt.ok, tt.note, tt.hint)
			}
		})
	}
}

func TestCheckOfEachDialect(t *testing.T) {
	for api, want := range map[string]struct{ path, header string }{
		"openai":    {"/v1/models", "Authorization"},
		"responses": {"/v1/models", "Authorization"},
		"anthropic": {"/v1/models?limit=1000", "X-Api-Key"},
		"gemini":    {"/v1beta/models?pageSize=1000", "X-Goog-Api-Key"},
	} {
		var asked string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			if !strings.Contains(r.Header.Get(want.header), "k-e-y") {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if api == "gemini" {
				_, _ = io.WriteString(w, `{"models":[{"name":"models/m"}]}`)
				return
			}
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
		}))
		tr := &http.Transport{}
		h := Check(t.Context(), Options{Name: "mine/m", API: api, BaseURL: s.URL, Key: "k-e-y", Client: &http.Client{Transport: tr}})
		if !h.OK || asked != want.path {
			t.Errorf("%s: %+v, asked %s", api, h, asked)
		}
		tr.CloseIdleConnections()
		s.Close()
	}
}

// What keeps a request from a server at all.
func TestCheckWithoutAWay(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := gone.Addr().String()
	_ = gone.Close()
	s, _ := secure(t)
	nobody := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nowhere.test", IsNotFound: true}}
	}
	for name, tt := range map[string]struct {
		o    Options
		tr   *http.Transport
		hint string
	}{
		"no key":          {Options{Name: "deepseek/m"}, &http.Transport{}, "set DEEPSEEK_API_KEY"},
		"unknown":         {Options{Name: "nobody/m"}, &http.Transport{}, "providers.nobody.base_url"},
		"nothing listens": {Options{Name: "openai/m", BaseURL: "http://" + dead}, &http.Transport{}, "nothing answers at that address"},
		"no such host":    {Options{Name: "openai/m", BaseURL: "http://nowhere.test"}, &http.Transport{DialContext: nobody}, "name of the host"},
		"own CA":          {Options{Name: "openai/m", BaseURL: s.URL}, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool()}}, "ca_file"},
		"dead proxy":      {Options{Name: "openai/m", BaseURL: "https://example.com"}, &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: dead})}, "proxy cannot be reached"},
		"no URL":          {Options{Name: "openai/m", BaseURL: "127.0.0.1:80"}, &http.Transport{}, "base URL"},
	} {
		tt.o.Client = &http.Client{Transport: tt.tr}
		h := Check(t.Context(), tt.o)
		tt.tr.CloseIdleConnections()
		if h.OK || h.Note == "" || !strings.Contains(h.Hint, tt.hint) {
			t.Errorf("%s: got %+v, want %q", name, h, tt.hint)
		}
	}
}

// TestCheckOfTroubleWithEachDialect: whatever a provider speaks, what is wrong with
// its server is said in words of its own, in bounded time.
func TestCheckOfTroubleWithEachDialect(t *testing.T) {
	const key = "sk-hush-hush-hush"
	says := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, d := range dialects() {
		for name, tt := range map[string]struct {
			serve      http.HandlerFunc
			note, hint string
		}{
			"a wrong key":                           {says(401, "application/json", d.Error("authentication_error", "bad "+key)), "bad [key] (HTTP 401)", "check "},
			"a page":                                {says(200, "text/html", "<title>Welcome</title>"), `a web page ("Welcome")`, "base URL"},
			"a wrong path":                          {says(404, "application/json", `{"error":"not found"}`), "no list of models", "base URL"},
			"words":                                 {says(200, "text/plain", "hello"), "no list of models", "base URL"},
			"overloaded":                            {says(529, "application/json", d.Error("overloaded_error", "Overloaded")), "Overloaded", "too much to do"},
			"behind a gateway that cannot reach it": {says(522, "text/html", "<title>522</title>"), "a web page", ""},
			"silent":                                {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "deadline exceeded", "nothing answered in time"},
			"slow": {func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, `{"data":[`)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}, "deadline exceeded", "nothing answered in time"},
			"dead": {nil, "connection refused", "nothing answers at that address"},
		} {
			t.Run(d.Name+"/"+name, func(t *testing.T) {
				s := httptest.NewServer(tt.serve)
				defer s.Close()
				if tt.serve == nil {
					s.Close()
				}
				tr := &http.Transport{}
				defer tr.CloseIdleConnections()
				wait := 5 * time.Second
				if strings.HasPrefix(name, "s") {
					wait = 50 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				h := Check(ctx, Options{Name: "mine/", API: apiOf(d), BaseURL: s.URL, Key: key, Client: &http.Client{Transport: tr}})
				if h.OK || !strings.Contains(h.Note, tt.note) || !strings.Contains(h.Hint, tt.hint) || strings.Contains(h.Note+h.Hint, "hush") {
					t.Errorf("got %+v, want %q and %q", h, tt.note, tt.hint)
				}
			})
		}
	}
}
