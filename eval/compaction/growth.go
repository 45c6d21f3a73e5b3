package compaction

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/world/provider"
)

// inARow is how many compactions follow one another.
const inARow = 10

// ten compacts a session until all of it is in the handoff, and then ten times
// more. Between two compactions the same little turn is done, so that what grows
// is the compaction's doing.
func (b bench) ten(ctx context.Context, p place, report *Report) (look, error) {
	var all look
	origin, err := p.state()
	if err != nil {
		return all, err
	}
	for i := 1; len(report.Growth) < inARow+1; i++ {
		if i > 4*inARow {
			return all, fmt.Errorf("of %d compactions only %d made something shorter", i, len(report.Growth))
		}
		one, err := b.shorten(ctx, p)
		if err != nil && !errors.Is(err, agent.ErrNothingToCompact) {
			return all, fmt.Errorf("compaction %d: %w", i, err)
		}
		state, err2 := p.state()
		if err2 != nil {
			return all, err2
		}
		all = one.plus(all)
		if err == nil && state.Through() >= origin.Seq() {
			report.Growth = append(report.Growth, estimate(state.Handoff()))
			report.Turns = append(report.Turns, i)
		}
		if err := p.idle(ctx, i); err != nil {
			return all, fmt.Errorf("turn %d: %w", i, err)
		}
	}
	seen, err := b.goOn(ctx, p, window)
	return seen.plus(all), err
}

// idleWords is what the user says between two compactions, and what the model
// answers: at most they may be added to a handoff.
const (
	idleWords  = "Look at the first lines once more."
	idleAnswer = "Nothing new there."
)

// idle is a turn in which nothing happens.
func (p place) idle(ctx context.Context, n int) (err error) {
	script := fmt.Sprintf("-- step --\nsay: Once more (%d).\n%s-- step --\nsay: %s\n", n,
		call("Bash", "command", "ls | head -5"), idleAnswer)
	player, err := provider.NewRehearsed("idle", []byte(script))
	if err != nil {
		return err
	}
	r, err := p.open(ctx, options{provider: strict{&fresh{Provider: player}}, info: rehearsed(window)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return r.agent.Turn(ctx, agent.Input{Text: idleWords})
}
