// Package modeltest is what every provider of models must pass, and the strict
// server that it is tested against.
package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

// A Response is one answer of the server.
type Response struct {
	Status int // 0 means 200
	Header map[string]string
	Body   string
	Chunk  int  // bytes that arrive at a time; 0 means as they come
	At     int  // if not 0, where Body is parted in two
	Abort  bool // the connection breaks after Body instead of ending
	Hang   bool // nothing more comes, but the connection stays
}

// A Server is strict: it answers 400 to what Strict does not pass. It plays its
// responses one after the other; what comes beyond them gets 400 too.
type Server struct {
	URL    string // without /v1
	Client *http.Client

	dialect   Dialect
	reasoning []string

	mu        sync.Mutex
	responses []Response
	bodies    []string
	headers   []http.Header
	complaint error
}

// Serve starts a server that speaks d and knows the reasoning of the given
// replies as its own. It ends with the test, which fails if it had to complain.
func Serve(t testing.TB, d Dialect, own []Reply, responses ...Response) *Server {
	t.Helper()
	s := &Server{dialect: d, responses: responses}
	for _, r := range own {
		if raw := d.Reasoning(r); raw != "" {
			s.reasoning = append(s.reasoning, raw)
		}
	}
	server := httptest.NewServer(s)
	s.URL, s.Client = server.URL, server.Client()
	s.Client.Transport = parting{s.Client.Transport}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if err := s.Complaint(); err != nil {
			t.Errorf("the strict server rejects a request: %v", err)
		}
	})
	return s
}

// Bodies returns the requests so far.
func (s *Server) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.bodies...)
}

// Headers returns the headers of the requests so far.
func (s *Server) Headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]http.Header(nil), s.headers...)
}

// Complaint returns the first thing that was wrong with a request.
func (s *Server) Complaint() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complaint
}

// Forgive forgets what was wrong so far: the test looked for it.
func (s *Server) Forgive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complaint = nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = s.check(r, body)
	}
	resp, err := s.next(r, string(body), err)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, s.dialect.Error("invalid_request_error", err.Error()))
		return
	}
	resp.write(w, r)
}

func (s *Server) check(r *http.Request, body []byte) error {
	if r.Method != http.MethodPost || r.URL.Path != s.dialect.Path {
		return fmt.Errorf("%s %s", r.Method, r.URL.Path)
	}
	c, err := s.dialect.Parse(body)
	if err != nil {
		return err
	}
	return Strict(c, s.reasoning)
}

func (s *Server) next(r *http.Request, body string, err error) (Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	s.headers = append(s.headers, r.Header)
	if err == nil && len(s.responses) == 0 {
		err = fmt.Errorf("request %d is one too many", len(s.bodies))
	}
	if err != nil {
		if s.complaint == nil {
			s.complaint = err
		}
		return Response{}, err
	}
	resp := s.responses[0]
	s.responses = s.responses[1:]
	return resp, nil
}

func (resp Response) write(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range resp.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set(chunkHeader, strconv.Itoa(resp.Chunk))
	w.Header().Set(atHeader, strconv.Itoa(resp.At))
	if resp.Status != 0 {
		w.WriteHeader(resp.Status)
	}
	flush := func() { _ = http.NewResponseController(w).Flush() }
	if _, err := io.WriteString(w, resp.Body); err != nil {
		return
	}
	if resp.Hang {
		flush()
		<-r.Context().Done()
	}
	if resp.Abort {
		flush()
		panic(http.ErrAbortHandler)
	}
}

const (
	chunkHeader = "Test-Chunk"
	atHeader    = "Test-At"
)

// A parting transport hands bodies out in the pieces that the server asked for:
// a network may join what was sent apart.
type parting struct{ http.RoundTripper }

func (p parting) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	chunk, _ := strconv.Atoi(resp.Header.Get(chunkHeader)) // a number: our server set it
	at, _ := strconv.Atoi(resp.Header.Get(atHeader))
	resp.Body = &partedBody{resp.Body, chunk, at}
	return resp, nil
}

type partedBody struct {
	io.ReadCloser
	chunk, at int
}

func (b *partedBody) Read(p []byte) (int, error) {
	switch {
	case b.chunk > 0:
		p = p[:min(len(p), b.chunk)]
	case b.at > 0:
		p = p[:min(len(p), b.at)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.at > 0 {
		b.at -= n
	}
	return n, err
}
