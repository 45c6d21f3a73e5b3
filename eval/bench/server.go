package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A dialect is one of the APIs that a model server can speak.
type dialect string

const (
	openAI    dialect = "openai"
	anthropic dialect = "anthropic"
)

// A reply is what the model says to one request: one call, or an answer.
type reply struct {
	Tool string
	Args string // JSON
	Text string
}

// A server plays a model on loopback: it answers each request with the next of
// its replies, at once, whatever it was asked. It must be closed.
type server struct {
	dialect dialect
	replies []reply
	keep    bool // the bodies

	listener net.Listener
	http     *http.Server
	done     chan error

	mu     sync.Mutex // guards the rest
	first  time.Time  // when the first byte of the first request arrived
	bodies [][]byte
	asked  int
}

func serve(d dialect, replies []reply, keep bool) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &server{dialect: d, replies: replies, keep: keep, listener: l, done: make(chan error, 1)}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { s.done <- s.http.Serve(watched{l, s}) }()
	return s, nil
}

// heard returns when the first byte arrived, how many requests there were, and
// their bodies.
func (s *server) heard() (first time.Time, asked int, bodies [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first, s.asked, s.bodies
}

func (s *server) close() error {
	err := s.http.Close()
	<-s.done // says that it was closed
	return err
}

// environ points Belay at the server.
func (s *server) environ() []string {
	name := strings.ToUpper(string(s.dialect))
	return []string{name + "_BASE_URL=http://" + s.listener.Addr().String(), name + "_API_KEY=no-key-is-needed"}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	into := io.Discard
	if s.keep {
		into = &body
	}
	if _, err := io.Copy(into, r.Body); err != nil {
		return // whoever asked has gone
	}
	s.mu.Lock()
	n := s.asked
	s.asked++
	if s.keep {
		s.bodies = append(s.bodies, body.Bytes())
	}
	s.mu.Unlock()
	if n >= len(s.replies) {
		http.Error(w, "no reply is left", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, s.dialect.stream(n, s.replies[n])) // whoever asked may have gone
}

// stream renders the n-th reply as the events of d.
func (d dialect) stream(n int, r reply) string {
	text := r.Text
	if text == "" {
		text = "Next: " + r.Tool + "."
	}
	if d == anthropic {
		return messagesStream(n, text, r)
	}
	return chatStream(n, text, r)
}

func chatStream(n int, text string, r reply) string {
	var b strings.Builder
	chunk := func(delta, stop string) {
		fmt.Fprintf(&b, `data: {"id":"r%d","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", n, delta, stop)
	}
	chunk(`{"role":"assistant","content":`+quote(text)+`}`, "null")
	stop := `"stop"`
	if r.Tool != "" {
		stop = `"tool_calls"`
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"t%d","type":"function","function":{"name":%q,"arguments":%s}}]}`, n, r.Tool, quote(r.Args)), "null")
	}
	chunk(`{}`, stop)
	b.WriteString(`data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050}}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

func messagesStream(n int, text string, r reply) string {
	var b strings.Builder
	say := func(kind, rest string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest)
	}
	say("message_start", fmt.Sprintf(`,"message":{"id":"r%d","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1000,"output_tokens":1}}`, n))
	say("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	say("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+quote(text)+`}`)
	say("content_block_stop", `,"index":0`)
	stop := "end_turn"
	if r.Tool != "" {
		stop = "tool_use"
		say("content_block_start", fmt.Sprintf(`,"index":1,"content_block":{"type":"tool_use","id":"t%d","name":%q,"input":{}}`, n, r.Tool))
		say("content_block_delta", `,"index":1,"delta":{"type":"input_json_delta","partial_json":`+quote(r.Args)+`}`)
		say("content_block_stop", `,"index":1`)
	}
	say("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q},"usage":{"output_tokens":50}`, stop))
	say("message_stop", "")
	return b.String()
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("bench: a string is always JSON: " + err.Error())
	}
	return string(b)
}

// watched notes when the first byte arrives.
type watched struct {
	net.Listener
	server *server
}

func (l watched) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: c, server: l.server}, nil
}

type watchedConn struct {
	net.Conn
	server *server
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	now := time.Now()
	if n > 0 {
		c.server.mu.Lock()
		if c.server.first.IsZero() {
			c.server.first = now
		}
		c.server.mu.Unlock()
	}
	return n, err
}
