package trace

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/event"
)

const (
	pollEvery  = 250 * time.Millisecond // how often a session is looked at for news
	pingEvery  = 15 * time.Second       // how often a reader that hears nothing is told that we are there
	maxReaders = 8                      // pages that are open at a time
	headWait   = 5 * time.Second
	writeWait  = 20 * time.Second // for a reader that does not take what it is sent
)

// Events are some events in order.
type Events = iter.Seq2[event.Event, error]

// A Live is a session that is being written: its Source, whose Events are not
// used, and what came since the last Next.
type Live struct {
	Source
	Next func() Events
}

// A Server shows a live session on this machine. Its address holds a token;
// whoever does not know it, or asks by another name than the server's own, as a
// page in the same browser would after its name was bound to this machine, gets
// nothing.
type Server struct {
	open    func() Live
	listen  net.Listener
	token   string
	readers chan struct{}
}

// Listen starts to listen. open gives each reader a view of its own, from the
// beginning.
func Listen(open func() Live) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Server{open: open, listen: l, token: rand.Text(), readers: make(chan struct{}, maxReaders)}, nil
}

// URL is where a browser finds it.
func (s *Server) URL() string { return "http://" + s.listen.Addr().String() + "/" + s.token + "/" }

// Serve serves until ctx is done, which is no error.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headWait, ReadTimeout: headWait, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listen) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	err := server.Close()
	<-ended
	return err
}

// ServeHTTP answers two addresses below the token, and only our own page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	token, what, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Host != s.listen.Addr().String(), !sameOrigin(r):
		http.Error(w, "not from here", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
		http.NotFound(w, r)
	case r.Method != http.MethodGet:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	case what == "":
		s.page(w)
	case what == "events":
		s.stream(w, r)
	default:
		http.NotFound(w, r)
	}
}

// sameOrigin reports whether a request is from our own page, or from the address
// line. What a browser says of a request no page can change.
func sameOrigin(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	// A link from elsewhere may open the page, whose token it knew.
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func (s *Server) page(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", thePage().policy(live)+"; frame-ancestors 'none'")
	var b bytes.Buffer
	p := &pageWriter{w: &b}
	p.head(live)
	p.tail()
	_, _ = w.Write(b.Bytes()) // to a browser that may be gone
}

// stream sends what there is, then what comes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
	default:
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := &stream{w: w, control: http.NewResponseController(w)}
	after, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil {
		after = 0
	}
	if err := s.run(r.Context(), out, after); err != nil && r.Context().Err() == nil {
		return // the reader is gone
	}
}

func (s *Server) run(ctx context.Context, out *stream, after int64) error {
	session := s.open()
	f := newFeed(session.Source)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	quiet := time.Duration(0)
	first := true
	for {
		sent, err := f.pass(ctx, session.Next(), out, after)
		if err != nil {
			return err
		}
		if sent || first {
			first = false
			quiet = 0
			if err := out.send(0, message{Meta: f.meta()}); err != nil {
				return err
			}
		} else if quiet += pollEvery; quiet >= pingEvery {
			quiet = 0
			if err := out.write([]byte(": here\n\n")); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// pass sends the events after a number, and reports whether there were any.
func (f *feed) pass(ctx context.Context, events Events, out *stream, after int64) (sent bool, err error) {
	var c chunk
	flush := func() error {
		if len(c.Rows) == 0 {
			return nil
		}
		sent = true
		err := out.send(c.Rows[len(c.Rows)-1].Seq, message{chunk: c})
		c = chunk{}
		return err
	}
	for e, problem := range events {
		if ctx.Err() != nil {
			return sent, ctx.Err()
		}
		f.add(&c, e, problem)
		if e.Seq != 0 && e.Seq <= after { // the reader has it, and what it needs of it is remembered
			c = chunk{}
		}
		if c.full() {
			if err := flush(); err != nil {
				return sent, err
			}
		}
	}
	return sent, flush()
}

// A message is what a page is sent at a time.
type message struct {
	chunk
	Meta json.RawMessage `json:"meta,omitempty"`
}

// A stream is a reader of server-sent events.
type stream struct {
	w       io.Writer
	control *http.ResponseController
}

func (s *stream) send(id int64, m message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode events: %w", err)
	}
	var line bytes.Buffer
	if id > 0 {
		fmt.Fprintf(&line, "id: %d\n", id)
	}
	line.WriteString("data: ")
	line.Write(tamed(b))
	line.WriteString("\n\n")
	return s.write(line.Bytes())
}

func (s *stream) write(b []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeWait)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}
