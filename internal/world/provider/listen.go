package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
)

const (
	maxReply = 64 << 20              // bytes of one stream
	maxHeard = 4096                  // calls of one reply, of which most would never run
	tailWait = 10 * time.Second      // for the count of tokens, once a reply has ended
	lastWait = 50 * time.Millisecond // for a stream to end once its reply is complete
)

var (
	errIdle      = errors.New("the stream fell silent")
	errMute      = errors.New("the stream is kept alive, and says nothing")
	errNoEnd     = errors.New("the reply does not say why it ended")
	errManyCalls = fmt.Errorf("the reply has more than %d calls", maxHeard)
	errStop      = errors.New("whoever listened left")
)

// A hearing is one stream on its way to a listener.
type hearing struct {
	l     listener
	yield func(model.Delta, error) bool
	split splitter

	spoke, left bool
	said        time.Time // when a piece of the reply last came
	begun       bool      // an event has come
	opening     []byte    // of a body without an event so far
	total       int       // bytes
}

func newHearing(l listener, yield func(model.Delta, error) bool) *hearing {
	h := &hearing{l: l, yield: yield, said: time.Now()}
	h.split = splitter{max: maxEvent, emit: h.take}
	return h
}

// take passes on what an event says.
func (h *hearing) take(f frame) error {
	h.begun, h.opening = true, nil
	if _, over := h.l.complete(); over {
		return nil
	}
	deltas, err := h.l.hear(f)
	for _, d := range deltas {
		h.spoke, h.said = true, time.Now()
		if !h.yield(d, nil) {
			h.left = true
			return errStop
		}
	}
	return err
}

// write takes the next bytes; err is how their reading ended. It returns what is
// wrong with them.
func (h *hearing) write(p []byte, err error) error {
	h.total += len(p)
	if room := maxErrorBody - len(h.opening); !h.begun && room > 0 {
		h.opening = append(h.opening, p[:min(len(p), room)]...)
	}
	heard := h.split.write(p)
	if err == io.EOF && heard == nil {
		heard = h.split.close()
	}
	if heard == nil && h.total > maxReply {
		heard = ErrEventTooLarge
	}
	return heard
}

// listen hands what arrives to l, as events, until the reply is over. The timer
// ends ctx.
func (t *transport) listen(ctx context.Context, body io.Reader, idle *time.Timer, l listener, yield func(model.Delta, error) bool) outcome {
	h := newHearing(l, yield)
	buf := make([]byte, 16<<10)
	for closing := false; ; {
		n, err := body.Read(buf)
		heard := h.write(buf[:n], err)
		if heard == nil && err == nil && time.Since(h.said) > t.patience.Mute {
			err = errMute
		}
		ended, over := l.complete()
		switch {
		case !ended:
			idle.Reset(t.patience.Idle)
		case !closing:
			closing = true
			idle.Reset(min(tailWait, t.patience.Idle))
		}
		switch {
		case h.left:
			return outcome{left: true}
		case heard != nil && !ended:
			return t.misheard(h.spoke, heard)
		case over && !ended:
			return t.misheard(h.spoke, errNoEnd)
		case over && err == nil:
			idle.Reset(lastWait) // at its end the connection can be used again
			_, _ = io.CopyN(io.Discard, body, maxErrorBody)
			return outcome{spoke: h.spoke}
		case heard == nil && err == nil:
			continue
		case ended:
			return outcome{spoke: h.spoke}
		case err == io.EOF && !h.begun:
			return t.noStream(h.opening)
		case err == io.EOF:
			err = io.ErrUnexpectedEOF
		}
		b := t.broken(ctx, err)
		b.spoke = h.spoke
		return b
	}
}

// misheard judges an error in what arrived.
func (t *transport) misheard(spoke bool, err error) outcome {
	o := outcome{spoke: spoke}
	if said, ok := errors.AsType[*saidError](err); ok {
		o.err, o.again = t.streamFault(said.body)
		return o
	}
	o.err = &model.Unavailable{Err: fmt.Errorf("understand %s: %w", t.shown(), err)}
	o.again = !errors.Is(err, ErrEventTooLarge)
	return o
}

// noStream judges a body under a status of 200 that came to its end without an
// event: an error, an answer that is no stream, a page, or nothing.
func (t *transport) noStream(body []byte) (o outcome) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")))
	first, _, _ := bytes.Cut(body, []byte("\n"))
	words, _ := unwrapError(body)
	switch {
	case len(body) == 0 || body[0] == ':': // a comment keeps a connection alive
		o.err, o.again = &model.Unavailable{Err: fmt.Errorf("reach %s: %w", t.shown(), io.ErrUnexpectedEOF)}, true
	case body[0] == '<':
		o.err, o.again = t.fault(t.readRefusal(http.StatusOK, http.Header{}, body))
	case words != "":
		o.err, o.again = t.streamFault(body)
	case json.Valid(body) || json.Valid(first):
		o.err = &model.BadRequest{
			Status: http.StatusOK,
			Reason: t.shown() + " answers with JSON, not with a stream",
			Hint:   "check the base URL, and that the server can stream",
		}
	default:
		what := clip(strings.ToValidUTF8(t.veil(string(body)), "?"), 200)
		o.err, o.again = &model.Unavailable{Err: fmt.Errorf("understand %s: it answers with no stream of events: %q", t.shown(), what)}, true
	}
	return o
}
