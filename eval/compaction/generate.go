package compaction

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/world/journal"
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
	script, err := provider.NewRehearsed(s.name, s.script())
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

// describe makes a session and says what is in it.
func describe(ctx context.Context, w io.Writer, name, keep string) (err error) {
	dir := filepath.Join(keep, name)
	if keep == "" {
		if dir, err = os.MkdirTemp("", "belay-eval-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	p, s, err := generate(ctx, name, dir, true)
	if err != nil {
		return err
	}
	count := map[string]int{}
	bytes := 0
	for e, err := range journal.Read(p.log) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case event.Replied:
			count["steps"]++
		case event.Finished:
			count["calls"]++
			if b.Result.Failure != nil {
				count["failed"]++
			}
			bytes += len(b.Result.Text)
		case event.Constrained:
			count["constraints"]++
		}
		count["events"]++
	}
	_, err = fmt.Fprintf(w, "%s: %s, %s, %d turns, %d steps, %d calls of which %d failed, %d bytes of results, %d events, %d constraints\n",
		name, s.repository, s.language, len(s.turns), count["steps"], count["calls"], count["failed"], bytes, count["events"], count["constraints"])
	return err
}
