package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/belay-agent/belay/internal/contract/model"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// maxShown bounds how much of a request is shown beside an expectation.
const maxShown = 2 << 10

// A Rehearsed is the embedded model that plays a script. It answers each
// request with the next step; the first one that it sees decides by its replies
// where to begin, so a session that is resumed goes on. It is deterministic and
// safe for concurrent use, though which request gets which step is then decided
// by their order.
type Rehearsed struct {
	script *script

	mu       sync.Mutex
	begun    bool
	next     int
	told     int // handoffs that were given
	captures map[string]string
}

// NewRehearsed returns a model that plays script, a txtar archive as
// docs/rehearsal.md describes it. The name is for messages, which also give the
// line.
func NewRehearsed(name string, script []byte) (*Rehearsed, error) {
	s, err := parseScript(name, script)
	if err != nil {
		return nil, err
	}
	return &Rehearsed{script: s, captures: map[string]string{}}, nil
}

// Stream answers with the next step. A request that is not as the step expects
// it, or comes after the last one, is a *model.BadRequest that shows both.
func (r *Rehearsed) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		if _, err := sendable(req, ""); err != nil {
			yield(nil, err)
			return
		}
		s, parts, err := r.answer(req)
		if err != nil {
			yield(nil, err)
			return
		}
		if s.fail != nil {
			yield(nil, s.fail.err(r.script.name, s.line, req))
			return
		}
		p := performance{ctx: ctx, delay: s.delay, yield: yield}
		p.play(parts)
		p.end(s, r.reply(s, parts, req))
	}
}

// answer takes the step that is due.
func (r *Rehearsed) answer(req *model.Request) (step, []model.Part, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Purpose == model.Handoff {
		return r.handoff(req)
	}
	if !r.begun {
		r.begun = true
		r.catchUp(req)
	}
	if again := interrupted(req.Messages); again != nil && r.retries() {
		last := r.script.steps[r.next-1]
		return step{line: last.line, delay: last.delay, stop: model.Calls}, again, nil
	}
	if r.next >= len(r.script.steps) {
		return step{}, nil, &model.BadRequest{
			Reason: fmt.Sprintf("script %s has no step for this request: it ends after step %d\n  expected: no more requests\n  came: %s",
				r.script.name, len(r.script.steps), shown(req)),
			Hint: "the rehearsed model only plays its script; add a step to it",
		}
	}
	uncut := *req
	uncut.Messages = r.uncut(req.Messages)
	req = &uncut
	s := r.script.steps[r.next]
	captures := maps.Clone(r.captures)
	for _, x := range s.expects {
		if !x.match(req, captures) {
			return step{}, nil, r.mismatch(s, x, req)
		}
	}
	parts, err := r.parts(s, captures)
	if err != nil {
		return step{}, nil, err
	}
	r.captures = captures
	r.next++
	return s, parts, nil
}

// handoff takes the first answer to a request for one that is left and expects
// what req is.
func (r *Rehearsed) handoff(req *model.Request) (step, []model.Part, error) {
	for ; r.told < len(r.script.handoffs); r.told++ {
		s, captures := r.script.handoffs[r.told], maps.Clone(r.captures)
		if slices.ContainsFunc(s.expects, func(x expectation) bool { return !x.match(req, captures) }) {
			continue
		}
		parts, err := r.parts(s, captures)
		r.told++
		return s, parts, err
	}
	return step{}, nil, &model.BadRequest{
		Reason: "script " + r.script.name + " has no handoff for this request",
		Hint:   "add one to it, or let what the log proves stand alone",
	}
}

// Window returns how many tokens a request and its reply may have, 0 where the
// script does not say.
func (r *Rehearsed) Window() int { return r.script.window }

// catchUp skips the steps that req shows as played, for what they captured. A
// reply that asked again played none. What was compacted is only counted.
func (r *Rehearsed) catchUp(req *model.Request) {
	r.next = req.Before
	for i, m := range req.Messages {
		if m.Role != model.Assistant {
			continue
		}
		if r.retries() && asksAgain(req.Messages[:i+1]) {
			continue
		}
		if r.next < len(r.script.steps) {
			before := *req
			before.Messages = r.uncut(req.Messages[:i])
			for _, x := range r.script.steps[r.next].expects {
				x.match(&before, r.captures)
			}
		}
		r.next++
	}
}

func (r *Rehearsed) mismatch(s step, x expectation, req *model.Request) error {
	label := ""
	if s.label != "" {
		label = " (" + s.label + ")"
	}
	shows := shown(req)
	switch x.subject {
	case "tool":
		var names []string
		for _, t := range req.Tools {
			names = append(names, t.Name)
		}
		shows = "tools " + clip(strings.Join(names, ", "), maxShown)
	case "system", "user":
		shows = clip(strings.Join(x.texts(req), "\n"), maxShown)
	}
	return &model.BadRequest{
		Reason: fmt.Sprintf("script %s:%d: the conversation left the script at step %d%s\n  expected: %s\n  came: %s",
			r.script.name, x.line, r.next+1, label, x.text, shows),
		Hint: "the rehearsed model only plays its script; change the script or what led here",
	}
}

// shown is what came, indented to stand below the expectation.
func shown(req *model.Request) string {
	return strings.ReplaceAll(clip(came(req), maxShown), "\n", "\n    ")
}

// parts turns what a step says into parts of a message. Texts in a row become
// one.
func (r *Rehearsed) parts(s step, captures map[string]string) ([]model.Part, error) {
	plain := func(name string) (string, bool) { v, ok := captures[name]; return v, ok }
	quoted := func(name string) (string, bool) { v, ok := captures[name]; return escapeJSON(v), ok }
	var parts []model.Part
	for _, p := range s.says {
		switch p.kind {
		case says:
			text := fill(p.text, plain)
			if n := len(parts); n > 0 {
				if before, ok := parts[n-1].(model.Text); ok {
					parts[n-1] = model.Text{Text: before.Text + "\n" + text}
					continue
				}
			}
			parts = append(parts, model.Text{Text: text})
		case thinks:
			parts = append(parts, model.Reasoning{Text: fill(p.text, plain)})
		case garbles:
			parts = append(parts, model.Call{
				Call:      tool.Call{Tool: p.tool, Args: json.RawMessage("null")},
				Malformed: fill(p.text, plain),
			})
		case calls:
			args := []byte(fill(p.text, quoted))
			var compact bytes.Buffer
			if err := json.Compact(&compact, args); err != nil {
				return nil, &model.BadRequest{Reason: fmt.Sprintf("script %s:%d: arguments of %s, captures filled in: %v", r.script.name, p.line, p.tool, err)}
			}
			parts = append(parts, model.Call{Call: tool.Call{Tool: p.tool, Args: compact.Bytes()}})
		}
	}
	return parts, nil
}

// escapeJSON returns s as it stands between the quotes of a JSON string.
func escapeJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("provider: a string is always JSON: " + err.Error())
	}
	quoted := strings.TrimSuffix(b.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

func (r *Rehearsed) reply(s step, parts []model.Part, req *model.Request) model.Reply {
	reply := model.Reply{
		Message: model.Message{Role: model.Assistant, From: "script/" + r.script.name, Parts: parts},
		Stop:    s.stop,
	}
	if s.usage != nil {
		reply.Usage = *s.usage
	} else {
		reply.Usage = estimate(req, parts)
	}
	return reply
}

// err returns the error that the script asks for in place of a reply.
func (f *failing) err(name string, line int, req *model.Request) error {
	at := fmt.Sprintf("script %s:%d", name, line)
	switch f.kind {
	case "overflow":
		return fmt.Errorf("%s: %w", at, model.ErrOverflow)
	case "unavailable":
		return &model.Unavailable{After: f.after, Err: errors.New(at + " plays a provider that cannot answer")}
	case "rejected":
		message := f.message
		if message < 0 {
			message += len(req.Messages)
		}
		return &model.Rejection{Message: message, Part: f.part, Reason: at + " plays a provider that rejects it"}
	}
	return &model.BadRequest{Status: 400, Reason: at + " plays a provider that refuses the request"}
}
