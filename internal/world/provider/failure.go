package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
)

const (
	maxErrorBody = 64 << 10 // bytes of an error's body that are read
	maxReason    = 2 << 10  // bytes of it that are shown
)

// A refusal is what a server says when it does not answer.
type refusal struct {
	status int
	header http.Header
	words  string // its message
	code   string // its type and code, where it gives them
	wait   string // how long to wait, where the body has a field for that
	html   bool
}

// readRefusal makes out what the body of an error says, in any of the shapes
// that servers use. The key is taken out before anything else: half of it, where a
// text is cut, would not be found.
func (t *transport) readRefusal(status int, header http.Header, body []byte) refusal {
	r := refusal{status: status, header: header}
	text := bytes.TrimSpace([]byte(t.veil(string(body))))
	if len(text) > 0 && text[0] == '<' || strings.Contains(header.Get("Content-Type"), "text/html") {
		r.html = true
		r.words = "the server sent a web page"
		if title := titleRE().FindSubmatch(text); title != nil {
			r.words += fmt.Sprintf(" (%q)", html.UnescapeString(string(bytes.TrimSpace(title[1]))))
		}
		return r
	}
	r.words, r.code = unwrapError(text)
	if m := retryInfoRE().FindSubmatch(text); m != nil {
		r.wait = "retry in " + string(m[1])
	}
	if r.words == "" {
		r.words = string(text)
	}
	if r.words == "" {
		r.words = http.StatusText(status)
	}
	r.words = clip(strings.ToValidUTF8(r.words, "?"), maxReason)
	return r
}

// pattern is a regular expression that is compiled when it is first needed:
// most runs see no failure.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var titleRE = pattern(`(?is)<title[^>]*>(.{1,200}?)</title>`)

// unwrapError finds the message, and the type and code, in an error's JSON:
// {"error":{...}}, {"error":"..."}, [{"error":...}], {"message":...},
// {"detail":...}.
func unwrapError(text []byte) (words, code string) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0]
	}
	var said string
	if json.Unmarshal(text, &said) == nil {
		return said, ""
	}
	var body struct {
		Error, Message, Detail json.RawMessage
		Type, Code             any
		Metadata               loose[struct{ Raw string }] // of a router: what the provider behind it said
	}
	if json.Unmarshal(text, &body) != nil {
		return "", ""
	}
	if len(body.Error) > 0 && string(body.Error) != "null" {
		if words, code = unwrapError(body.Error); words == "" {
			words = string(body.Error)
		}
	}
	for _, raw := range []json.RawMessage{body.Message, body.Detail} {
		if words == "" && len(raw) > 0 && string(raw) != "null" {
			if json.Unmarshal(raw, &words) != nil {
				words = string(raw)
			}
		}
	}
	if behind := body.Metadata.is; behind != nil && behind.Raw != "" {
		inner, its := unwrapError([]byte(behind.Raw))
		if inner == "" {
			inner = behind.Raw
		}
		words, code = words+": "+inner, strings.TrimSpace(code+" "+its)
	}
	for _, c := range []any{body.Type, body.Code} {
		if c != nil {
			code = strings.TrimSpace(fmt.Sprintf("%s %v", code, c))
		}
	}
	return words, code
}

// overflowRE knows how servers say that a request is too long for the model; its
// test says which does so where. throttledRE knows those that say so of a rate.
var (
	overflowRE = pattern(`(?i)context_length_exceeded|model_context_window_exceeded|exceed_context_size|request_too_large|` +
		`(maximum|max) context|context (length|window|size|limit)|maximum prompt length|` +
		`(prompt|input|request|messages?) (is |are |was )?too (long|large|many tokens)|` +
		`too many (input |prompt )?tokens|tokens in request more than|(prompt|input|request) exceeds (the )?max|` +
		`exceeds? the (available |model'?s? )?(context|maximum (allowed )?((number|length) of |input length of )?(input )?tokens?|maximum allowed input)|` +
		`input tokens? (count|exceed).{0,60}(exceeds|supports up to|limit)|exceeded model token limit|` +
		`range of input length should be|context the overflows|max_tokens must be at least 1, got -|` +
		`extra usage is required for long context|reduce the length of (the|your) (messages|prompt|input)`)
	throttledRE = pattern(`(?i)throttl|rate.?limit|(tokens|requests) per (minute|day|hour)|please wait`)
)

// brokeRE knows how servers say that an account is out of money, which no
// waiting mends.
var brokeRE = pattern(`(?i)insufficient_quota|credit balance is too low|insufficient (balance|credit)|billing_hard_limit|payment required`)

// passes reports whether a status may be gone in a moment. Those of 520 to 530 are
// of what stands before the server.
func passes(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusNetworkAuthenticationRequired:
		return false
	}
	return status >= 500
}

// busy are the statuses of a server that has too much to do.
var busy = []int{429, 503, 529}

// fault turns r into one of the errors of a model.Provider. again tells whether
// the same request may succeed later.
func (t *transport) fault(r refusal) (err error, again bool) {
	said := r.words + " " + r.code
	bad := &model.BadRequest{Status: r.status, Reason: r.words}
	switch {
	case r.status >= 300 && r.status < 400:
		bad.Reason = fmt.Sprintf("%s sends on to %q, which is not followed", t.shown(), t.veil(elsewhere(r.header)))
		bad.Hint = "if that is the API, set the base URL to it"
		return bad, false
	case r.html && !passes(r.status):
		bad.Hint = fmt.Sprintf("check the base URL %s: something there is not the API, or a proxy stands between", t.shown())
		return bad, false
	case brokeRE().MatchString(said) || r.status == http.StatusPaymentRequired:
		bad.Hint = "the account has no credit left; check its billing"
		return bad, false
	case r.status == http.StatusRequestEntityTooLarge, r.overflows(said):
		return fmt.Errorf("%w: %s", model.ErrOverflow, r.words), false
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden, strings.Contains(r.code, "authentication_error"):
		bad.Hint = "check " + t.setting
		return bad, false
	case r.status == http.StatusProxyAuthRequired:
		bad.Hint = proxyHint
		return bad, false
	case r.status == http.StatusMethodNotAllowed:
		bad.Hint = fmt.Sprintf("check the base URL: %s takes no such requests", t.shown())
		return bad, false
	case r.status == http.StatusNotFound, strings.Contains(r.code, "model_not_found"):
		bad.Reason = fmt.Sprintf("model %s at %s: %s", t.model, t.shown(), r.words)
		bad.Hint = "check the name of the model, and the base URL"
		return bad, false
	case passes(r.status):
		after := retryAfter(r.header, time.Now())
		if after == 0 {
			after = saidAfter(r.wait + " " + r.words)
		}
		return &model.Unavailable{After: after, Busy: slices.Contains(busy, r.status), Err: fmt.Errorf("%s: %s (HTTP %d)", t.shown(), r.words, r.status)}, true
	}
	return final(bad), false
}

// elsewhere returns where a redirect leads, without what may be secret in it.
func elsewhere(h http.Header) string {
	u, err := url.Parse(h.Get("Location"))
	if err != nil {
		return ""
	}
	u.RawQuery = ""
	return clip(u.Redacted(), maxReason)
}

// overflows reports whether the words mean that the request is too long. Under
// 429 they rather speak of a rate, unless it is the one request that is above
// it.
func (r refusal) overflows(said string) bool {
	switch r.status {
	case http.StatusTooManyRequests, http.StatusForbidden:
		low := strings.ToLower(said)
		return strings.Contains(low, "request too large") || strings.Contains(low, "usage is required for long context")
	case http.StatusUnauthorized, http.StatusNotFound:
		return false
	}
	return overflowRE().MatchString(said) && !throttledRE().MatchString(said)
}

// streamStatus returns the status that would go with an error which a stream
// names under a status of 200; 0 if it is not known.
func streamStatus(word string) int {
	switch word {
	case "invalid_request_error":
		return 400
	case "authentication_error":
		return 401
	case "billing_error":
		return 402
	case "permission_error":
		return 403
	case "not_found_error":
		return 404
	case "request_too_large":
		return 413
	case "rate_limit_error", "rate_limit_exceeded":
		return 429
	case "api_error", "server_error", "internal_server_error":
		return 500
	case "timeout_error":
		return 504
	case "overloaded_error":
		return 529
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
		return n
	}
	return 0
}

// streamFault turns the error that a stream carries under a status of 200 into
// one of the errors of a model.Provider.
func (t *transport) streamFault(body []byte) (err error, again bool) {
	r := t.readRefusal(0, nil, body)
	r.status = 500 // what is not explained is theirs
	for _, word := range strings.Fields(r.code) {
		if s := streamStatus(word); s != 0 {
			r.status = s
			break
		}
	}
	return t.fault(r)
}
