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
	err := b.again(ctx, p, func(i int, one look, shorter, covered bool, handoff string) bool {
		all = one.plus(all)
		if covered && shorter {
			report.Growth = append(report.Growth, estimate(handoff))
			report.Turns = append(report.Turns, i)
		}
		return len(report.Growth) == inARow+1
	})
	if err != nil {
		return all, err
	}
	seen, err := b.goOn(ctx, p, window)
	return seen.plus(all), err
}

// settle compacts a session until all of it is in the handoff.
func (b bench) settle(ctx context.Context, p place) error {
	return b.again(ctx, p, func(_ int, _ look, _, covered bool, _ string) bool { return covered })
}

// mostInARow is how often a session is compacted at most.
const mostInARow = 4 * inARow

// again compacts a session again and again, with an idle turn after each time,
// until done, which is told what came of it: whether anything became shorter,
// whether all of the session is in the handoff now, and that.
func (b bench) again(ctx context.Context, p place, done func(i int, one look, shorter, covered bool, handoff string) bool) error {
	origin, err := p.state()
	if err != nil {
		return err
	}
	for i := range mostInARow {
		one, err := b.shorten(ctx, p)
		shorter := err == nil
		if err != nil && !errors.Is(err, agent.ErrNothingToCompact) {
			return fmt.Errorf("compaction %d: %w", i+1, err)
		}
		state, err := p.state()
		if err != nil {
			return err
		}
		if done(i, one, shorter, state.Through() >= origin.Seq(), state.Handoff()) {
			return nil
		}
		if err := p.idle(ctx, i); err != nil {
			return fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return fmt.Errorf("%d compactions were not enough", mostInARow)
}

// idleWords is what the user says between two compactions, and what the model
// answers: at most they may be added to a handoff.
const (
	idleWords  = "Look at the first lines once more."
	idleAnswer = "Nothing new there."
)

// idle is a turn in which nothing happens.
func (p place) idle(ctx context.Context, n int) error {
	once := fmt.Sprintf("say: Once more (%d).\n%s", n, call("Bash", "command", "ls | head -5"))
	return p.turn(ctx, turn{says: idleWords, steps: []string{once, "say: " + idleAnswer}})
}

// turn goes on with a session by one turn.
func (p place) turn(ctx context.Context, t turn) (err error) {
	player, err := provider.NewRehearsed("turn", script(t))
	if err != nil {
		return err
	}
	r, err := p.open(ctx, options{provider: strict{&fresh{Provider: player}}, info: rehearsed(roomy)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return r.agent.Turn(ctx, agent.Input{Text: t.says})
}
