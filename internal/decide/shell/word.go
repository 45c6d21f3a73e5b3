package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// An arg is one word of a command as the program gets it.
type arg struct {
	text  string // all of it, or what it begins with
	known bool   // text is all
	pipe  bool   // it names a pipe
	odd   bool   // it is put together from more than a literal or a quoted one
	shown string // as a part's name has it

	output string // what comes through that pipe, as far as it is written out
}

// literal is an arg whose text is all.
func literal(text string) arg { return arg{text: text, known: true, shown: quoted(text)} }

// quoted is text as one word of a shell.
func quoted(text string) string {
	if text == "[" || text != "" && !strings.ContainsAny(text, " \t\n'\"\\$`;&|<>()*?[]{}#~!") && utf8.ValidString(text) {
		return text
	}
	q, err := syntax.Quote(text, syntax.LangBash)
	if err != nil {
		return "'" + strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "") + "'"
	}
	return q
}

// words expands words as a shell does. What it cannot follow is noted in d.
func (r *run) words(list []*syntax.Word, d *deed) (args []arg) {
	for _, w := range list {
		args = append(args, r.word(w, d)...)
	}
	return args
}

func (r *run) word(w *syntax.Word, d *deed) []arg {
	if words, has := r.braces(w); has {
		shown := r.spelt(w)
		d.unclear("%s is a brace expansion", shown)
		if words == nil {
			return []arg{{shown: shown}}
		}
		return r.words(words, d)
	}
	if all, ok := positional(w, d); ok {
		return all
	}
	x := expansion{r: r, d: d, known: true}
	for i, part := range w.Parts {
		x.part(part, i == 0)
	}
	shown := x.text.String()
	if len(w.Parts) > 0 {
		shown = r.source(w.Pos(), w.End())
	}
	switch {
	case !x.known:
		return []arg{{text: x.text.String(), shown: shown}}
	case x.pipe:
		return []arg{{known: len(w.Parts) == 1, pipe: true, output: x.output, shown: shown}}
	case x.gone && !x.quotes && x.text.Len() == 0:
		return nil // an empty variable without quotes is no word
	case x.glob && d.s != nil && x.text.String() != "[":
		return r.glob(x.text.String(), x.pattern.String(), shown, d)
	}
	a := literal(x.text.String())
	a.odd = true
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			a.odd = strings.Contains(p.Value, `\`)
		case *syntax.SglQuoted:
			a.odd = p.Dollar
		case *syntax.DblQuoted:
			a.odd = len(p.Parts) != 1 || p.Dollar
		}
		if !a.odd && a.shown != a.text {
			a.shown = shown
		}
	}
	return []arg{a}
}

// positional returns what "$@" stands for, where that is known.
func positional(w *syntax.Word, d *deed) (args []arg, ok bool) {
	if len(w.Parts) != 1 || d.s == nil || d.s.args == nil {
		return nil, false
	}
	part, quoted := w.Parts[0], false
	if q, is := part.(*syntax.DblQuoted); is && len(q.Parts) == 1 {
		part, quoted = q.Parts[0], true
	}
	p, is := part.(*syntax.ParamExp)
	if !is || !plainParam(p) || p.Param.Value != "@" && (p.Param.Value != "*" || quoted) {
		return nil, false
	}
	return d.s.args, true
}

// spelt is the text of a word. One that was in braces has no place in the script
// that could be trusted.
func (r *run) spelt(w *syntax.Word) string {
	if splits(w) {
		return "{...}"
	}
	return r.source(w.Pos(), w.End())
}

// splits reports whether a word has braces that were found already.
func splits(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool { _, ok := p.(*syntax.BraceExp); return ok })
}

// braces reports whether a word has braces that stand for several, and returns
// these if that is all it has.
func (r *run) braces(w *syntax.Word) (words []*syntax.Word, has bool) {
	for _, part := range w.Parts {
		l, ok := part.(*syntax.Lit)
		has = has || ok && strings.Contains(l.Value, "{")
	}
	split := *w
	switch {
	case splits(w):
	case !has: // also for sh, which may be bash
		return nil, false
	case !syntax.SplitBraces(&split):
		text := r.spelt(w)
		return nil, strings.Contains(text, ",") || strings.Contains(text, "..") // bash may see more than this parser
	}
	var whole []syntax.WordPart
	for _, part := range split.Parts {
		if l, ok := part.(*syntax.Lit); !ok || l.Value != "" {
			whole = append(whole, part)
		}
	}
	if b, ok := whole[0].(*syntax.BraceExp); ok && len(whole) == 1 && !b.Sequence {
		return b.Elems, true
	}
	return nil, true
}

// glob returns what a pattern matches, or itself.
func (r *run) glob(text, pattern, shown string, d *deed) (args []arg) {
	absolute := strings.HasPrefix(pattern, "/")
	if strings.ContainsAny(pattern, `[\`) || len(d.s.dirs) != 1 && !absolute {
		d.unclear("%s is a pattern that is not followed", shown)
		return []arg{{shown: shown}}
	}
	dir := "."
	if !absolute {
		dir = d.s.dirs[0]
	}
	for _, match := range r.Glob(join(dir, pattern)) {
		if join(dir, pattern) != pattern {
			match = strings.TrimPrefix(match, strings.TrimSuffix(dir, "/")+"/")
		}
		a := literal(match)
		a.shown, a.odd = shown, true
		args = append(args, a)
	}
	if len(args) > 1000 {
		d.unclear("%s matches too much", shown)
		return []arg{{shown: shown}}
	}
	if args == nil {
		a := literal(text)
		a.shown = shown
		return []arg{a}
	}
	return args
}
