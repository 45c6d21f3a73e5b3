package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/contract/model"
)

// maxSkew is how far a clock may be off before certificates and signatures begin
// to fail.
const maxSkew = 5 * time.Minute

// maxList is how much of a list of models is read, in bytes.
const maxList = 8 << 20

// Health is what one cheap request shows of a provider.
type Health struct {
	OK   bool
	Note string // what is there, or what is wrong
	Hint string // what to do about it
}

// Check asks the provider that o is about for its models or, where it has no list,
// the model for one token. o.Name is "provider/NAME", or "provider/" where no model
// is chosen. It never takes longer than ctx lasts, and shows no key.
func Check(ctx context.Context, o Options) Health {
	prefix, name, _ := strings.Cut(o.Name, "/")
	chosen := name != ""
	if !chosen {
		o.Name = prefix + "/any"
	}
	o.Patience = Patience{Attempts: 1}
	t, base, api, err := o.line()
	if err != nil {
		return ill(err)
	}
	names, header, err := t.list(ctx, listAt(base, api))
	switch {
	case errors.Is(err, errNoList) && chosen:
		if err := t.oneToken(ctx, o); err != nil {
			return ill(err)
		}
		return Health{OK: true, Note: o.Name + " answers; there is no list of models"}
	case errors.Is(err, errNoList):
		return Health{Note: "there is no list of models at " + t.shown(), Hint: "choose a model, so that it can be tried: belay config set model " + prefix + "/NAME; or check the base URL"}
	case err != nil:
		return ill(err)
	}
	h := Health{OK: true, Note: fmt.Sprintf("%s at %s", models(len(names)), t.url.Host)}
	if chosen && len(names) > 0 && !slices.Contains(names, name) && !slices.Contains(names, name+":latest") {
		h = Health{Note: fmt.Sprintf("%s is not among its %s", o.Name, models(len(names))), Hint: "one of them: " + strings.Join(near(name, names), ", ")}
	}
	if off := skew(header, time.Now()); off != 0 {
		h.Note += fmt.Sprintf("; the clock here is %s %s its server's", inWords(off.Abs()), map[bool]string{true: "ahead of", false: "behind"}[off > 0])
		if off.Abs() > time.Hour && h.OK {
			h.OK, h.Hint = false, "set the clock of this machine"
		}
	}
	return h
}

// line returns what reaches the provider that o is about.
func (o Options) line() (t *transport, base *url.URL, api string, err error) {
	if o, err = o.settle(); err != nil {
		return nil, nil, "", err
	}
	base, err = url.Parse(o.BaseURL)
	if err != nil || base.Host == "" {
		return nil, nil, "", &model.BadRequest{Reason: fmt.Sprintf("base URL %q is not of the form http://host or https://host", o.BaseURL), Hint: "check the base URL"}
	}
	if o.Client == nil {
		o.Client = &http.Client{Transport: &http.Transport{}}
	}
	t = &transport{client: staying(o.Client), key: o.Key, setting: o.Setting, model: o.Name, patience: o.Patience.withDefaults()}
	adapt(o, base, t, model.Info{})
	return t, base, o.API, nil
}

// listAt returns where the list of models is.
func listAt(base *url.URL, api string) *url.URL {
	at := *base
	at.Path = strings.TrimRight(at.Path, "/")
	for _, call := range []string{"/chat/completions", "/messages", "/responses"} {
		at.Path = strings.TrimSuffix(at.Path, call)
	}
	if api == "gemini" && !slices.ContainsFunc(strings.Split(at.Path, "/"), isVersion) {
		at.Path += "/v1beta"
	}
	u := endpoint(&at, "models")
	q := u.Query()
	switch api {
	case "anthropic":
		q.Set("limit", "1000")
	case "gemini":
		q.Set("pageSize", "1000")
	}
	u.RawQuery = q.Encode()
	return u
}

var errNoList = errors.New("there is no list of models")

// list reads the names of the models at u.
func (t *transport) list(ctx context.Context, u *url.URL) ([]string, http.Header, error) {
	t.url = u
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, nil, &model.BadRequest{Reason: err.Error(), Hint: "check the base URL"}
	}
	req.Header = t.header.Clone()
	req.Header.Del("Content-Type")
	req.Header.Set("Accept", "application/json")
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, nil, t.broken(ctx, err).err
	}
	defer resp.Body.Close() // it was only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil {
		return nil, resp.Header, t.broken(ctx, err).err
	}
	r := t.readRefusal(resp.StatusCode, resp.Header, body[:min(len(body), maxErrorBody)])
	switch {
	case !r.html && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, resp.StatusCode):
		return nil, resp.Header, errNoList
	case resp.StatusCode != http.StatusOK || r.html:
		err, _ := t.fault(r)
		return nil, resp.Header, err
	}
	var all struct {
		Data   []struct{ ID string }   `json:"data"`
		Models []struct{ Name string } `json:"models"`
	}
	if json.Unmarshal(body, &all) != nil || all.Data == nil && all.Models == nil {
		return nil, resp.Header, &model.BadRequest{Reason: fmt.Sprintf("%s answers with something that is no list of models", t.shown()), Hint: "check the base URL"}
	}
	var names []string
	for _, m := range all.Data {
		names = append(names, m.ID)
	}
	for _, m := range all.Models {
		names = append(names, strings.TrimPrefix(m.Name, "models/"))
	}
	return names, resp.Header, nil
}

// oneToken asks the model for the shortest reply there is.
func (t *transport) oneToken(ctx context.Context, o Options) error {
	p, _, err := Open(o)
	if err != nil {
		return err
	}
	req := &model.Request{Model: o.Name, MaxOutput: 16, System: "Answer with ok.", Messages: []model.Message{{Role: model.User, Parts: []model.Part{model.Text{Text: "ok"}}}}}
	for d, err := range p.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if _, ok := d.(model.Reply); ok {
			return nil
		}
	}
	return context.Cause(ctx)
}

// ill says what is wrong.
func ill(err error) Health {
	h := Health{Note: err.Error()}
	if bad, ok := errors.AsType[*model.BadRequest](err); ok {
		h.Hint = bad.Hint
		return h
	}
	_, lookup := errors.AsType[*net.DNSError](err)
	op, _ := errors.AsType[*net.OpError](err)
	u, _ := errors.AsType[*model.Unavailable](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		h.Hint = "nothing answered in time: is there a network, and does it need a proxy (HTTPS_PROXY)?"
	case op != nil && op.Op == "proxyconnect":
		h.Hint = "the proxy cannot be reached: check HTTPS_PROXY"
	case lookup:
		h.Hint = "the name of the host is not known: check the base URL, and whether there is a network"
	case op != nil && op.Op == "dial":
		h.Hint = "nothing answers at that address: is the server running, and is the base URL right?"
	case u != nil && u.Busy:
		h.Hint = "it has too much to do; the key and the address are not known to be wrong"
	}
	return h
}

func models(n int) string {
	if n == 1 {
		return "1 model"
	}
	return fmt.Sprintf("%d models", n)
}

// near returns the names that are most like name.
func near(name string, names []string) []string {
	like := slices.Clone(names)
	shared := func(s string) int {
		n := 0
		for n < len(s) && n < len(name) && s[n] == name[n] {
			n++
		}
		return n
	}
	slices.SortStableFunc(like, func(a, b string) int { return shared(b) - shared(a) })
	return like[:min(len(like), 5)]
}

// skew returns how far the clock here is ahead of the one that wrote h, 0 if that
// does not matter.
func skew(h http.Header, now time.Time) time.Duration {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	if off := now.Sub(at); off.Abs() > maxSkew {
		return off
	}
	return 0
}
