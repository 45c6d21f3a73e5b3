package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/recall"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/session"
)

// A Change is what is different this time. The zero Change is nothing.
type Change struct {
	System string            // in place of the static text
	Rules  map[string]string // texts of rule files, by path; "" is none: see New
	Tools  map[string]string // descriptions of tools, by name
}

// A NoTool reports a change of a tool that the session does not have.
type NoTool struct {
	Name string
	Has  []tool.Spec
}

func (e *NoTool) Error() string {
	has := make([]string, len(e.Has))
	for i, s := range e.Has {
		has[i] = s.Name
	}
	return fmt.Sprintf("there is no tool %q in the session; it has %s", e.Name, strings.Join(has, ", "))
}

// Model returns the model that the session had last.
func (r *Recording) Model() string { return r.opened.Model }

// Steps returns what was recorded.
func (r *Recording) Steps() []Step { return r.steps }

// Events returns the log.
func (r *Recording) Events() []event.Event { return r.events }

// Turns returns how many turns there are.
func (r *Recording) Turns() int { return len(r.turns) }

// Doubts returns why a session that was played proves nothing from a turn on.
func (r *Recording) Doubts() []Doubt { return r.doubts }

// MaxOutput returns how many tokens replies could have, 0 if that is not known.
func (r *Recording) MaxOutput() int {
	for _, s := range r.steps {
		if s.Request != nil {
			return s.Request.MaxOutput
		}
	}
	return 0
}

// Play runs the session again with change. In o are the journal, the model, a
// policy that lets all pass, since nothing is done and what was denied is played as
// denied, and what else is changed; without o.Provider the recorded replies are played, so
// that only requests can differ. It returns the session that came of it, and why
// it ended early, if it did.
func (r *Recording) Play(ctx context.Context, o agent.Options, change Change) (*Recording, error) {
	t := newTape(r)
	for _, spec := range r.opened.Tools {
		if about, changed := change.Tools[spec.Name]; changed {
			spec.Description = about
		}
		o.Tools = append(o.Tools, player{spec, t})
	}
	for name := range change.Tools {
		if !slices.ContainsFunc(r.opened.Tools, func(s tool.Spec) bool { return s.Name == name }) {
			return nil, &NoTool{Name: name, Has: r.opened.Tools}
		}
	}
	o.Session = event.Opened{
		Session: r.opened.Session, Root: r.opened.Root, Commit: r.opened.Commit,
		Version: r.opened.Version, Model: o.Model.Name, Mode: r.opened.Mode,
	}
	o.Approve = func(context.Context, agent.Question) (agent.Answer, error) { return agent.Answer{Allow: true}, nil }
	o.Limits = agent.Limits{}
	o.Breaker = agent.Breaker{Failures: math.MaxInt} // where it was open, that is recorded
	o.System = change.System
	var events []event.Event
	o.Observe = func(s agent.Signal) {
		recorded, ok := s.(agent.Recorded)
		if !ok {
			return
		}
		events = append(events, recorded.Event)
		if b, ok := recorded.Event.Body.(event.Replied); ok {
			t.asked(b)
		}
	}
	if err := r.ruleable(change.Rules); err != nil {
		return nil, err
	}
	speaker := &speaker{recording: r, real: o.Provider}
	o.Provider = speaker
	o.Rules = func(_ context.Context, paths []string) ([]event.Ruled, error) {
		return r.rulesAt(speaker.ruled(), change.Rules, paths), nil
	}
	if r.recalls {
		o.Recall = func(context.Context, recall.Query) ([]recall.Item, error) { return speaker.recalled(), nil }
	}

	a, err := agent.Open(ctx, new(session.State), o)
	if err != nil {
		return nil, err
	}
	speaker.agent = a
	for i := range r.turns {
		now := &r.turns[i]
		speaker.begin(now)
		if err = a.Turn(ctx, agent.Input{Text: now.words.Text, Mentions: now.words.Mentions, Media: now.words.Media}); err != nil {
			break
		}
	}
	if errors.Is(err, errOver) {
		err = nil
	}
	again, readErr := Read(events, o.Journal.Artifact)
	if readErr != nil {
		return nil, errors.Join(err, readErr)
	}
	again.doubts = r.doubtsOf(again, t)
	return again, err
}

// errOver ends a session that was recorded no further.
var errOver = errors.New("the recording has no more replies")

// A speaker answers with the recorded replies, or lets a model answer. It says
// what a person said meanwhile when they said it.
type speaker struct {
	recording *Recording
	real      model.Provider
	agent     *agent.Agent

	mu   sync.Mutex
	now  *turn
	next int // reply of the turn, from 1
}

func (s *speaker) begin(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.next = t, 0
}

// recalled returns what the repository had offered for the request that comes next,
// nothing where there was none in its place.
func (s *speaker) recalled() []recall.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	steps := s.recording.steps
	if n := s.now.reply + s.next; n < len(steps) && steps[n].Turn == s.now.number {
		return steps[n].recalled
	}
	return nil
}

// ruled returns how many facts about rule files have come by now: those before the
// turn or, once it is under way, before its next reply.
func (s *speaker) ruled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == 0 {
		return s.now.ruled
	}
	n := s.now.ruled
	for n < len(s.recording.ruled) && s.recording.ruled[n].reply <= s.now.reply+s.next {
		n++
	}
	return n
}

func (s *speaker) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if req.Purpose != "" && s.real == nil {
			yield(nil, &model.BadRequest{Reason: "only recorded replies are played"})
			return
		}
		if req.Purpose == "" {
			s.mu.Lock()
			s.next++
			text, turn, n := s.now.later[s.next], s.now.number, s.now.reply+s.next
			s.mu.Unlock()
			if text != "" {
				s.agent.Steer(agent.Input{Text: text})
			}
			if s.real == nil {
				s.play(turn, n, yield)
				return
			}
		}
		for d, err := range s.real.Stream(ctx, req) {
			if !yield(d, err) {
				return
			}
		}
	}
}

// play yields the n-th reply of the recording, from 1, unless it is of a later
// turn.
func (s *speaker) play(turn, n int, yield func(model.Delta, error) bool) {
	steps := s.recording.steps
	if n > len(steps) || steps[n-1].Turn != turn {
		yield(nil, errOver)
		return
	}
	b := steps[n-1].Reply
	yield(model.Reply{Message: b.Message, Usage: b.Usage, Stop: b.Stop}, nil)
}
