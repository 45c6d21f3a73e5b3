// Package provider reaches language models: over HTTP in the dialects that their
// servers speak, or by playing a script.
package provider

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

const userAgent = "belay"

// Options say which model is to be reached, and how.
type Options struct {
	// Name is "provider/NAME", with one of Makers or Locals, or "script:FILE".
	// With BaseURL the part before the slash may be anything.
	Name string

	API     string // one of APIs: the dialect, where Name does not say
	BaseURL string // with or without /v1; "" means the usual one
	Key     string // may be empty with a BaseURL
	Setting string // where the user sets the key, for messages; "" means the usual variable

	Client     *http.Client // carries proxies and certificates; nil means one without either
	Patience   Patience
	Catalogues []string    // files that override what is published of models; the last one most
	Served     *LocalModel // what a local server says of the model, if it was asked
}

// Open returns the model that o names and what is known of it. It reads nothing
// but catalogues and the file of a script, and sends nothing: a wrong key or name
// shows with the first request. Its errors are *model.BadRequest where the user
// has something to set right. A request that cannot fit into a window that is
// known is model.ErrOverflow, and not sent.
func Open(o Options) (model.Provider, model.Info, error) {
	info, err := lookUp(o.Name, o.Catalogues)
	if err != nil {
		return nil, info, err
	}
	if info = o.Served.over(info); info.NoTools {
		return nil, info, &model.BadRequest{
			Reason: fmt.Sprintf("model %s cannot call tools, which all work here is done with", o.Name),
			Hint:   "choose one that can: see belay models, or belay models --local",
		}
	}
	if file, ok := strings.CutPrefix(o.Name, "script:"); ok {
		p, err := openScript(file)
		if err != nil {
			return nil, info, err
		}
		if w := p.Window(); w > 0 {
			info.Window, info.MaxOutput, info.Known = w, w/8, true
		}
		return fitting(p, info), info, nil
	}
	if o, err = o.settle(); err != nil {
		return nil, info, err
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, info, &model.BadRequest{Reason: fmt.Sprintf("base URL %q is not of the form http://host or https://host", o.BaseURL), Hint: "check the base URL"}
	}
	if o.Client == nil {
		o.Client = &http.Client{Transport: &http.Transport{}}
	}
	t := &transport{client: staying(o.Client), key: o.Key, setting: o.Setting, model: o.Name, patience: o.Patience.withDefaults()}
	return fitting(adapt(o, base, t, info), info), info, nil
}

// settle fills in what follows from the name.
func (o Options) settle() (Options, error) {
	prefix, name, ok := strings.Cut(o.Name, "/")
	if !ok || prefix == "" || name == "" {
		return o, &model.BadRequest{
			Reason: fmt.Sprintf("model %q is not of the form provider/name", o.Name),
			Hint:   "use openai/NAME, anthropic/NAME, ollama/NAME or script:FILE",
		}
	}
	usual, named := homeOf(prefix)
	if o.API == "" {
		o.API = UsualAPI(prefix)
	}
	if !slices.Contains(APIs(), o.API) {
		return o, &model.BadRequest{Reason: fmt.Sprintf("API %q is not known", o.API), Hint: "use " + strings.Join(APIs(), ", ")}
	}
	if o.Setting == "" {
		if o.Setting = usual.key; o.Setting == "" {
			o.Setting = "providers." + prefix + ".key"
		}
	}
	if o.BaseURL == "" {
		if !named {
			return o, &model.BadRequest{
				Reason: fmt.Sprintf("provider %q of model %s is not known", prefix, o.Name),
				Hint:   fmt.Sprintf("use one of %s, or say where it is: belay config set providers.%s.base_url URL", strings.Join(slices.Concat(Makers(), Locals()), ", "), prefix),
			}
		}
		if o.Key == "" && usual.key != "" {
			hint := "set " + o.Setting
			if o.Setting == "OPENAI_API_KEY" {
				hint += ", or OPENAI_BASE_URL for a server that needs none"
			}
			return o, &model.BadRequest{Reason: fmt.Sprintf("no key for %s", o.Name), Hint: hint}
		}
		o.BaseURL = usual.url
	}
	return o, nil
}

// staying returns c so that it answers with a redirect instead of following it:
// the key and the conversation are for the one server that the user named.
func staying(c *http.Client) *http.Client {
	stays := *c
	stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &stays
}

// isVersion reports whether a segment of a path names a version, such as v1.
func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9'
}

// endpoint returns the URL of one call of the API at base, which may or may not
// end in the version.
func endpoint(base *url.URL, call ...string) *url.URL {
	u := *base
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/"+strings.Join(call, "/"))
	u.RawPath = ""
	switch {
	case strings.Contains(u.Path, "/deployments/"): // of Azure; the version is in the query
	case isAzure(u.Host) && u.Path == "":
		call = append([]string{"openai", "v1"}, call...)
	case !slices.ContainsFunc(strings.Split(u.Path, "/"), isVersion):
		call = append([]string{"v1"}, call...)
	}
	return u.JoinPath(call...)
}

func openScript(file string) (*Rehearsed, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &model.BadRequest{Reason: fmt.Sprintf("open the script: %v", err), Hint: "check the path after script:"}
	}
	defer f.Close() // it was only read
	src, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil {
		return nil, &model.BadRequest{Reason: fmt.Sprintf("read the script: %v", err), Hint: "check the path after script:"}
	}
	p, err := NewRehearsed(file, src)
	if err != nil {
		return nil, &model.BadRequest{Reason: err.Error(), Hint: "docs/rehearsal.md describes the form of a script"}
	}
	return p, nil
}
