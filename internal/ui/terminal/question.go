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
// for an answer. Of what is very long it shows an excerpt first; only what was shown
// in full can be allowed. Signals that come meanwhile are shown after it. Only what was
// typed after the question was shown answers it. At the end of the input the
// answer is no. When ctx ends, so does the question, with ctx's error.
func (u *UI) Approve(ctx context.Context, q agent.Question) (agent.Answer, error) {
	if u.input == nil {
		return agent.Answer{Reason: "there is nobody to ask"}, nil
	}
	var a agent.Answer
	left := 0 // lines that were not shown
	rules := rememberable(q.Remember)
	err := u.ask(ctx, form{
		show: func() { left = u.view.question(q, false) },
		choices: func() {
			if left > 0 {
				u.view.excerpted()
			} else {
				u.view.choices(q)
			}
		},
		take: func(line string) (ok bool) {
			a, ok = answerOf(line, rules)
			if left == 0 || ok && !a.Allow {
				return ok
			}
			if ok || wantsAll(line) {
				left = u.view.question(q, true)
				u.drop()
			}
			return false
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
	u.drop()
	u.view.measure()
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

// drop forgets what was typed before something was shown.
func (u *UI) drop() {
	if u.flush != nil {
		u.flush()
	}
}

// wantsAll reports whether line asks for all of a question.
func wantsAll(line string) bool {
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "w" || word == "whole"
}

// excerpted shows what can be answered while not all was shown.
func (v *view) excerpted() {
	v.options("w: show the whole, then decide   n: no   n WHY: no, and why")
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

// question shows q and returns how many lines and parts of it were left out. Where
// it is longer than the screen, what is decided about stands last.
func (v *view) question(q agent.Question, whole bool) (left int) {
	p := q.Plan
	preview := p.Preview
	if q.Action != nil && q.Action.Preview != "" {
		preview = q.Action.Preview // a plan may hold only a handle to it
	}
	title := oneLine(label(p.Call.Tool, p.Summary))
	if strings.HasSuffix(p.Summary, " ...") && p.Summary != preview && len(p.Parts) == 1 && p.Parts[0].Name == preview {
		title = p.Call.Tool + " do this" // all of it stands below
	}
	if !whole && cells(title) > maxName {
		title, left = cut(title, maxName), 1
	}
	var body []row
	if preview != "" && preview != p.Summary {
		body, left = v.body(preview, whole)
		body = append([]row{{normal, ""}}, append(body, row{normal, ""})...)
	}
	parts, fewer := v.parts(p.Parts, func(name string) bool { return name == p.Summary || name == preview }, whole)
	left += fewer
	if !v.long(len(body) + len(parts)) {
		v.framed(bold, "May "+title+"?")
		v.rows(parts)
		v.rows(body)
	} else {
		v.framed(bold, oneLine(p.Call.Tool)+" is asked for:")
		v.rows(body)
		v.framed(bold, "May "+title+"?")
		v.rows(parts)
	}
	for _, r := range q.Why {
		v.framed(normal, "  "+oneLine(r.Question+" The model: "+r.Answer))
	}
	if q.Decision.Rule != "" {
		why := "why: " + reason(q)
		if !strings.Contains(why, q.Decision.Rule) {
			why += " (" + q.Decision.Rule + ")"
		}
		v.framed(dim, cut(oneLine(why), maxName))
	}
	return left
}

func (v *view) rows(rows []row) {
	for _, r := range rows {
		v.framed(r.style, r.text)
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
	rules := rememberable(q.Remember)
	if len(rules) < len(q.Remember) {
		v.framed(dim, "always: not offered, since it would take "+count(len(q.Remember), "rule")+" that nobody reads")
	}
	if len(rules) > 0 {
		choices += "   a: always, in this session   s: always, in every project"
		for _, rule := range rules {
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
	edge := string(frame) + " "
	if v.o.Width > 0 && v.o.Width < 4 {
		edge = string(frame)
	}
	for _, line := range wrap(text, v.inFrame()) {
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
