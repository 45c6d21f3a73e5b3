package modeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/belay-agent/belay/internal/contract/model"
)

// A Fixture is a conversation with a server that has a peculiarity, as an
// archive: where it was seen, then
//
//	options        "key: value" a line: name, api and base as settings have
//	               them; effort; schema; crlf for streams with such line ends
//	reply N ...    what the server answers to its N-th request, as it came;
//	               after N perhaps a status, and a content type
//	want N         what the N-th of the loop's requests comes to
//	sent N         "has TEXT" and "lacks TEXT" of the N-th request on the wire
//
// A call is answered with "ok"; where there is none the user says "go on".
type Fixture struct {
	Name, API, Base, Effort, Schema string
	Every                           int // its streams are parted at each so many bytes, and where that is awkward; 0 is 1

	replies []Response
	wants   []string
	sent    map[int]string
	archive *txtar.Archive
}

// ReadFixture reads the fixture in file.
func ReadFixture(t testing.TB, file string) Fixture {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(a.Comment), "https://github.com/") {
		t.Errorf("%s does not say where it was seen", file)
	}
	f := Fixture{Name: "openai/m", API: "openai", Base: "http://model.test/v1", sent: map[int]string{}, archive: a}
	crlf := false
	for _, part := range a.Files {
		words := strings.Fields(part.Name)
		data := string(part.Data)
		switch words[0] {
		case "options":
			for line := range strings.Lines(data) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				to := map[string]*string{"name": &f.Name, "api": &f.API, "base": &f.Base, "effort": &f.Effort, "schema": &f.Schema}[key]
				switch {
				case key == "crlf":
					crlf = true
				case to == nil:
					t.Fatalf("%s: option %q", file, key)
				default:
					*to = value
				}
			}
		case "reply":
			r := Response{Body: data}
			if len(words) > 2 {
				r.Status, err = strconv.Atoi(words[2])
			}
			if len(words) > 3 {
				r.Header = map[string]string{"Content-Type": words[3]}
			}
			f.replies = append(f.replies, r)
		case "want":
			f.wants = append(f.wants, data)
		case "sent":
			var n int
			n, err = strconv.Atoi(words[1])
			f.sent[n] = data
		default:
			t.Fatalf("%s: section %q", file, part.Name)
		}
		if err != nil {
			t.Fatalf("%s: section %q: %v", file, part.Name, err)
		}
	}
	if crlf {
		for i := range f.replies {
			f.replies[i].Body = strings.ReplaceAll(f.replies[i].Body, "\n", "\r\n")
		}
	}
	return f
}

// Opener opens the provider of a fixture over a client.
type Opener func(f Fixture, client *http.Client) (model.Provider, error)

// Run holds f against the provider that open opens: with its streams whole and
// byte by byte from a server, and parted as f.Every says, which are too many for
// sockets, from the handler itself. With update set the file is rewritten.
func (f Fixture) Run(t *testing.T, open Opener, file string, update bool) {
	s := &fixtureServer{}
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	client := server.Client()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	client.Transport = parting{client.Transport}
	got := f.converse(t, s, client, open, 0, 0)
	if update {
		f.rewrite(t, file, got)
		return
	}
	if d := cmp.Diff(f.wants, got); d != "" {
		t.Errorf("what it comes to (-want +got):\n%s", d)
	}
	f.checkSent(t, s.requests)
	if d := cmp.Diff(got, f.converse(t, s, client, open, 1, 0)); d != "" {
		t.Errorf("byte by byte it is another (-whole +bytes):\n%s", d)
	}
	client = &http.Client{Transport: parting{direct{s}}}
	longest := 0
	for _, r := range f.replies {
		longest = max(longest, len(r.Body))
	}
	for at := 1; at < longest; at++ {
		if f.Every > 1 && at%f.Every != 0 && !f.awkward(at) {
			continue
		}
		if d := cmp.Diff(got, f.converse(t, s, client, open, 0, at)); d != "" {
			t.Fatalf("parted at %d it is another (-whole +parted):\n%s", at, d)
		}
	}
}

// awkward reports whether at is amid the end of an event, or of a line of two
// bytes, or amid a character of one of the streams.
func (f Fixture) awkward(at int) bool {
	for _, r := range f.replies {
		if at >= len(r.Body) {
			continue
		}
		before, after := r.Body[at-1], r.Body[at]
		if !utf8.RuneStart(after) || before == '\n' && after == '\n' || before == '\r' || before == '\n' && after == '\r' {
			return true
		}
	}
	return false
}

// converse plays f once and returns what each request came to.
func (f Fixture) converse(t *testing.T, s *fixtureServer, client *http.Client, open Opener, chunk, at int) []string {
	s.begin(f.replies, chunk, at)
	p, err := open(f, client)
	if err != nil {
		t.Fatal(err)
	}
	history := []model.Message{Say(model.User, "go")}
	var came []string
	for n := range max(len(f.wants), 1) {
		req := Ask(history...)
		req.Effort = f.Effort
		if f.Schema != "" {
			req.Schema = []byte(f.Schema)
		}
		h := Listen(t, p, t.Context(), req)
		came = append(came, h.String())
		if h.Reply == nil {
			continue
		}
		history = append(history, answered(h.Reply.Message, n)...)
	}
	if left := s.left(); left != 0 {
		t.Errorf("%d of the replies were not asked for", left)
	}
	return came
}

// answered is a reply with its calls numbered, and the answer to it.
func answered(m model.Message, n int) []model.Message {
	said := m
	said.Parts = nil
	back := model.Message{Role: model.User}
	for _, p := range m.Parts {
		if c, ok := p.(model.Call); ok {
			c.ID = fmt.Sprintf("c%d-%d", n+1, len(back.Parts)+1)
			back.Parts = append(back.Parts, model.CallResult{Call: c.ID, Text: "ok"})
			p = c
		}
		said.Parts = append(said.Parts, p)
	}
	if len(back.Parts) == 0 {
		back = Say(model.User, "go on")
	}
	return []model.Message{said, back}
}

// String says what was heard, a thing a line.
func (h Heard) String() string {
	var b strings.Builder
	if h.Reply != nil {
		for _, p := range h.Reply.Message.Parts {
			switch p := p.(type) {
			case model.Text:
				fmt.Fprintf(&b, "said %q%s\n", p.Text, raw(p.Raw))
			case model.Reasoning:
				fmt.Fprintf(&b, "thought %q%s\n", p.Text, raw(p.Raw))
			case model.Call:
				if p.Malformed != "" {
					fmt.Fprintf(&b, "malformed call %s %q%s\n", p.Tool, p.Malformed, raw(p.Raw))
				} else {
					fmt.Fprintf(&b, "call %s %s%s\n", p.Tool, p.Args, raw(p.Raw))
				}
			}
		}
		fmt.Fprintf(&b, "stop %s\n", h.Reply.Stop)
		switch u := h.Reply.Usage; {
		case u.Estimated:
			b.WriteString("usage estimated\n")
		default:
			fmt.Fprintf(&b, "usage input %d cached %d output %d reasoning %d\n", u.Input, u.Cached, u.Output, u.Reasoning)
		}
		if h.Text != h.Reply.Message.Text() {
			fmt.Fprintf(&b, "but heard %q\n", h.Text)
		}
	}
	if h.Err != nil {
		fmt.Fprintf(&b, "%s: %v\n", errorKind(h.Err), h.Err)
	}
	return b.String()
}

func raw(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return " back " + string(b)
}

func errorKind(err error) string {
	if bad, ok := errors.AsType[*model.BadRequest](err); ok {
		return "bad request (" + bad.Hint + ")"
	}
	if _, ok := errors.AsType[*model.Rejection](err); ok {
		return "rejection"
	}
	if errors.Is(err, model.ErrOverflow) {
		return "overflow"
	}
	return "unavailable"
}

func (f Fixture) checkSent(t *testing.T, requests []string) {
	for n, lines := range f.sent {
		if n > len(requests) {
			t.Errorf("there is no request %d", n)
			continue
		}
		for line := range strings.Lines(lines) {
			verb, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if has := strings.Contains(requests[n-1], text); has != (verb == "has") {
				t.Errorf("request %d: %s %s\n%s", n, verb, text, requests[n-1])
			}
		}
	}
}

func (f Fixture) rewrite(t *testing.T, file string, came []string) {
	n := 0
	for i, part := range f.archive.Files {
		if strings.HasPrefix(part.Name, "want") {
			f.archive.Files[i].Data = []byte(came[n])
			n++
		}
	}
	if err := os.WriteFile(file, txtar.Format(f.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A direct transport asks a handler, without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// A fixtureServer plays replies and keeps what it was asked.
type fixtureServer struct {
	mu        sync.Mutex
	replies   []Response
	chunk, at int
	requests  []string
}

func (s *fixtureServer) begin(replies []Response, chunk, at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies, s.chunk, s.at, s.requests = replies, chunk, at, nil
}

func (s *fixtureServer) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.replies)
}

// ServeHTTP implements http.Handler.
func (s *fixtureServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	var who strings.Builder
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
		if v := r.Header.Get(name); v != "" {
			fmt.Fprintf(&who, "%s: %s\n", name, v)
		}
	}
	s.requests = append(s.requests, fmt.Sprintf("POST %s\n%s%s", r.URL, who.String(), body))
	resp := Response{Status: http.StatusTeapot, Body: "no reply is left"}
	if len(s.replies) > 0 {
		resp, s.replies = s.replies[0], s.replies[1:]
	}
	resp.Chunk, resp.At = s.chunk, s.at
	s.mu.Unlock()
	resp.write(w, r)
}
