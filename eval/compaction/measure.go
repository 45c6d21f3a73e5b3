package compaction

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/decide/prompt"
)

// window is the one of the models that most people use.
const window = 200_000

// A bench is what sessions are measured with.
type bench struct {
	wire    wire
	notes   model.Provider // writes the notes at a compaction
	compact func(context.Context, *running) error
	dir     string // where sessions are made
}

// ordinary compacts as a person would have it done.
func ordinary(ctx context.Context, r *running) error { return r.agent.Compact(ctx, "") }

// measure makes a session and measures it in copies of it: compacted once by
// hand, under pressure of a small window, ten times in a row, and with plan A
// proposed again, beside a session in which A was never rejected, and one in which
// nobody but the model did, in what it found and noted.
func (b bench) measure(ctx context.Context, name string) (Report, error) {
	r := Report{Session: name}
	base, s, err := generate(ctx, name, filepath.Join(b.dir, "base"), true)
	if err != nil {
		return r, fmt.Errorf("make the session: %w", err)
	}
	if r, err = b.views(ctx, base, s); err != nil {
		return r, err
	}
	if r.Trap, err = b.spring(ctx, base, s, filepath.Join(b.dir, "trap")); err != nil {
		return r, fmt.Errorf("the trap: %w", err)
	}
	control, s, err := generate(ctx, name, filepath.Join(b.dir, "control"), false)
	if err != nil {
		return r, fmt.Errorf("make the control session: %w", err)
	}
	if r.Control, err = b.spring(ctx, control, s, filepath.Join(b.dir, "control trap")); err != nil {
		return r, fmt.Errorf("the control session: %w", err)
	}
	found, err := b.found(ctx, control, s)
	if err != nil {
		return r, fmt.Errorf("what the model finds out: %w", err)
	}
	if r.Noted, err = b.spring(ctx, found, s, filepath.Join(b.dir, "noted trap")); err != nil {
		return r, fmt.Errorf("the trap that only notes know: %w", err)
	}
	return r, nil
}

// views compacts copies of a session and holds what is seen then against its
// labels.
func (b bench) views(ctx context.Context, base place, s story) (Report, error) {
	r := Report{Session: s.name, Repository: s.repository, Language: s.language, Steps: s.steps()}
	l, err := labelsOf(s.name)
	if err != nil {
		return r, err
	}
	full, err := b.full(ctx, base)
	if err != nil {
		return r, fmt.Errorf("without a compaction: %w", err)
	}
	r.Tokens = full.tokens
	for _, m := range []struct {
		name string
		does func(context.Context, place) (look, error)
	}{
		{"by hand", b.once},
		{"small window", func(ctx context.Context, p place) (look, error) { return b.pressed(ctx, p, full.tokens) }},
		{"in a row", func(ctx context.Context, p place) (look, error) { return b.ten(ctx, p, &r) }},
	} {
		p, err := base.copy(filepath.Join(b.dir, m.name))
		if err != nil {
			return r, err
		}
		seen, err := m.does(ctx, p)
		if err != nil {
			return r, fmt.Errorf("compacted %s: %w", m.name, err)
		}
		v, err := seen.judge(ctx, m.name, l, full)
		if err != nil {
			return r, err
		}
		r.Views = append(r.Views, v)
	}
	for _, h := range l.Herrings {
		taken, err := base.took(h)
		if err != nil {
			return r, err
		}
		if taken {
			r.Herrings = append(r.Herrings, h.Says)
		}
	}
	return r, nil
}

// copy makes a session that goes another way from here on.
func (p place) copy(dir string) (place, error) {
	to := placeIn(dir)
	for from, to := range map[string]string{p.root: to.root, p.log: to.log} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return placeIn(dir), err
		}
		same := func(name string) (time.Time, error) {
			info, err := os.Stat(filepath.Join(from, name))
			if err != nil {
				return time.Time{}, err
			}
			return info.ModTime(), nil
		}
		if err := dated(to, same); err != nil {
			return placeIn(dir), err
		}
	}
	return to, nil
}

// A look is what the model sees at one time, and what it does about it.
type look struct {
	place   place
	request *model.Request // the next one
	tokens  int
	action  string // what a model that acts on what it sees does first
	went    error  // how its turn ended
	handoff string
	made    []event.Compacted
	sent    int     // requests
	asked   int     // of those, for notes
	refused []error // by a strict server
}

// goOn opens a session anew, so that nothing of an earlier life is known but its
// log, has the model go on, and looks at the first request.
func (b bench) goOn(ctx context.Context, p place, window int) (l look, err error) {
	a := new(actor)
	t := &troupe{wire: b.wire, notes: b.notes, steps: a}
	r, err := p.open(ctx, options{provider: t, info: rehearsed(window)})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	went := r.agent.Turn(ctx, agent.Input{Text: goOn})
	if a.first == nil {
		return l, went
	}
	return look{
		place: p, request: a.first, tokens: a.first.Estimate(), action: a.next(), went: went,
		handoff: r.state.Handoff(), made: compactions(r.events), sent: t.sent, asked: t.asked, refused: t.refused,
	}, nil
}

func compactions(events []event.Event) (made []event.Compacted) {
	for _, e := range events {
		if b, ok := e.Body.(event.Compacted); ok {
			made = append(made, b)
		}
	}
	return made
}

// full looks at the session as it is, in a window that holds it.
func (b bench) full(ctx context.Context, base place) (look, error) {
	p, err := base.copy(filepath.Join(b.dir, "full"))
	if err != nil {
		return look{}, err
	}
	return b.goOn(ctx, p, roomy)
}

// shorten opens a session and compacts it by hand.
func (b bench) shorten(ctx context.Context, p place) (l look, err error) {
	t := &troupe{wire: b.wire, notes: b.notes}
	r, err := p.open(ctx, options{provider: t, info: rehearsed(window)})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	err = b.compact(ctx, r)
	return look{place: p, made: compactions(r.events), sent: t.sent, asked: t.asked, refused: t.refused}, err
}

// plus is what was seen now, after what came before.
func (l look) plus(before look) look {
	l.made = append(before.made, l.made...)
	l.sent += before.sent
	l.asked += before.asked
	l.refused = append(before.refused, l.refused...)
	return l
}

func (b bench) once(ctx context.Context, p place) (look, error) {
	before, err := b.shorten(ctx, p)
	if err != nil {
		return look{}, err
	}
	seen, err := b.goOn(ctx, p, window)
	return seen.plus(before), err
}

// leastRoom is how many tokens of input a model takes at least.
const leastRoom = 12_000

// pressed has a model go on that takes half of what the session has come to: it
// must be compacted before the first request, to a handoff that has little room.
func (b bench) pressed(ctx context.Context, p place, tokens int) (look, error) {
	small := leastRoom
	for prompt.Limit(rehearsed(small)) < max(tokens/2, leastRoom) {
		small += 512
	}
	return b.goOn(ctx, p, small)
}
