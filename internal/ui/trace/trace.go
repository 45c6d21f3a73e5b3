// Package trace shows a session as one HTML file, or live on this machine.
//
// The page needs nothing but itself: data, script and style are in it, and its
// Content-Security-Policy lets it reach nothing else. The script makes text of
// data in one place only, as text, with all that hides or reorders other
// characters shown as marks. docs/trace.md says what it shows and how it is kept.
package trace

import (
	"encoding/json"
	"io"
	"iter"

	"github.com/belay-agent/belay/internal/contract/event"
)

// A Source is a session to show.
type Source struct {
	Session string // its id

	// Events yields what there is, in order, and errors where something is
	// missing or cannot be shown in full.
	Events iter.Seq2[event.Event, error]

	// Artifact opens one by its handle.
	Artifact func(handle string) (io.ReadSeekCloser, error)

	// Window returns how many tokens fit into a request to a model, 0 where that
	// is not known. It may be nil.
	Window func(model string) int

	// Owners says whose the lines of a file are, after all events so far. It may
	// be nil.
	Owners func(path string) ([]Span, error)

	// Redact, unless nil, takes out what is not for others.
	Redact *Redaction
}

// A Span is a range of lines of a file that has one owner.
type Span struct {
	First int    `json:"first"` // from 1
	Last  int    `json:"last"`
	By    string `json:"by"`             // baseline, user or agent
	Call  string `json:"call,omitempty"` // of the agent
}

// A Report says what was written.
type Report struct {
	Events int
	Damage []string // what is missing in the session
	Left   []Left   // what is in the session and not in the file
}

// chunkEvents and chunkBytes bound what the page decodes at a time.
const (
	chunkEvents = 64
	chunkBytes  = 256 << 10
)

// Write writes the page to w. Its memory does not grow with what is said in the
// session, only with how many events, artifacts and files there are.
func Write(w io.Writer, s Source) (Report, error) {
	p := &pageWriter{w: w}
	p.head(static)
	f := newFeed(s)
	var c chunk
	for e, err := range s.Events {
		f.add(&c, e, err)
		if c.full() {
			p.chunk(c)
			c = chunk{}
		}
		if p.err != nil {
			return Report{}, p.err
		}
	}
	p.chunk(c)
	p.data("", "meta", f.meta())
	p.tail()
	return f.report(), p.err
}

// A chunk is some events in a row as the page reads them.
type chunk struct {
	Rows      []row                      `json:"rows"`
	Bodies    []json.RawMessage          `json:"bodies"`
	Artifacts map[string]json.RawMessage `json:"artifacts,omitempty"` // by digest
	order     []string                   // of the artifacts
	bytes     int
}

func (c *chunk) full() bool { return len(c.Rows) >= chunkEvents || c.bytes >= chunkBytes }

func (c *chunk) artifact(digest string, value json.RawMessage) {
	if c.Artifacts == nil {
		c.Artifacts = make(map[string]json.RawMessage)
	}
	c.Artifacts[digest] = value
	c.order = append(c.order, digest)
	c.bytes += len(value)
}
