package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-agent/belay/internal/world/provider"
)

// checkWait is how long one provider may take to answer. All are asked at once.
const checkWait = 5 * time.Second

// checkProviders asks each provider that is set up, by the settings, a key in the
// environment or the model that is chosen, one cheap question; and which model
// servers run on this machine.
func (s System) checkProviders(ctx context.Context, c *Config) []machineCheck {
	asked := make(map[string]string) // provider to "provider/MODEL"
	for maker := range c.Providers {
		asked[maker] = maker + "/"
	}
	for _, maker := range provider.Makers() {
		if s.getenv(provider.KeyVariable(maker)) != "" || s.usualURL(maker) != "" {
			asked[maker] = maker + "/"
		}
	}
	for _, name := range []string{c.Fallback, c.Model} {
		if maker, _, ok := strings.Cut(name, "/"); ok && !strings.HasPrefix(name, "script:") {
			asked[maker] = name
		}
	}
	names := slices.Sorted(maps.Keys(asked))
	checks := make([]machineCheck, len(names))
	done := make(chan struct{})
	for i, maker := range names {
		go func() {
			checks[i] = s.checkProvider(ctx, c, maker, asked[maker])
			done <- struct{}{}
		}()
	}
	local := s.findLocal(ctx, c)
	for range names {
		<-done
	}
	for _, l := range local {
		if _, ok := asked[l.Server]; !ok {
			checks = append(checks, machineCheck{What: "provider " + l.Server, OK: true, Note: count(int64(len(l.Models)), "model") + " at " + l.URL + "; belay models --local lists them"})
		}
	}
	return checks
}

func (s System) checkProvider(ctx context.Context, c *Config, maker, name string) machineCheck {
	check := machineCheck{What: "provider " + maker}
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	own := &Config{Settings: Settings{Providers: map[string]Provider{maker: c.Providers[maker]}}} // the others are read at the same time
	o, err := s.reach(ctx, own, maker)
	if err != nil {
		check.Note = err.Error()
		return check
	}
	defer o.Client.CloseIdleConnections()
	o.Name = name
	h := provider.Check(ctx, o)
	check.OK, check.Note = h.OK, h.Note
	if h.Hint != "" {
		check.Note += "; " + h.Hint
	}
	return check
}
