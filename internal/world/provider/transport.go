package provider

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
)

const (
	someTries  = 6                      // of what may be gone in a moment
	fewTries   = 3                      // where nothing listens, more will not help
	firstPause = 500 * time.Millisecond // doubled for each attempt
	maxPause   = 30 * time.Second
)

// Patience bounds how long a provider tries. Its zero value stands for the
// defaults.
type Patience struct {
	Attempts int           // of one request; 0 means 6, and where the server is busy as many as fit
	Deadline time.Duration // after which no further attempt begins; 0 means 5 minutes
	Idle     time.Duration // without a byte; 0 means 5 minutes
	Mute     time.Duration // without a piece of the reply, though bytes come; 0 means 30 minutes
}

func (p Patience) withDefaults() Patience {
	if p.Deadline == 0 {
		p.Deadline = 5 * time.Minute
	}
	if p.Idle == 0 {
		p.Idle = 5 * time.Minute
	}
	if p.Mute == 0 {
		p.Mute = 30 * time.Minute
	}
	return p
}

// A transport posts requests to one endpoint and reads the streams that answer.
type transport struct {
	client   *http.Client
	url      *url.URL
	header   http.Header
	key      string // never shown
	setting  string // where the user sets the key
	model    string // as the user names it
	patience Patience
	refusals *refusals
}

// shown is the endpoint without what may be secret in it.
func (t *transport) shown() string {
	u := *t.url
	u.RawQuery = ""
	return u.Redacted()
}

// veil takes the key out of text that the server sent.
func (t *transport) veil(text string) string {
	if len(t.key) < 8 {
		return text
	}
	return strings.ReplaceAll(text, t.key, "[key]")
}

// A listener makes a reply out of a stream. It is used for one stream.
type listener interface {
	// hear takes one event. Deltas are what it says so far. The error is the
	// server's own, or about bytes that make no sense.
	hear(f frame) ([]model.Delta, error)

	// complete reports whether the reply has ended properly, and whether
	// anything that still matters may follow.
	complete() (ended, over bool)

	// reply returns what was heard.
	reply() model.Reply
}

// A saidError is what the server reports inside a stream.
type saidError struct{ body []byte }

func (e *saidError) Error() string { return string(e.body) }

// stream posts body until a reply begins, yields its deltas and, last, the
// Reply. Nothing is sent again once a delta was yielded.
func (t *transport) stream(ctx context.Context, body []byte, listen func() listener) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if err := t.refusals.of(body); err != nil {
			yield(nil, err)
			return
		}
		deadline := time.Now().Add(t.patience.Deadline)
		for n := 1; ; n++ {
			l := listen()
			o := t.attempt(ctx, body, l, yield)
			if o.left {
				return
			}
			if !o.spoke && model.Final(o.err) {
				t.refusals.keep(body, o.err)
			}
			if ctx.Err() != nil {
				o.err, o.again = context.Cause(ctx), false
			}
			switch {
			case o.err == nil:
				yield(l.reply(), nil)
				return
			case o.spoke:
				if r := l.reply(); yield(cutReply(r, r.Message.Text()), nil) {
					yield(nil, o.err)
				}
				return
			case !o.again || n >= t.patience.tries(o):
				yield(nil, o.err)
				return
			}
			if !t.pause(ctx, n, deadline, o.err, yield) {
				return
			}
		}
	}
}

// An outcome is how one attempt ended. Without err the reply is complete.
type outcome struct {
	err     error
	spoke   bool // deltas were yielded
	left    bool // whoever listened left
	again   bool // the request may be sent again
	unheard bool // no server took it
}

// attempt posts body once and lets l hear the answer.
func (t *transport) attempt(ctx context.Context, body []byte, l listener, yield func(model.Delta, error) bool) outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(t.patience.Idle, func() { cancel(errIdle) })
	defer idle.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url.String(), bytes.NewReader(body))
	if err != nil {
		return outcome{err: &model.BadRequest{Reason: fmt.Sprintf("post to %s: %v", t.shown(), err), Hint: "check the base URL"}}
	}
	req.Header = t.header.Clone()
	resp, err := t.client.Do(req)
	if err != nil {
		return t.broken(ctx, err)
	}
	defer resp.Body.Close() // what it says about a body that was read does not matter
	if resp.StatusCode != http.StatusOK || isPage(resp.Header) {
		return t.refused(resp)
	}
	return t.listen(ctx, resp.Body, idle, l, yield)
}

// isPage reports whether a reply calls itself a web page. What else it is shows
// in what it holds: servers name no type for a stream, or a wrong one.
func isPage(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "text/html"
}

// refused reads the body of what is not a stream.
func (t *transport) refused(resp *http.Response) (o outcome) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && len(body) == 0 {
		body = []byte(http.StatusText(resp.StatusCode))
	}
	o.err, o.again = t.fault(t.readRefusal(resp.StatusCode, resp.Header, body))
	return o
}
