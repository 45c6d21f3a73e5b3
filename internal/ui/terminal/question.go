package terminal

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Approve shows a plan, with all of its parts and the whole preview, and waits
// for an answer. Signals that come meanwhile are shown after it. Only what was
// typed after the question was shown answers it. At the end of the input the
// answer is no. When ctx ends, so does the question, with ctx's error.
func (u *UI) Approve(ctx context.Context, q agent.Question) (agent.Answer, error) {
	if u.input == nil {
		return agent.Answer{Reason: "there is nobody to ask"}, nil
	}
	var a agent.Answer
	err := u.ask(ctx, form{
		show:    func() { u.view.question(q) },
		choices: func() { u.view.choices(q) },
		take: func(line string) (ok bool) {
			a, ok = answerOf(line, q.Remember)
			return ok
		},
	})
	if ended, ok := errors.AsType[*inputError](err); ok {
		a = agent.Answer{Reason: "no answer was given"}
		if ended.error != io.EOF {
			a.Reason += ": " + ended.Error()
		}
		return a, nil
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

// answerOf reads an answer. Only its exact word is a yes, and only what begins
// with the word is a no; the rest of it is the reason. Anything else, such as "ok"
// or "yes, but", could mean either and is none.
func answerOf(line string, rules []string) (a agent.Answer, ok bool) {
	line = strings.TrimSpace(line)
	switch strings.ToLower(line) {
	case "y", "yes":
		return agent.Answer{Allow: true}, true
	case "a", "always":
		return agent.Answer{Allow: true, Remember: rules}, len(rules) > 0
	case "s", "save":
		return agent.Answer{Allow: true, Remember: rules, Save: true}, len(rules) > 0
	}
	word, why, _ := strings.Cut(line, " ")
	switch strings.ToLower(strings.TrimRight(word, ",.:;")) {
	case "n", "no":
		return agent.Answer{Reason: strings.TrimSpace(why)}, true
	}
	return a, false
}

func (v *view) question(q agent.Question) {
	p := q.Plan
	preview := p.Preview
	if q.Action != nil && q.Action.Preview != "" {
		preview = q.Action.Preview // a plan may hold only a handle to it
	}
	title := oneLine(label(p.Call.Tool, p.Summary))
	if strings.HasSuffix(p.Summary, " ...") && p.Summary != preview && len(p.Parts) == 1 && p.Parts[0].Name == preview {
		title = p.Call.Tool + " do this" // all of it stands below
	}
	v.framed(bold, "May "+title+"?")
	for _, part := range p.Parts {
		if part.Name == p.Summary || part.Name == preview {
			part.Name = "" // it stands above or below
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
	for _, r := range q.Why {
		v.framed(normal, "  "+oneLine(r.Question+" The model: "+r.Answer))
	}
	if q.Decision.Rule != "" {
		why := "why: " + reason(q)
		if !strings.Contains(why, q.Decision.Rule) {
			why += " (" + q.Decision.Rule + ")"
		}
		v.framed(dim, oneLine(why))
	}
}

// reason is that of q's decision, without what it repeats of the one part that is
// shown anyway.
func reason(q agent.Question) string {
	why, parts := q.Decision.Reason, q.Plan.Parts
	if len(parts) != 1 || parts[0].Name == "" || !strings.HasSuffix(why, ")") {
		return why
	}
	name := []rune(parts[0].Name)
	why, _, _ = strings.Cut(why, " ("+string(name[:min(len(name), 100)]))
	if strings.HasSuffix(why, ")") { // a name that fits no line is quoted
		why, _, _ = strings.Cut(why, ` ("`)
	}
	return why
}

// choices shows every rule that an answer would leave behind, in full, before it
// can be given.
func (v *view) choices(q agent.Question) {
	choices := "y: yes   n: no   n WHY: no, and why"
	if len(q.Remember) > 0 {
		choices += "   a: always, in this session   s: always, in every project"
		for _, rule := range q.Remember {
			v.framed(dim, oneLine("always: "+rule))
		}
	}
	v.options(choices)
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
