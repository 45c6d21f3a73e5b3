package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/prompt"
	"github.com/belay-agent/belay/internal/decide/session"
)

// An Agent runs one session. Only Steer and Lift may be called while another
// method runs.
type Agent struct {
	Options
	state *session.State
	kept  int64                // the seq of the state that was last given to Keep
	tools map[string]tool.Tool // offered and own
	specs []tool.Spec          // offered
	sent  sheet                // the newest request that is recorded
	asked sheet                // the newest that was made: it may have been held back
	found packed               // for the newest request
	late  chan struct{}        // closed by a Recall that nobody waits for any more; nil if there is none
	fell  bool                 // back, for the rest of the turn

	output   int // tokens of a reply that are asked for until the next compaction; 0 for as many as there can be
	futile   int // compactions of this turn that freed nothing ...
	futileAt int // ... the newest at so many tokens

	watching sync.Mutex // held while Observe runs

	steering sync.Mutex
	running  bool // a turn, under steering
	steer    []Input
	wanted   *string  // a compaction that a person wants, with what to keep in mind
	lifts    []string // asked for meanwhile

	constraints []event.Constrained // that hold, for other goroutines
	ruledOut    []event.Note
}

// Open records the opening, gives every call that a crash left open its result,
// repeating none of them, and returns an agent that is ready for a turn. The
// state belongs to the agent from now on.
func Open(ctx context.Context, s *session.State, o Options) (*Agent, error) {
	if o.Limits.Parallel == 0 {
		o.Limits.Parallel = 8
	}
	if o.Breaker.Failures == 0 {
		o.Breaker.Failures = 3
	}
	if o.Breaker.Cooldown == 0 {
		o.Breaker.Cooldown = defaultCooldown
	}
	all := append(append([]tool.Tool(nil), o.Tools...), o.Own...)
	if err := tool.ValidateAll(all); err != nil {
		return nil, err
	}
	specs := make([]tool.Spec, len(all))
	for i, t := range all {
		specs[i] = t.Spec()
	}
	a := &Agent{Options: o, state: s, tools: make(map[string]tool.Tool)}
	for _, t := range all {
		a.tools[t.Spec().Name] = t
	}
	a.specs = specs[:len(o.Tools)]
	a.Session.Tools = a.specs
	if err := a.record(a.Session); err != nil {
		return nil, err
	}
	if err := a.recover(ctx); err != nil {
		return nil, err
	}
	if err := a.heedLast(); err != nil {
		return nil, err
	}
	return a, a.askUnknown(ctx)
}

// ErrNothing reports a turn without words where none was cut.
var ErrNothing = errors.New("no turn was cut: there is nothing to go on with")

// ErrNoAnswer reports a reply with neither words nor calls.
var ErrNoAnswer = errors.New("the model ended its turn without an answer")

// An Ending reports a reply that ended the turn before the model was done.
type Ending struct{ Stop model.Stop }

func (e *Ending) Error() string {
	switch e.Stop {
	case model.Length:
		return "the answer was cut off by the output limit of the model"
	case model.Refused:
		return "the model declined to answer"
	}
	return "the model stopped: " + string(e.Stop)
}

// Turn works on in until the model asks for no more tools. Ending ctx
// interrupts it; every open call still gets its result before Turn returns. A
// turn that was cut after its answer only ends: the model is not asked again.
// Errors: ErrNothing, ErrNoAnswer, *Ending, *Limit, those of the provider and
// of the journal, and the cause of ctx.
func (a *Agent) Turn(ctx context.Context, in Input) error {
	if answer, ok := a.state.Answered(); ok && in.Text == "" {
		return a.end(model.Reply{Message: answer, Stop: model.End})
	}
	ctx, cancel := a.within(ctx)
	defer cancel()
	defer a.listen(false)
	if err := a.begin(ctx, in); err != nil {
		return err
	}
	for {
		reply, err := a.ask(ctx)
		if err != nil {
			return a.stop(ctx, err)
		}
		calls := len(reply.Message.Calls())
		if calls > 0 {
			if err := a.answer(ctx, reply); err != nil {
				return a.stop(ctx, err)
			}
		}
		again, err := a.steered(calls == 0)
		if err != nil {
			return a.stop(ctx, err)
		}
		if calls == 0 && !again {
			return a.end(reply)
		}
		a.snapshot(snapshotEvery)
	}
}

// begin records what starts a turn: the results that a turn before it could not
// record, rule files that changed, then the words.
func (a *Agent) begin(ctx context.Context, in Input) error {
	if in.Text == "" && !a.state.Turn().Open {
		return ErrNothing
	}
	if err := a.recover(ctx); err != nil {
		return err
	}
	a.fell, a.futile, a.output = false, 0, 0
	bodies, err := a.rulesFor(ctx, a.places(in.Mentions), nil)
	if err != nil {
		return err
	}
	if in.Text != "" {
		bodies = append(bodies, in.asked())
	}
	a.listen(true)
	if err := a.record(bodies...); err != nil {
		return err
	}
	return a.heed(a.state.Seq(), in.Text)
}

// request makes one request and hears the reply to it.
func (a *Agent) request(ctx context.Context) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	kept, err := a.recall(ctx)
	if err != nil {
		return model.Reply{}, err
	}
	request, sheet, err := a.compose(kept)
	if err != nil {
		return model.Reply{}, err
	}
	if made, err := a.makeRoom(ctx, prompt.Tokens(a.state, request)); err != nil {
		return model.Reply{}, err
	} else if made {
		if kept, err = a.recall(ctx); err != nil {
			return model.Reply{}, err
		}
		if request, sheet, err = a.compose(kept); err != nil {
			return model.Reply{}, err
		}
	}
	a.asked = sheet
	if err := a.refusedBefore(sheet); err != nil {
		return model.Reply{}, err
	}
	if err := a.send(request, sheet); err != nil {
		return model.Reply{}, err
	}
	var reply model.Reply
	for delta, err := range a.speaker().Provider.Stream(ctx, request) {
		if err != nil {
			return reply, errors.Join(err, a.keep(reply))
		}
		a.observe(Typing{delta})
		if r, ok := delta.(model.Reply); ok {
			reply = r
		}
	}
	if err := ctx.Err(); err != nil && reply.Stop == "" {
		return reply, err
	}
	if reply.Stop == "" {
		return reply, &model.Unavailable{Err: errors.New("the provider's stream ended without a reply")}
	}
	reply.Message = a.numbered(reply.Message)
	return reply, a.record(event.Replied{
		Message: reply.Message, Usage: reply.Usage, Stop: reply.Stop, Cost: a.speaker().Model.Cost(reply.Usage),
	})
}

// compose builds the next request, with what is not a matter of the session and
// with its tokens counted.
func (a *Agent) compose(kept []recall.Item) (*model.Request, sheet, error) {
	r := prompt.Request(a.state, kept, a.specs)
	r.Model, r.MaxOutput = a.speaker().Model.Name, a.speaker().Model.MaxOutput
	if a.output > 0 {
		r.MaxOutput = a.output
	}
	if a.System != "" {
		r.System = a.System + strings.TrimPrefix(r.System, prompt.Static())
	}
	r.Effort, r.Schema = a.Effort, a.Schema
	r.Open = a.Journal.Artifact
	s, err := a.sent.next(r)
	if err != nil {
		return nil, sheet{}, fmt.Errorf("encode a request: %w", err)
	}
	r.Tokens = s.estimate()
	return r, s, nil
}

// send records r, whose sheet is s.
func (a *Agent) send(r *model.Request, s sheet) error {
	repeats, rest := s.beyond(a.sent)
	spill, err := a.Journal.Spill("request")
	if err != nil {
		return err
	}
	_, err = spill.Write(bytes.Join(rest, nil))
	if err := errors.Join(err, spill.Close()); err != nil {
		return fmt.Errorf("keep a request: %w", err)
	}
	sent := event.Sent{Request: spill.Handle(), Repeats: repeats, Bytes: s.size(), Model: r.Model, Tokens: r.Tokens, For: string(r.Purpose)}
	if err := a.record(sent); err != nil {
		return err
	}
	a.sent = s
	return nil
}

// keep records the words of a reply that broke off: not its calls, which never
// run.
func (a *Agent) keep(r model.Reply) error {
	text := r.Message.Text()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	m := model.Message{Role: model.Assistant, From: r.Message.From, Parts: []model.Part{model.Text{Text: text}}}
	return a.record(event.Replied{
		Message: m, Usage: r.Usage, Stop: model.Cut, Cost: a.speaker().Model.Cost(r.Usage),
	})
}

// numbered gives the calls of m their ids.
func (a *Agent) numbered(m model.Message) model.Message {
	parts := make([]model.Part, len(m.Parts))
	calls := 0
	for i, p := range m.Parts {
		if c, ok := p.(model.Call); ok {
			c.ID = a.state.NextCall(calls)
			calls++
			p = c
		}
		parts[i] = p
	}
	m.Parts = parts
	return m
}

// answer performs the calls of r, or says why they did not run. The rules of where
// they have been at work follow their results.
func (a *Agent) answer(ctx context.Context, r model.Reply) error {
	if r.Stop != model.End && r.Stop != model.Calls {
		return a.refuse(r.Message.Calls(), &tool.Failure{
			Kind:    tool.Invalid,
			Message: "not run: the reply was cut off before its end (" + string(r.Stop) + ")",
			Hint:    "ask for less in one answer: split the call into smaller ones",
		})
	}
	tasks := requested(r.Message)
	run := min(len(tasks), maxCalls)
	if err := a.perform(ctx, tasks[:run]); err != nil {
		return err
	}
	err := a.refuse(r.Message.Calls()[run:], &tool.Failure{
		Kind:    tool.Invalid,
		Message: fmt.Sprintf("not run: of one reply the first %d calls are", maxCalls),
		Hint:    "ask for fewer calls at a time, or for one that does more",
	})
	if err != nil {
		return err
	}
	return a.obey(ctx, tasks)
}

// refuse gives calls that did not run their results.
func (a *Agent) refuse(calls []tool.Call, why *tool.Failure) error {
	var bodies []event.Body
	for _, c := range calls {
		bodies = append(bodies, event.Finished{Call: c.ID, Result: tool.Failed(why)})
	}
	return a.record(bodies...)
}

// end records that the model has no more to ask for.
func (a *Agent) end(r model.Reply) error {
	err := a.record(event.Stopped{Reason: string(r.Stop)})
	a.snapshot(snapshotAtEnd)
	switch {
	case err != nil:
		return err
	case r.Stop != model.End && r.Stop != model.Calls:
		return &Ending{r.Stop}
	case strings.TrimSpace(r.Message.Text()) == "":
		return ErrNoAnswer
	}
	return nil
}

// stop records why a turn ended early, and returns the reason.
func (a *Agent) stop(ctx context.Context, why error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(why, ctx.Err()) {
		why = cause
	}
	reason := "error"
	if limit, ok := errors.AsType[*Limit](why); ok {
		reason = "limit: " + limit.What
	} else if ctx.Err() != nil {
		reason = "interrupted"
	}
	if len(a.state.Open()) > 0 { // the journal failed before their results: recovery settles them
		return why
	}
	for { // what was said until now is kept for the next turn
		again, err := a.steered(true)
		if err != nil {
			return errors.Join(why, err)
		}
		if !again {
			return errors.Join(why, a.record(a.refusal(event.Stopped{Reason: reason, Detail: why.Error()}, why)))
		}
	}
}

// record is the only way that state changes: to disk, into the state, and then
// out to whoever watches.
func (a *Agent) record(bodies ...event.Body) error {
	if len(bodies) == 0 {
		return nil
	}
	if err := a.state.Fits(bodies[0]); err != nil { // on disk it would make the session unreadable
		return err
	}
	events, err := a.Journal.Append(bodies...)
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := a.state.Apply(e); err != nil {
			return err
		}
		a.observe(Recorded{e})
	}
	return nil
}

// Fill returns how many tokens the next request takes of the context window, and
// how many it may. It may be called by Observe.
func (a *Agent) Fill() (used, limit int) { return prompt.Fill(a.state, a.speaker().Model) }

func (a *Agent) observe(s Signal) {
	if recorded, ok := s.(Recorded); ok {
		a.publish(recorded.Event)
	}
	if a.Observe == nil {
		return
	}
	a.watching.Lock()
	defer a.watching.Unlock()
	a.Observe(s)
}
