package cli

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/provider"
)

// What is used where nothing was chosen but a key is there.
const (
	usualAnthropic = "anthropic/claude-sonnet-4-6"
	usualOpenAI    = "openai/gpt-5.4-mini"
)

// openModel returns the model that the settings name or, where they name none,
// one that can be reached by the keys in the environment.
func (s System) openModel(ctx context.Context, c *Config) (model.Provider, model.Info, error) {
	name := c.Model
	if name == "" {
		chosen, err := s.chooseModel(ctx, c)
		if err != nil {
			return nil, model.Info{}, err
		}
		name = chosen
	}
	return s.openNamed(ctx, c, name)
}

// openNamed opens the model of that name. A server on this machine is asked what
// the model is there.
func (s System) openNamed(ctx context.Context, c *Config, name string) (model.Provider, model.Info, error) {
	maker, _, _ := strings.Cut(name, "/")
	o, err := s.reach(ctx, c, maker)
	if err != nil {
		return nil, model.Info{}, err
	}
	o.Name = name
	if provider.IsLocal(maker) {
		o.Served = provider.AskLocalModel(ctx, o)
	}
	return provider.Open(o)
}

// openFallback returns the model that goes on where the first cannot be reached,
// nil if there is none.
func (s System) openFallback(ctx context.Context, c *Config) (*agent.Fallback, error) {
	if c.Fallback == "" {
		return nil, nil
	}
	p, info, err := s.openNamed(ctx, c, c.Fallback)
	if err != nil {
		return nil, err
	}
	return &agent.Fallback{Provider: p, Model: info}, nil
}

// reach returns how the provider of that name is reached, by the settings or else
// by the environment. It runs the command that prints the key, if there is one.
func (s System) reach(ctx context.Context, c *Config, maker string) (provider.Options, error) {
	p := c.Providers[maker]
	o := provider.Options{API: p.API, BaseURL: p.BaseURL, Catalogues: s.catalogues()}
	tr, err := s.transport(maker, p.CAFile)
	if err != nil {
		return o, err
	}
	o.Client = &http.Client{Transport: tr}
	if o.Key, o.Setting, err = s.key(ctx, c, maker); err != nil {
		return o, err
	}
	if o.BaseURL == "" {
		o.BaseURL = s.usualURL(maker)
	}
	if strings.ContainsFunc(o.Key, unicode.IsControl) {
		return o, usage("%s has a line break or another control character in it; set it again", o.Setting)
	}
	return o, nil
}

// usualURL returns where the environment says that a provider is, "" if it does
// not say.
func (s System) usualURL(maker string) string {
	switch maker {
	case "anthropic", "openai":
		return s.getenv(strings.ToUpper(maker) + "_BASE_URL")
	case "ollama":
		return s.ollamaURL()
	}
	return ""
}

// chooseModel chooses by the keys that there are. What runs on this machine is
// only suggested: nobody said that it is meant.
func (s System) chooseModel(ctx context.Context, c *Config) (string, error) {
	switch {
	case s.getenv("ANTHROPIC_API_KEY") != "":
		return usualAnthropic, nil
	case s.getenv("OPENAI_API_KEY") != "":
		return usualOpenAI, nil
	}
	var runs strings.Builder
	for _, l := range s.findLocal(ctx, c) {
		for _, m := range l.Models[:min(len(l.Models), 5)] {
			if !m.NoTools {
				runs.WriteString("\n  belay --model " + m.Name)
			}
		}
	}
	if runs.Len() > 0 {
		return "", usage("no model is chosen. On this machine there are, for this once or for good with `belay config set model NAME`:%s", runs.String())
	}
	return "", usage(`no model can be reached. Either
  set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a model of another provider: belay models,
  name a local server: OPENAI_BASE_URL=http://127.0.0.1:8000/v1 belay run --model openai/NAME "...",
  start Ollama with a model that can call tools,
  or see the whole thing at work without a model: belay demo`)
}

// findLocal returns the servers that run on this machine.
func (s System) findLocal(ctx context.Context, c *Config) []provider.Local {
	urls := make(map[string]string)
	for _, name := range provider.Locals() {
		if urls[name] = c.Providers[name].BaseURL; urls[name] == "" {
			urls[name] = s.usualURL(name)
		}
	}
	direct := &http.Transport{DisableKeepAlives: true} // no proxy leads here
	return provider.FindLocal(ctx, &http.Client{Transport: direct}, urls)
}

// free reports whether a model costs nothing, wherever it is reached.
func free(name string) bool {
	maker, _, _ := strings.Cut(name, "/")
	return provider.IsLocal(maker) || strings.HasPrefix(name, "script:")
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

// catalogues are the files of the user about models, the one that wins last.
func (s System) catalogues() []string {
	user := s.userConfig()
	if user == "" {
		return nil
	}
	return []string{filepath.Join(filepath.Dir(user), refreshedFile), filepath.Join(filepath.Dir(user), "models.toml")}
}

// refreshedFile is what `belay models refresh` writes.
const refreshedFile = "models-refreshed.toml"
