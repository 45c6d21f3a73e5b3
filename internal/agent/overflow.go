package agent

import (
	"context"
	"fmt"

	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
)

// A ladder is what is done about requests of one step that the model found too
// long. Each rung is stood on once, and only if it makes the request shorter, so
// it has an end.
type ladder struct{ rung int }

// leastOutput is how many tokens of a reply must remain for it to be worth asking.
const leastOutput = 1024

// shorter makes the next request shorter than the one of so many tokens that the
// model found too long: (1) with less room for the reply, (2) by a compaction,
// (3) by one that leaves only the newest calls, cut. It reports whether there is
// anything to send again, and else the limit that is reached.
func (a *Agent) shorter(ctx context.Context, l *ladder, before int, why error) (bool, error) {
	for l.rung < 3 {
		l.rung++
		done, err := false, error(nil)
		switch l.rung {
		case 1:
			done = a.lessOutput(before)
		case 2:
			done, err = a.compact(ctx, a.squeeze(session.ByOverflow, "", before))
		case 3:
			q := a.squeeze(session.ByOverflow, "", before)
			q.alone, q.target, q.keep, q.must = true, 0, 0, 0
			q.last, q.handoff = q.last*lastShare/keepShare, q.handoff/2
			done, err = a.compact(ctx, q)
		}
		if done || err != nil {
			return done, err
		}
	}
	limit := &Limit{What: limitOverflow, Max: fmt.Sprint(before), Err: why}
	if ruled := prompt.RuleTokens(a.state, a.speaker().Model.Name); ruled >= before/3 {
		limit.Rules = ruled
	}
	return false, limit
}

// lessOutput asks for shorter replies where the window would then do, until the
// next compaction.
func (a *Agent) lessOutput(before int) bool {
	info := a.speaker().Model
	less := info.Reserve() / 4
	if a.output > 0 || !info.Known || less < leastOutput || before+info.MaxOutput <= info.Window || before+less > info.Window {
		return false
	}
	a.output = less
	return true
}
