package cli

import (
	"context"
	"net/http"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/provider"
)

// What is used where nothing was chosen but a key is there.
const (
	usualAnthropic = "anthropic/claude-sonnet-4-6"
	usualOpenAI    = "openai/gpt-5.4-mini"
)

// openModel returns the model that the settings name or, where they name none,
// one that can be reached: by the keys in the environment, or a local Ollama.
func (s System) openModel(ctx context.Context, c *Config) (model.Provider, model.Info, error) {
	client := &http.Client{Transport: s.transport()}
	name := c.Model
	if name == "" {
		found, err := s.chooseModel(ctx, client)
		if err != nil {
			return nil, model.Info{}, err
		}
		name = found
	}
	prefix, _, _ := strings.Cut(name, "/")
	o := provider.Options{Name: name, Client: client}
	if p, ok := c.Providers[prefix]; ok {
		o.API, o.BaseURL, o.Key = p.API, p.BaseURL, p.Key
		o.Setting = "providers." + prefix + ".key"
	}
	variables := strings.ToUpper(prefix)
	switch prefix {
	case "anthropic", "openai":
		if o.Key == "" {
			o.Key, o.Setting = s.getenv(variables+"_API_KEY"), variables+"_API_KEY"
		}
		if o.BaseURL == "" {
			o.BaseURL = s.getenv(variables + "_BASE_URL")
		}
	case "ollama":
		if o.BaseURL == "" {
			o.BaseURL = s.ollamaURL()
		}
	}
	o.Key = strings.TrimSpace(o.Key) // what a file or a paste leaves at its end is no part of it
	if strings.ContainsFunc(o.Key, unicode.IsControl) {
		return nil, model.Info{}, usage("%s has a line break or another control character in it; set it again", o.Setting)
	}
	return provider.Open(o)
}

func (s System) chooseModel(ctx context.Context, client *http.Client) (string, error) {
	switch {
	case s.getenv("ANTHROPIC_API_KEY") != "":
		return usualAnthropic, nil
	case s.getenv("OPENAI_API_KEY") != "":
		return usualOpenAI, nil
	}
	if models, err := provider.FindOllama(ctx, client, s.ollamaURL()); err == nil && len(models) > 0 {
		return "ollama/" + models[0], nil
	}
	return "", usage(`no model can be reached. Either
  set ANTHROPIC_API_KEY or OPENAI_API_KEY,
  name a local server: OPENAI_BASE_URL=http://127.0.0.1:8000/v1 belay run --model openai/NAME "...",
  start Ollama with a model that can call tools,
  or see the whole thing at work without a model: belay demo`)
}

// free reports whether a model costs nothing, wherever it is reached.
func free(name string) bool {
	return strings.HasPrefix(name, "ollama/") || strings.HasPrefix(name, "script:")
}

// ollamaURL returns where OLLAMA_HOST says that Ollama listens, "" if it does
// not say.
func (s System) ollamaURL() string {
	host := s.getenv("OLLAMA_HOST")
	if host == "" || strings.Contains(host, "://") {
		return host
	}
	host = strings.Replace(host, "0.0.0.0", "127.0.0.1", 1) // where it listens is not where it is
	if !strings.Contains(host, ":") {
		host += ":11434"
	}
	return "http://" + host
}

// transport reaches providers through the proxies that the environment names.
func (s System) transport() *http.Transport {
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableCompression: false}
}
