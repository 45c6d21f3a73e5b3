package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unknown stands in a text for what is not written out: a variable that no script sets.
const unknown = "$_"

// document returns what a redirection lets a command read, as far as it is written out.
func (r *run) document(x *syntax.Redirect, s state) (text string, ok bool) {
	switch x.Op {
	case syntax.WordHdoc:
		return r.written(x.Word.Parts, s, false) + "\n", true
	case syntax.Hdoc, syntax.DashHdoc:
		if x.Hdoc == nil {
			return "", true
		}
		return r.written(x.Hdoc.Parts, s, x.Word.Lit() == "" || strings.Contains(x.Word.Lit(), `\`)), true
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
		return "", x.N == nil || x.N.Value == "0"
	}
	return "", false
}

// written returns what parts of a word stand for. If raw is set, they are no more
// than text. It follows no command.
func (r *run) written(parts []syntax.WordPart, s state, raw bool) string {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if raw {
				b.WriteString(p.Value)
			} else {
				b.WriteString(unescape(p.Value))
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(ansi(p.Value))
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			b.WriteString(r.written(p.Parts, s, false))
		case *syntax.ParamExp:
			v := value{}
			if p.Param != nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Index == nil && !p.Length && !p.Excl {
				v = s.vars[p.Param.Value]
			}
			if !v.known {
				v.text = unknown
			}
			b.WriteString(v.text)
		default:
			b.WriteString(unknown)
		}
	}
	return b.String()
}

// input follows what a shell reads from a pipe or a document, where that is written out.
func (m *match) input(rest []arg) {
	r := m.d.r
	if o, _ := m.t.option("-c"); o.kind != "script" && !m.t.feeds || m.scripted {
		return
	}
	text := r.in
	if m.drop == 0 && len(rest) > 0 && !m.t.feeds {
		text = r.through(rest[0])
	}
	r.reads(text, m.lang(), state{dirs: m.d.s.dirs})
}

// through returns what is in a file that a shell takes for a script, where that is
// what it or the shell gets through a pipe.
func (r *run) through(a arg) string {
	switch {
	case a.pipe:
		return a.output
	case !a.known || a.text == "-" || strings.HasPrefix(a.text, "/dev/") || strings.HasPrefix(a.text, "/proc/"):
		return r.in
	}
	return ""
}

// reads follows what a shell reads.
func (r *run) reads(text string, lang syntax.LangVariant, s state) {
	if strings.TrimSpace(text) == "" {
		return
	}
	in := r.in
	r.in = "" // it is read now
	r.inner(text, lang, s)
	r.in = in
}

// prints notes what a command hands on through a pipe.
func (r *run) prints(name string, args []arg) {
	if r.out == nil || r.out.Len() > maxLine {
		return
	}
	switch name {
	case "echo":
		r.out.WriteString(r.echoed(args) + "\n")
	case "printf":
		if len(args) > 0 && args[0].known {
			r.out.WriteString(formatted(args[0].text, args[1:]))
		}
	case "cat", "tee":
		reads := name == "tee" || !slices.ContainsFunc(args, func(a arg) bool { return a.text != "-" && !strings.HasPrefix(a.text, "-") })
		if reads || slices.ContainsFunc(args, func(a arg) bool { return a.text == "-" }) {
			r.out.WriteString(r.in)
		}
	}
}

func (r *run) echoed(args []arg) string {
	escapes := r.lang == syntax.LangPOSIX
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0].text, "e")
		args = args[1:]
	}
	var words []string
	for _, a := range args {
		words = append(words, a.whole())
	}
	text := strings.Join(words, " ")
	if escapes {
		return ansi(text)
	}
	return text
}

// whole is the text of a, with unknown for what is not known of it.
func (a arg) whole() string {
	if a.known && !a.pipe {
		return a.text
	}
	return a.text + unknown
}

// formatted is what printf makes of a format, again and again until all of args
// are used. Numbers, widths and the like are as they are given.
func formatted(format string, args []arg) string {
	var b strings.Builder
	for {
		used := false
		for rest := format; rest != ""; {
			before, after, verb := strings.Cut(rest, "%")
			b.WriteString(ansi(before))
			if !verb {
				break
			}
			after = strings.TrimLeft(after, "0123456789.-+ #'")
			switch {
			case after == "":
			case after[0] == '%':
				b.WriteByte('%')
			case len(args) > 0:
				text := args[0].whole()
				if after[0] == 'b' {
					text = ansi(text)
				}
				b.WriteString(text)
				args, used = args[1:], true
			}
			rest = after[min(1, len(after)):]
		}
		if !used || len(args) == 0 || b.Len() > maxLine {
			return b.String()
		}
	}
}
