package provider

import (
	"bytes"
	"context"
	"errors"
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
	maxReply   = 64 << 20               // bytes of one stream
	someTries  = 6                      // of what may be gone in a moment
	fewTries   = 3                      // where nothing listens, more will not help
	firstPause = 500 * time.Millisecond // doubled for each attempt
	maxPause   = 30 * time.Second
	lastWait   = 50 * time.Millisecond // for a stream to end once its reply is complete
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
			if o.refused {
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
	refused bool // these bytes will never be taken
}

var (
	errIdle  = errors.New("the stream fell silent")
	errMute  = errors.New("the stream is kept alive, and says nothing")
	errNoEnd = errors.New("the reply does not say why it ended")
)

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
	if resp.StatusCode != http.StatusOK || !streams(resp.Header) {
		return t.refused(resp)
	}
	return t.listen(ctx, resp.Body, idle, l, yield)
}

// streams reports whether a reply can be a stream of events; some servers
// name no type, or plain text.
func streams(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err != nil || kind != "text/html" && kind != "application/json"
}

// refused reads the body of what is not a stream.
func (t *transport) refused(resp *http.Response) outcome {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && len(body) == 0 {
		body = []byte(http.StatusText(resp.StatusCode))
	}
	r := readRefusal(resp.StatusCode, resp.Header, body)
	if resp.StatusCode != http.StatusOK || r.html {
		o := outcome{}
		o.err, o.again = t.fault(r)
		o.refused = neverTaken(resp.StatusCode, o.err)
		return o
	}
	if words, _ := unwrapError(body); words != "" {
		o := outcome{}
		o.err, o.again = t.streamFault(body)
		return o
	}
	return outcome{err: &model.BadRequest{
		Status: resp.StatusCode,
		Reason: fmt.Sprintf("%s answers with %s, not with a stream", t.shown(), resp.Header.Get("Content-Type")),
		Hint:   "check the base URL, and that the server can stream",
	}}
}

// listen hands what arrives to l, as events, until the reply is over.
func (t *transport) listen(ctx context.Context, body io.Reader, idle *time.Timer, l listener, yield func(model.Delta, error) bool) outcome {
	var o outcome
	said := time.Now()
	errStop := errors.New("heard enough")
	s := splitter{max: maxEvent, emit: func(f frame) error {
		if _, over := l.complete(); over {
			return nil
		}
		deltas, err := l.hear(f)
		for _, d := range deltas {
			o.spoke, said = true, time.Now()
			if !yield(d, nil) {
				o.left = true
				return errStop
			}
		}
		return err
	}}
	buf := make([]byte, 16<<10)
	for total := 0; ; {
		n, err := body.Read(buf)
		idle.Reset(t.patience.Idle)
		total += n
		heard := s.write(buf[:n])
		if err == io.EOF && heard == nil {
			heard = s.close()
		}
		if heard == nil && total > maxReply {
			heard = ErrEventTooLarge
		}
		if heard == nil && err == nil && time.Since(said) > t.patience.Mute {
			err = errMute
		}
		ended, over := l.complete()
		switch {
		case o.left:
			return o
		case heard != nil && !ended:
			return t.misheard(o, heard)
		case over && !ended:
			return t.misheard(o, errNoEnd)
		case over && err == nil:
			idle.Reset(lastWait) // at its end the connection can be used again
			_, _ = io.CopyN(io.Discard, body, maxErrorBody)
			return o
		case err == nil:
			continue
		case ended:
			return o
		case err == io.EOF:
			err = io.ErrUnexpectedEOF
		}
		b := t.broken(ctx, err)
		b.spoke = o.spoke
		return b
	}
}

// misheard judges an error in what arrived.
func (t *transport) misheard(o outcome, err error) outcome {
	if said, ok := errors.AsType[*saidError](err); ok {
		o.err, o.again = t.streamFault(said.body)
		return o
	}
	o.err = &model.Unavailable{Err: fmt.Errorf("understand %s: %w", t.shown(), err)}
	o.again = !errors.Is(err, ErrEventTooLarge)
	return o
}
