package otel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// An Exporter sends spans to a collector by OTLP over HTTP, in JSON.
type Exporter struct {
	URL     string            // of traces: see Endpoint
	Headers map[string]string // of each request, such as a key
	Version string            // of Belay
	Client  *http.Client      // nil is one that follows no redirect
}

// Limits of one request: a collector's own limit is 20 MiB, or 4.
const (
	maxSpans = 512
	maxReply = 64 << 10
	maxWait  = 10 * time.Second // that a collector may ask for
	retries  = 3
)

// Endpoint returns the URL of traces of a collector: base with "/v1/traces" after
// it, unless it is there.
func Endpoint(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q is not the address of a collector, such as http://localhost:4318", base)
	}
	const path = "/v1/traces"
	if !strings.HasSuffix(u.Path, path) {
		u.Path = strings.TrimSuffix(u.Path, "/") + path
	}
	return u.String(), nil
}

// ErrPartial reports spans that a collector took in, but not all of them.
var ErrPartial = errors.New("the collector rejected spans")

// Send sends spans, in several requests if they are many. It tries again where
// that can help, until ctx ends.
func (x Exporter) Send(ctx context.Context, spans []Span) error {
	var rejected error
	for len(spans) > 0 {
		n := min(len(spans), maxSpans)
		body, err := x.Encode(spans[:n])
		if err != nil {
			return err
		}
		switch err := x.post(ctx, body); {
		case errors.Is(err, ErrPartial):
			rejected = err
		case err != nil:
			return fmt.Errorf("send spans to %s: %w", x.URL, err)
		}
		spans = spans[n:]
	}
	return rejected
}

// Encode returns the request that holds spans.
func (x Exporter) Encode(spans []Span) ([]byte, error) {
	type scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	type scoped struct {
		Scope scope  `json:"scope"`
		Spans []Span `json:"spans"`
	}
	type resource struct {
		Attrs []Attribute `json:"attributes"`
	}
	type resourced struct {
		Resource resource `json:"resource"`
		Scopes   []scoped `json:"scopeSpans"`
	}
	attrs := []Attribute{text("service.name", "belay")}
	if x.Version != "" {
		attrs = append(attrs, text("service.version", x.Version))
	}
	return json.Marshal(struct {
		Resources []resourced `json:"resourceSpans"`
	}{[]resourced{{resource{attrs}, []scoped{{scope{"github.com/belay-agent/belay", x.Version}, spans}}}}})
}

// post sends one request, again where the collector says that it may be sent
// again.
func (x Exporter) post(ctx context.Context, body []byte) (err error) {
	wait := 500 * time.Millisecond
	for try := 0; ; try++ {
		var again time.Duration
		again, err = x.once(ctx, body)
		if err == nil || again < 0 || try == retries {
			return err
		}
		timer := time.NewTimer(max(again, wait))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w; given up: %w", err, context.Cause(ctx))
		}
		wait *= 2
	}
}

// once sends one request. Where an error may not come back, again is how long to
// wait at least, and else negative.
func (x Exporter) once(ctx context.Context, body []byte) (again time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.URL, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range x.Headers {
		req.Header.Set(name, value)
	}
	client := x.Client
	if client == nil { // a redirect would take headers, and what is sent, elsewhere
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	resp, err := client.Do(req)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok { // it says again where to
			err = outer.Err
		}
		return 0, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	switch {
	case resp.StatusCode/100 == 2 && err == nil:
		return -1, partial(reply)
	case resp.StatusCode/100 == 2:
		return 0, err
	}
	err = fmt.Errorf("HTTP %s: %s", resp.Status, brief(reply))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(resp.Header.Get("Retry-After")), err
	}
	return -1, err
}

func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(header))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxWait)
}

// partial reports spans that a collector says it rejected.
func partial(reply []byte) error {
	var r struct {
		Partial struct {
			Rejected any    `json:"rejectedSpans"` // a number, or one in a string
			Message  string `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(reply, &r) != nil {
		return nil
	}
	switch fmt.Sprint(r.Partial.Rejected) {
	case "<nil>", "0", "":
		return nil
	}
	return fmt.Errorf("%w: %v of them: %s", ErrPartial, r.Partial.Rejected, brief([]byte(r.Partial.Message)))
}

// brief returns the first line of an answer, which may be a page.
func brief(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if r := []rune(line); len(r) > 200 {
		line = string(r[:200]) + "…"
	}
	return strconv.Quote(line)
}
