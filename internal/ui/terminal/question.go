package terminal

import (
	"context"
	"errors"
	"io"
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
		choices: func() { u.view.choices(q, rule) },
		take: func(line string) (ok bool) {
			a, ok = answerOf(line, rule)
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
func answerOf(line, rule string) (a agent.Answer, ok bool) {
	line = strings.TrimSpace(line)
	switch strings.ToLower(line) {
	case "y", "yes":
		return agent.Answer{Allow: true}, true
	case "a", "always":
		return agent.Answer{Allow: true, Remember: rule}, rule != ""
	}
	word, why, _ := strings.Cut(line, " ")
	switch strings.ToLower(strings.TrimRight(word, ",.:;")) {
	case "n", "no":
		return agent.Answer{Reason: strings.TrimSpace(why)}, true
	}
	return a, false
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

func (v *view) choices(q agent.Question, rule string) {
	choices := "y: yes   n: no   n WHY: no, and why"
	switch rule {
	case "":
	case q.Plan.Call.Tool + "(" + q.Plan.Summary + ")", q.Plan.Call.Tool + "(" + q.Plan.Preview + ")": // just what is shown
		choices += "   a: always, in this session"
	default:
		choices += "   a: always " + rule + ", in this session"
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
