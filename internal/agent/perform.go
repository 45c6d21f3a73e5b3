package agent

import (
	"context"
	"sync"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
	"github.com/belay-agent/belay/internal/decide/schedule"
)

// A task is one call on its way to its result.
type task struct {
	call      tool.Call
	malformed string // the arguments, where they are not JSON
	owes      bool   // reasons for what is permanent: it is the model's

	action   *tool.Action
	failure  *tool.Failure // of its preparation
	effects  effect.Set    // what it is ordered by
	waits    []int         // tasks that must be over first
	alone    bool          // it came to do more than it was ordered by
	plan     tool.Plan
	digest   string // of plan
	asked    int
	approved bool // by a person, exactly as it is planned
	stage    stage
	started  bool // it ran, however that ended
	result   tool.Result
}

// A stage is how far a task has come.
type stage int

const (
	waiting stage = iota
	asking
	running
	over
)

// A round is the calls of one reply being performed.
type round struct {
	*Agent
	ctx     context.Context // ends with the round
	tasks   []*task
	news    chan news // holds one for each task: a worker never blocks
	workers sync.WaitGroup
}

// News is what a worker reports: how a call ended or what a person answered.
type news struct {
	task   *task
	result tool.Result
	answer *Answer
	err    error // that there was instead of an answer
}

func requested(m model.Message) []*task {
	var tasks []*task
	for _, p := range m.Parts {
		if c, ok := p.(model.Call); ok {
			tasks = append(tasks, &task{call: c.Call, malformed: c.Malformed, owes: true})
		}
	}
	return tasks
}

// perform runs calls as close together as their effects allow, until each has
// its result. Workers only report what happened, or what a person answered:
// state belongs to this goroutine. An error is the journal's; then nothing is
// running any more.
func (a *Agent) perform(ctx context.Context, tasks []*task) error {
	ctx, cancel := context.WithCancel(ctx)
	r := &round{Agent: a, ctx: ctx, tasks: tasks, news: make(chan news, len(tasks))}
	defer r.workers.Wait()
	defer cancel()

	r.order()
	for {
		if err := r.advance(); err != nil {
			return err
		}
		if r.count(over) == len(tasks) {
			return nil
		}
		if err := r.hear(<-r.news); err != nil {
			return err
		}
	}
}

// order prepares all calls and decides who waits for whom. A call that cannot
// be prepared may need what an earlier one is about to do: it waits for all of
// them, and is prepared again.
func (r *round) order() {
	acts := false
	for _, t := range r.tasks {
		r.prepare(r.ctx, t)
		switch {
		case t.failure == nil:
			t.effects = t.action.Effects()
		case acts && mendable(t.failure.Kind):
			t.effects = effect.Set{{Kind: effect.Anything}}
		}
		acts = acts || !t.effects.OnlyReads()
	}
	r.lineUp()
}

// mendable reports whether what another call does can make good a failure of
// this kind.
func mendable(k tool.Kind) bool {
	return k == tool.Repeated || k.ByArguments() && k != tool.Invalid
}

func (r *round) lineUp() {
	effects := make([]effect.Set, len(r.tasks))
	for i, t := range r.tasks {
		effects[i] = t.effects
	}
	for i, waits := range schedule.Order(effects) {
		r.tasks[i].waits = waits
	}
}

// exceeds reports whether t, as it is prepared now, does more than it was
// ordered by. If so it runs alone, after all calls before it and before all that
// have not begun.
func (r *round) exceeds(t *task) bool {
	if t.effects.Covers(t.action.Effects()) {
		return false
	}
	t.alone = true
	t.effects = effect.Set{{Kind: effect.Anything}, {Kind: effect.Permanent}}
	r.lineUp()
	return true
}

// advance takes every task that can go on one stage further, until none can.
func (r *round) advance() error {
	for again := true; again; {
		again = false
		for _, t := range r.tasks {
			if !r.ready(t) {
				continue
			}
			if err := r.begin(t); err != nil {
				return err
			}
			again = again || t.stage != waiting
		}
	}
	return nil
}

func (r *round) ready(t *task) bool {
	busy := r.count(running) + r.count(asking)
	if t.stage != waiting || busy >= r.Limits.Parallel || t.alone && busy > 0 {
		return false
	}
	for _, i := range t.waits {
		if r.tasks[i].stage != over {
			return false
		}
	}
	return true
}

func (r *round) count(s stage) int {
	n := 0
	for _, t := range r.tasks {
		if t.stage == s {
			n++
		}
	}
	return n
}

// begin starts t, ends it without a start, or puts it before a person.
func (r *round) begin(t *task) error {
	if r.ctx.Err() != nil {
		return r.finish(t, r.interrupted("not started"))
	}
	if len(t.waits) > 0 || t.alone { // the world has moved
		r.prepare(r.ctx, t)
	}
	switch {
	case t.failure != nil && !r.banned(t):
		return r.finish(t, tool.Failed(t.failure))
	case t.failure == nil && r.exceeds(t) && !r.ready(t):
		return nil
	}
	t.plan = r.planned(t)
	t.digest = t.plan.Digest()
	return r.decide(t)
}

// hear takes what a worker reports.
func (r *round) hear(n news) error {
	if n.answer != nil {
		return r.answered(n)
	}
	return r.finish(n.task, n.result)
}

// finish ends t by its one result, after what else belongs before it. Only a
// call that a person asks for and that came to no plan is not recorded: the
// session does not know of it.
func (r *round) finish(t *task, result tool.Result, before ...event.Body) error {
	t.stage, t.result = over, r.fit(t.call, r.counselled(t.call, result))
	if len(before) == 0 && t.call.ID == r.state.NextCall(0) {
		return nil
	}
	return r.record(append(before, event.Finished{Call: t.call.ID, Result: t.result})...)
}

// Do runs a call that a person asks for by the same path as those of the model,
// outside a turn. The result of a call that cannot be prepared, or that ctx
// ended before it was, is returned and not recorded. The call's ID is given
// here.
func (a *Agent) Do(ctx context.Context, c tool.Call) (tool.Result, error) {
	c.ID = a.state.NextCall(0)
	t := &task{call: c}
	err := a.perform(ctx, []*task{t})
	return t.result, err
}

// Explain returns what c would do and what would be decided about it, and does
// nothing. A *tool.Failure says why it cannot be prepared.
func (a *Agent) Explain(ctx context.Context, c tool.Call) (tool.Plan, policy.Decision, error) {
	c.ID = a.state.NextCall(0)
	t := &task{call: c}
	if a.prepare(ctx, t); t.failure != nil {
		return tool.Plan{}, policy.Decision{}, t.failure
	}
	plan := a.planned(t)
	return plan, a.judge(plan, t.action), nil
}
