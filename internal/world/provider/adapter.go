package provider

import (
	"net/url"
	"strings"

	"github.com/belay-agent/belay/internal/contract/model"
)

// APIs returns the dialects that a provider can be said to speak.
func APIs() []string { return []string{"openai", "responses", "anthropic", "gemini"} }

// maker says who makes a reply: the model, and its API where that is not the one
// that its provider usually has. The opaque parts of a reply mean nothing to the
// same model over another.
func maker(name, api string) string {
	if prefix, _, _ := strings.Cut(name, "/"); UsualAPI(prefix) == api {
		return name
	}
	return name + "@" + api
}

// adapt returns the model that o names at base, over t.
func adapt(o Options, base *url.URL, t *transport, info model.Info) model.Provider {
	t.refusals = &refusals{}
	from := maker(o.Name, o.API)
	switch o.API {
	case "anthropic":
		t.url, t.header = endpoint(base, "messages"), messagesHeader(o.Key)
		return &messages{name: o.Name, from: from, maxOutput: info.MaxOutput, post: t}
	case "gemini":
		t.url, t.header = geminiEndpoint(base, bareModel("", o.Name)), geminiHeader(o.Key)
		return &gemini{name: o.Name, from: from, base: base, post: t}
	case "responses":
		t.url, t.header = endpoint(base, "responses"), openAIHeader(base.Host, o.Key)
		return &responses{name: o.Name, from: from, post: t}
	}
	t.url, t.header = endpoint(base, "chat", "completions"), openAIHeader(base.Host, o.Key)
	return &chat{name: o.Name, from: from, official: base.Host == "api.openai.com", post: t}
}
