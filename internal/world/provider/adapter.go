package provider

import (
	"net/url"

	"github.com/belay-agent/belay/internal/contract/model"
)

// APIs returns the dialects that a provider can be said to speak.
func APIs() []string { return []string{"openai", "responses", "anthropic", "gemini"} }

// adapt returns the model that o names at base, over t.
func adapt(o Options, base *url.URL, t *transport, info model.Info) model.Provider {
	t.refusals = &refusals{}
	switch o.API {
	case "anthropic":
		t.url, t.header = endpoint(base, "messages"), messagesHeader(o.Key)
		return &messages{name: o.Name, maxOutput: info.MaxOutput, post: t}
	case "gemini":
		t.url, t.header = geminiEndpoint(base, bareModel("", o.Name)), geminiHeader(o.Key)
		return &gemini{name: o.Name, base: base, post: t}
	case "responses":
		t.url, t.header = endpoint(base, "responses"), openAIHeader(base.Host, o.Key)
		return &responses{name: o.Name, post: t}
	}
	t.url, t.header = endpoint(base, "chat", "completions"), openAIHeader(base.Host, o.Key)
	return &chat{name: o.Name, official: base.Host == "api.openai.com", post: t}
}
