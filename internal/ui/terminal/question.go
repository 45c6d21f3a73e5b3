package terminal

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// maxRule is the longest rule that is offered to a person, in bytes.
const maxRule = 4096

// Approve shows a plan, with all of its parts and the whole preview, and waits
// for an answer. Signals that come meanwhile are shown after it. Only what was
// typed after the question was shown answers it. At the end of the input the
// answer is no. When ctx ends, so does the question, with ctx's error.
func (u *UI) Approve(ctx context.Context, q agent.Question) (agent.Answer, error) {
	if u.input == nil {
		return agent.Answer{Reason: "there is nobody to ask"}, nil
	}
	rule := remembered(q)
	var a agent.Answer
	err := u.ask(ctx, form{
		show:    func() { u.view.question(q) },
		choices: func() { u.view.choices(rule) },
		take: func(line string) (ok bool) {
			a, ok = answerOf(line, rule)
			return ok
		},
	})
	if ended, ok := errors.AsType[*inputError](err); ok {
		return agent.Answer{Reason: "no answer: " + ended.Error()}, nil
	}
	return a, err
}

// A form is a question: what it shows, what may be answered, and what takes an
// answer or says that it is none.
type form struct {
	show, choices func()
	take          func(line string) bool
}

// An inputError reports an input that ended before it held an answer.
type inputError struct{ error }

// ask holds up everything else that is to be shown until the question has its
// answer, ctx ends, or the input does.
func (u *UI) ask(ctx context.Context, f form) error {
	ctx, cancel := u.until(ctx)
	defer cancel()
	answered := make(chan error, 1)
	if err := u.do(ctx, func() { answered <- u.answer(ctx, f) }); err != nil {
		return err
	}
	return <-answered
}

func (u *UI) answer(ctx context.Context, f form) error {
	if ctx.Err() != nil { // nobody needs to read it any more
		return context.Cause(ctx)
	}
	if u.flush != nil {
		u.flush()
	}
	f.show()
	for {
		f.choices()
		line, err := u.input.line(ctx, true)
		if err == nil {
			u.view.entered()
		}
		if ctx.Err() != nil {
			u.view.framed(dim, "(no longer asked)")
			return context.Cause(ctx)
		}
		if err != nil {
			return &inputError{err}
		}
		if f.take(line) {
			return nil
		}
	}
}

// answerOf reads an answer. Only its exact word is a yes; a text is a no and
// its reason.
func answerOf(line, rule string) (a agent.Answer, ok bool) {
	switch word := strings.ToLower(strings.TrimSpace(line)); {
	case word == "":
		return a, false
	case word == "y" || word == "yes":
		return agent.Answer{Allow: true}, true
	case word == "n" || word == "no":
		return agent.Answer{}, true
	case word == "a" || word == "always":
		return agent.Answer{Allow: true, Remember: rule}, rule != ""
	case len(word) == 1:
		return a, false // a slip, not a reason
	}
	return agent.Answer{Reason: strings.TrimSpace(line)}, true
}

// remembered returns the narrowest rule that would settle such a call: for all
// of its parts, which must go by one name, and for nothing else. What no rule
// can settle has none.
func remembered(q agent.Question) string {
	parts := q.Plan.Parts
	if len(parts) == 0 || parts[0].Name == "" {
		return ""
	}
	name, isPath := parts[0].Name, true
	for _, p := range parts {
		if p.Name != name || slices.ContainsFunc(p.Effects, permanent) {
			return ""
		}
		isPath = isPath && !slices.ContainsFunc(p.Effects, func(e effect.Effect) bool { return e.On != name })
	}
	if isPath { // for a tool of paths a pattern is a glob, for all others it is the name itself
		name = literal(name)
	}
	if len(name) > maxRule || !isPath && !strings.Contains(name, " ") && literal(name) != name {
		return "" // the last would not be read as a rule
	}
	return q.Plan.Call.Tool + "(" + name + ")"
}

func permanent(e effect.Effect) bool { return e.Kind == effect.Permanent }

// literal returns a pattern that name alone matches.
func literal(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (v *view) question(q agent.Question) {
	p := q.Plan
	preview := p.Preview
	if q.Action != nil && q.Action.Preview != "" {
		preview = q.Action.Preview // a plan may hold only a handle to it
	}
	v.framed(bold, "May "+oneLine(label(p.Call.Tool, p.Summary))+"?")
	for _, part := range p.Parts {
		if part.Name == p.Summary {
			part.Name = "" // it stands above
		}
		v.framed(normal, "  "+strings.TrimSpace(oneLine(describe(part))))
	}
	if preview != "" && preview != p.Summary {
		v.framed(normal, "")
		for line := range strings.SplitSeq(strings.TrimSuffix(preview, "\n"), "\n") {
			v.framed(diffStyle(line), "  "+line)
		}
		v.framed(normal, "")
	}
	if q.Decision.Rule != "" {
		why := "why: " + q.Decision.Reason
		if !strings.Contains(why, q.Decision.Rule) {
			why += " (" + q.Decision.Rule + ")"
		}
		v.framed(dim, oneLine(why))
	}
}

func (v *view) choices(rule string) {
	choices := "y: yes   n: no   "
	if rule != "" {
		choices += "a: always, as " + rule + "   "
	}
	v.options(choices + "or say why not")
}

// options shows what can be answered, and waits behind a prompt.
func (v *view) options(choices string) {
	v.framed(bold, choices)
	prompt := string(frame) + " > "
	if v.o.Width > 0 {
		prompt = cut(prompt, v.o.Width)
	}
	v.write(progress, bold, prompt)
}

func (v *view) prompt(text string) {
	v.fresh()
	v.write(progress, bold, text)
}

// entered notes that the person ended the line.
func (v *view) entered() { v.open = nowhere }

// framed shows text in full, on as many lines as it needs, each of which starts
// with the frame.
func (v *view) framed(st style, text string) {
	v.fresh()
	edge, width := string(frame)+" ", v.o.Width-2
	if v.o.Width < 4 {
		edge, width = string(frame), max(v.o.Width-1, 1)
	}
	if v.o.Width == 0 {
		edge, width = string(frame)+" ", 1<<30
	}
	for _, line := range wrap(text, width) {
		v.write(progress, bold, edge)
		v.write(progress, st, line)
		v.write(progress, normal, "\n")
	}
}

func diffStyle(line string) style {
	switch {
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@@"):
		return dim
	}
	return normal
}

func describe(p tool.Part) string {
	var does []string
	for _, e := range p.Effects {
		what := string(e.Kind)
		if e.On != "" && e.On != p.Name {
			what += " " + e.On
		}
		if e.Tree {
			what += " the whole tree"
		}
		if !slices.Contains(does, what) {
			does = append(does, what)
		}
	}
	if len(does) == 0 {
		does = []string{"no effects"}
	}
	return p.Name + " [" + strings.Join(does, ", ") + "]"
}
