package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
)

// tries is how often a request is sent, at most, when the last attempt ended so.
// A busy server is asked until the deadline.
func (p Patience) tries(o outcome) int {
	most := p.Attempts
	if most == 0 {
		most = someTries
		if u, ok := errors.AsType[*model.Unavailable](o.err); ok && u.Busy {
			most = math.MaxInt
		}
	}
	if o.unheard {
		most = min(most, fewTries)
	}
	return most
}

// pause waits before the attempt after the n-th, at least as long as the server
// asks for. It reports whether there is to be one; where that would be after the
// deadline it says so, and how long the server asked for.
func (t *transport) pause(ctx context.Context, n int, deadline time.Time, why error, yield func(model.Delta, error) bool) bool {
	wait := maxPause
	if n < 7 {
		wait = min(firstPause<<(n-1), maxPause)
	}
	wait = wait/2 + rand.N(wait/2+1)
	u, _ := errors.AsType[*model.Unavailable](why)
	if u != nil {
		wait = max(wait, u.After) // a server that asks for a millisecond gets no storm
	}
	until := time.Now().Add(wait)
	if until.After(deadline) {
		yield(nil, t.tooLong(u, n, deadline, why))
		return false
	}
	if !yield(model.Waiting{Until: until, Why: why.Error()}, nil) {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		yield(nil, context.Cause(ctx))
		return false
	}
}

// tooLong says why there is no attempt after the n-th.
func (t *transport) tooLong(u *model.Unavailable, n int, deadline time.Time, why error) error {
	if u == nil {
		return why
	}
	limit := inWords(t.patience.Deadline)
	told := *u
	if at := time.Now().Add(u.After); u.After > maxPause && at.After(deadline) { // else it is the many attempts that took long
		told.Err = fmt.Errorf("%w; it asks to be left alone for %s, until %s, and Belay waits for %s at most", u.Err, inWords(u.After), at.Format("15:04:05 on 2 January"), limit)
	} else {
		told.Err = fmt.Errorf("%w; it was asked %d times in %s", u.Err, n, limit)
	}
	return &told
}

// inWords writes d without the units that are zero at its end.
func inWords(d time.Duration) string {
	s := d.Round(time.Second).String()
	if d < time.Second {
		return d.String()
	}
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// maxAfter bounds what a server can ask for, so that nothing overflows.
const maxAfter = 30 * 24 * time.Hour

// retryAfter reads how long the server wants to be left alone; 0 if it does not
// say. Dates count from the server's own clock, if it names its time: ours may be
// off.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if its, err := http.ParseTime(h.Get("Date")); err == nil {
		now = its
	}
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 {
		return after(ms / 1000)
	}
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			return after(s)
		}
		if at, err := http.ParseTime(v); err == nil {
			return after(at.Sub(now).Seconds())
		}
	}
	var longest time.Duration
	for _, limit := range []struct{ reset, left string }{
		{"X-Ratelimit-Reset", "X-Ratelimit-Remaining"},
		{"X-Ratelimit-Reset-Requests", "X-Ratelimit-Remaining-Requests"},
		{"X-Ratelimit-Reset-Tokens", "X-Ratelimit-Remaining-Tokens"},
		{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Requests-Remaining"},
		{"Anthropic-Ratelimit-Tokens-Reset", "Anthropic-Ratelimit-Tokens-Remaining"},
	} {
		if left := strings.TrimSpace(h.Get(limit.left)); left == "" && limit.left != "X-Ratelimit-Remaining" || left != "" && left != "0" {
			continue // that is not the limit that was reached
		}
		longest = max(longest, resetIn(strings.TrimSpace(h.Get(limit.reset)), now))
	}
	return longest
}

// What bodies say of it: RetryInfo of Google, and the words of OpenAI and of those
// who repeat them.
var (
	retryInfoRE = pattern(`"retryDelay"\s*:\s*"([0-9.]{1,12}s)"`)
	afterRE     = pattern(`(?i)(?:try again|retry)(?: in| after)? ((?:[0-9.]{1,20} ?(?:ms|h|m|s)[a-z]*,? ?(?:and )?)+)`)
	unitRE      = pattern(`(?i)([0-9.]{1,20}) ?(ms|h|m|s)`)
)

// saidAfter reads how long the words of a refusal ask to wait; 0 if they do not.
func saidAfter(words string) time.Duration {
	m := afterRE().FindStringSubmatch(words)
	if m == nil {
		return 0
	}
	seconds := 0.0
	for _, part := range unitRE().FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0
		}
		seconds += n * map[string]float64{"ms": 0.001, "s": 1, "m": 60, "h": 3600}[strings.ToLower(part[2])]
	}
	return after(seconds)
}

// resetIn reads when a limit is lifted: a duration, seconds, or a time in one of
// the forms that servers use.
func resetIn(v string, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		switch {
		case n > 1e11: // milliseconds since 1970
			return after(time.UnixMilli(int64(min(n, 1e15))).Sub(now).Seconds())
		case n > 1e9: // seconds since 1970
			return after(time.Unix(int64(n), 0).Sub(now).Seconds())
		}
		return after(n)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return after(d.Seconds())
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return after(at.Sub(now).Seconds())
	}
	return 0
}

// after returns seconds as a duration, 0 where they are none.
func after(seconds float64) time.Duration {
	if !(seconds > 0) { // nor a number
		return 0
	}
	return time.Duration(min(seconds, maxAfter.Seconds()) * float64(time.Second))
}

// broken judges a connection that failed or broke off.
func (t *transport) broken(ctx context.Context, err error) outcome {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, errIdle) {
		err = fmt.Errorf("nothing arrived for %v: %w", t.patience.Idle, err)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if hint := mendable(err); hint != "" {
		return outcome{err: &model.BadRequest{Reason: fmt.Sprintf("reach %s: %v", t.shown(), err), Hint: hint}}
	}
	op, dialing := errors.AsType[*net.OpError](err)
	o := outcome{again: true, unheard: dialing && (op.Op == "dial" || op.Op == "proxyconnect")}
	o.err = &model.Unavailable{Err: fmt.Errorf("reach %s: %w", t.shown(), err)}
	return o
}

// A ProxyRefusal is a proxy that does not lead on.
type ProxyRefusal struct {
	Proxy  string // without a password
	Status int
}

func (p *ProxyRefusal) Error() string {
	return fmt.Sprintf("the proxy %s refuses to lead there: %d %s", p.Proxy, p.Status, http.StatusText(p.Status))
}

// CheckProxy is for http.Transport.OnProxyConnectResponse: it tells what a proxy
// answers from what a server does.
func CheckProxy(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &ProxyRefusal{proxy.Redacted(), answer.StatusCode}
}

const proxyHint = "the proxy wants a name and a password: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT"

// mendable returns what a person can do about a connection that will fail in the
// same way again, "" if it may not.
func mendable(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "if a proxy or a server of your own signs its certificates, name its CA: belay config set providers.NAME.ca_file FILE, or set SSL_CERT_FILE"
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return "check the clock of this machine; if it is right, the certificate of the server is too old or too new"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "check the base URL: the server there has another name"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate of the server is not good"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return "the server does not speak TLS: check whether the base URL should begin with http://"
	}
	if p, ok := errors.AsType[*ProxyRefusal](err); ok && p.Status >= 400 && p.Status < 500 && p.Status != http.StatusTooManyRequests {
		if p.Status == http.StatusProxyAuthRequired {
			return proxyHint
		}
		return "check HTTPS_PROXY, and NO_PROXY for what needs none"
	}
	return ""
}
