package otel

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/semconv/v1.37.0"

	"github.com/belay-agent/belay/internal/contract/event"
	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A Fold turns the events of one session, which it is given in order, into spans.
// The zero Fold is of a session without events.
type Fold struct {
	Content bool // spans also hold what was said and done

	session string
	model   string
	turn    *Span
	steps   int
	sent    time.Time // when the request that is not answered went out
	calls   map[string]*Span
	ended   []Span
}

// Add adds the next event.
func (f *Fold) Add(e event.Event) {
	switch b := e.Body.(type) {
	case event.Opened:
		f.session, f.model = b.Session, b.Model
	case event.Asked:
		f.begin(e)
		if f.Content {
			f.turn.set(string(semconv.GenAIInputMessagesKey), messages("user", model.Message{Parts: []model.Part{model.Text{Text: b.Text}}}, ""))
		}
	case event.Sent:
		f.sent = e.Time
	case event.Switched:
		f.model = b.To
	case event.Replied:
		f.replied(e, b)
	case event.Planned:
		f.planned(e, b)
	case event.Decided:
		if s := f.calls[b.Call]; s != nil {
			s.set("belay.verdict", b.Verdict)
			s.set("belay.decided_by", f.rule(b.By))
		}
	case event.Started:
		if s := f.calls[b.Call]; s != nil {
			s.Start = nanos(e.Time)
			for _, w := range b.Waited {
				s.set("belay.waited_for", w.Call)
			}
		}
	case event.Finished:
		f.finished(e, b)
	case event.Stopped:
		f.stopped(e, b)
	}
}

// Ended returns the spans that have ended since it was last called.
func (f *Fold) Ended() []Span {
	ended := f.ended
	f.ended = nil
	return ended
}

// Rest ends what the session, which is over, left open, at a time.
func (f *Fold) Rest(at time.Time) []Span {
	for _, id := range slices.Sorted(maps.Keys(f.calls)) {
		f.end(f.calls[id], at, Status{})
	}
	f.calls = nil
	if f.turn != nil {
		f.end(f.turn, at, Status{})
		f.turn = nil
	}
	return f.Ended()
}

// begin starts a turn, unless one goes on.
func (f *Fold) begin(e event.Event) {
	if f.turn != nil {
		return
	}
	f.steps = 0
	f.turn = &Span{
		Trace: newID(16, f.session, strconv.FormatInt(e.Seq, 10)), ID: f.id(e), Name: "invoke_agent belay", Kind: internalKind, Start: nanos(e.Time),
		Attrs: []Attribute{
			text(string(semconv.GenAIOperationNameKey), "invoke_agent"), text(string(semconv.GenAIAgentNameKey), "belay"),
			text(string(semconv.GenAIConversationIDKey), f.session), number("belay.event", e.Seq),
		},
	}
	f.turn.set(string(semconv.GenAIRequestModelKey), modelName(f.model))
}

func (f *Fold) id(e event.Event) ID { return newID(8, f.session, strconv.FormatInt(e.Seq, 10)) }

func (f *Fold) end(s *Span, at time.Time, how Status) {
	s.End, s.Outcome = nanos(at), how
	f.ended = append(f.ended, *s)
}

func (f *Fold) replied(e event.Event, b event.Replied) {
	f.begin(e)
	f.steps++
	from := b.Message.From
	if from == "" {
		from = f.model
	}
	if f.sent.IsZero() {
		f.sent = e.Time
	}
	name := modelName(from)
	s := &Span{
		Trace: f.turn.Trace, ID: f.id(e), Parent: f.turn.ID, Name: strings.TrimSpace("chat " + name), Kind: clientKind, Start: nanos(f.sent),
		Attrs: []Attribute{
			text(string(semconv.GenAIOperationNameKey), "chat"), text(string(semconv.GenAIProviderNameKey), provider(from)),
			text(string(semconv.GenAIConversationIDKey), f.session), number("belay.event", e.Seq), number("belay.step", int64(f.steps)),
			texts(string(semconv.GenAIResponseFinishReasonsKey), string(b.Stop)),
			number(string(semconv.GenAIUsageInputTokensKey), int64(b.Usage.Input+b.Usage.Cached+b.Usage.CacheWrite)),
			number(string(semconv.GenAIUsageOutputTokensKey), int64(b.Usage.Output)),
			number("belay.cached_tokens", int64(b.Usage.Cached)), number("belay.cost_micro_cents", b.Cost),
		},
	}
	s.set(string(semconv.GenAIRequestModelKey), name)
	if b.Usage.Estimated {
		s.Attrs = append(s.Attrs, yes("belay.usage_estimated"))
	}
	if f.Content {
		s.set(string(semconv.GenAIOutputMessagesKey), messages("assistant", b.Message, string(b.Stop)))
	}
	how := Status{}
	if b.Stop != model.End && b.Stop != model.Calls {
		how.Code = codeError
		s.set(string(semconv.ErrorTypeKey), string(b.Stop))
	}
	f.sent = time.Time{}
	f.end(s, e.Time, how)
	for _, c := range b.Message.Calls() {
		f.call(e, c, s.ID)
	}
}

// call begins a call, which the step of that id asked for, or "" for a person.
func (f *Fold) call(e event.Event, c tool.Call, asked ID) {
	s := &Span{
		ID: newID(8, f.session, c.ID), Name: "execute_tool " + c.Tool, Kind: internalKind, Start: nanos(e.Time),
		Attrs: []Attribute{
			text(string(semconv.GenAIOperationNameKey), "execute_tool"), text(string(semconv.GenAIToolNameKey), c.Tool),
			text(string(semconv.GenAIToolCallIDKey), c.ID), text(string(semconv.GenAIToolTypeKey), "function"),
			text(string(semconv.GenAIConversationIDKey), f.session),
		},
	}
	if f.turn != nil {
		s.Trace, s.Parent = f.turn.Trace, f.turn.ID
	} else {
		s.Trace = newID(16, f.session, c.ID)
	}
	if asked != "" {
		s.Links = []Link{{s.Trace, asked}}
	}
	if f.Content {
		s.set("gen_ai.tool.call.arguments", string(c.Args))
	}
	if f.calls == nil {
		f.calls = make(map[string]*Span)
	}
	f.calls[c.ID] = s
}

func (f *Fold) planned(e event.Event, b event.Planned) {
	if f.calls[b.Plan.Call.ID] == nil {
		f.call(e, b.Plan.Call, "")
	}
}

func (f *Fold) finished(e event.Event, b event.Finished) {
	s := f.calls[b.Call]
	if s == nil {
		return
	}
	delete(f.calls, b.Call)
	s.Attrs = append(s.Attrs, number("belay.event", e.Seq))
	s.set("belay.status", string(b.Result.Status))
	s.set("belay.confined", b.Result.Confined)
	if n := len(b.Result.Edits); n > 0 {
		s.Attrs = append(s.Attrs, number("belay.files_changed", int64(n)))
	}
	how := Status{Code: codeOK}
	if failure := b.Result.Failure; failure != nil {
		how.Code = codeError
		s.set(string(semconv.ErrorTypeKey), string(failure.Kind))
		if f.Content {
			how.Message = failure.Message
		}
	}
	if f.Content {
		s.set("gen_ai.tool.call.result", b.Result.Text)
	}
	f.end(s, e.Time, how)
}

func (f *Fold) stopped(e event.Event, b event.Stopped) {
	if f.turn == nil {
		return
	}
	how := Status{Code: codeOK}
	if b.Reason != string(model.End) {
		how.Code = codeError
		f.turn.set(string(semconv.ErrorTypeKey), b.Reason)
		if f.Content {
			how.Message = b.Detail
		}
	}
	f.turn.Attrs = append(f.turn.Attrs, number("belay.steps", int64(f.steps)))
	f.end(f.turn, e.Time, how)
	f.turn = nil
}

// rule returns what decided. A rule may hold a command or a path, which is
// content.
func (f *Fold) rule(by string) string {
	if name, _, pattern := strings.Cut(by, "("); pattern && !f.Content {
		return name + "(…)"
	}
	return by
}
