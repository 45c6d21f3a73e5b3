package compaction

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/provider"
)

// roomy is a window that no story fills: they are generated without a
// compaction of their own.
const roomy = 100_000_000

// rehearsed is what a session takes the rehearsed model for.
func rehearsed(window int) model.Info {
	return model.Info{Name: "script:story", Window: window, MaxOutput: 8192, Known: true}
}

// generate plays the story of that name in dir: it makes the checkout, and the
// log of the session up to the compaction.
func generate(ctx context.Context, name, dir string, rejected bool) (p place, s story, err error) {
	p = placeIn(dir)
	text, err := read(name, rejected, []source{{path: "."}})
	if err != nil {
		return p, s, err
	}
	r, err := repositoryNamed(text.repository)
	if err != nil {
		return p, s, err
	}
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return p, s, err
	}
	if err := r.checkout(ctx, p.root); err != nil {
		return p, s, err
	}
	sources, err := sourcesOf(p.root)
	if err != nil {
		return p, s, err
	}
	if s, err = read(name, rejected, sources); err != nil {
		return p, s, err
	}
	return p, s, p.play(ctx, s)
}

// play runs the turns of s.
func (p place) play(ctx context.Context, s story) (err error) {
	script, err := provider.NewRehearsed(s.name, script(s.turns...))
	if err != nil {
		return err
	}
	r, err := p.open(ctx, options{provider: strict{script}, info: rehearsed(roomy)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for i, t := range s.turns {
		if err := r.agent.Turn(ctx, agent.Input{Text: t.says}); err != nil {
			return fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return nil
}
