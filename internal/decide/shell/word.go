package shell

import (
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
		shown := r.source(w.Pos(), w.End())
		d.unclear("%s is a brace expansion", shown)
		if words == nil {
			return []arg{{shown: shown}}
		}
		return r.words(words, d)
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
		return []arg{{known: len(w.Parts) == 1, pipe: true, shown: shown}}
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

// braces reports whether a word has braces that stand for several, and returns
// these if that is all it has.
func (r *run) braces(w *syntax.Word) (words []*syntax.Word, has bool) {
	for _, part := range w.Parts {
		l, ok := part.(*syntax.Lit)
		has = has || ok && strings.Contains(l.Value, "{")
	}
	split := *w
	if !has || r.lang == syntax.LangPOSIX {
		return nil, false
	}
	if !syntax.SplitBraces(&split) {
		text := r.source(w.Pos(), w.End())
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

// An expansion is one word while it is put together.
type expansion struct {
	r       *run
	d       *deed
	text    strings.Builder
	pattern strings.Builder
	known   bool
	glob    bool
	pipe    bool
	gone    bool // it has a variable without quotes
	quotes  bool // it has quotes
}

func (x *expansion) write(text string, plain bool) {
	if !x.known {
		return
	}
	x.text.WriteString(text)
	if !plain && strings.ContainsAny(text, `*?[\`) {
		text = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(text)
	}
	x.pattern.WriteString(text)
}

// lost notes that the rest of the word is not known.
func (x *expansion) lost() { x.known = false }

func (x *expansion) part(p syntax.WordPart, first bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		x.lit(p, first)
	case *syntax.SglQuoted:
		x.quotes = true
		if p.Dollar {
			x.d.unclear("$'...' is not followed")
			x.write(ansi(p.Value), false)
			return
		}
		x.write(p.Value, false)
	case *syntax.DblQuoted:
		x.double(p)
	case *syntax.ParamExp:
		x.param(p, false)
	case *syntax.CmdSubst:
		x.subst(p.Stmts, "a command substitution is not followed")
		x.lost()
	case *syntax.ProcSubst:
		x.process(p)
	case *syntax.ArithmExp:
		x.arithmetic(p)
	default:
		x.d.unclear("%s is not followed", x.r.source(p.Pos(), p.End()))
		x.lost()
	}
}

// lit takes text without quotes.
func (x *expansion) lit(l *syntax.Lit, first bool) {
	text := l.Value
	if strings.ContainsFunc(text, func(c rune) bool { return c > 0x7e }) {
		x.d.unclear("%q has letters that only look like code", text)
	}
	if first && strings.HasPrefix(text, "~") || strings.Contains(text, "=~") || strings.Contains(text, ":~") {
		x.d.unclear("%s is a home directory", text)
		if first && strings.HasPrefix(text, "~") {
			x.lost()
			return
		}
	}
	if strings.Contains(text, `\`) {
		switch text {
		case `\(`, `\)`, `\;`, `\!`:
		default:
			x.d.unclear("%s has a backslash without quotes", text)
		}
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' && i+1 < len(text) {
				if i++; text[i] == '\n' {
					continue
				}
				x.write(text[i:i+1], false)
				continue
			}
			x.glob = x.glob || strings.IndexByte("*?[", text[i]) >= 0
			x.write(text[i:i+1], true)
		}
		return
	}
	x.glob = x.glob || strings.ContainsAny(text, "*?[")
	x.write(text, true)
}

func (x *expansion) double(q *syntax.DblQuoted) {
	if q.Dollar {
		x.d.unclear(`$"..." is not followed`)
	}
	x.quotes = true
	if len(q.Parts) == 0 {
		x.write("", false)
	}
	for _, part := range q.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			x.write(unescape(p.Value), false)
		case *syntax.ParamExp:
			x.param(p, true)
		default:
			x.part(part, false)
		}
	}
}

// unescape takes away the backslashes that count between double quotes.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// param takes a variable that the script itself has set.
func (x *expansion) param(p *syntax.ParamExp, inQuotes bool) {
	simple := p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil &&
		p.Index == nil && len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
	if !simple {
		x.d.unclear("%s is not followed", x.r.source(p.Pos(), p.End()))
		x.within(p)
		x.fallback(p)
		return
	}
	var v value
	set := false
	if x.d.s != nil {
		v, set = x.d.s.vars[p.Param.Value]
	}
	switch {
	case !set:
		x.d.unclear("$%s is not set here", p.Param.Value)
		x.lost()
	case !v.known:
		if !inQuotes {
			x.d.unclear("$%s is not known and has no quotes", p.Param.Value)
		}
		x.lost()
	case !inQuotes && strings.ContainsAny(v.text, " \t\n*?[\\"):
		x.d.unclear("$%s has no quotes, and would be more than a word", p.Param.Value)
		x.lost()
	default:
		x.gone = x.gone || !inQuotes
		x.write(v.text, false)
	}
}

// within follows the commands in a node that is not followed itself.
func (x *expansion) within(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CmdSubst); ok {
			x.inner(c.Stmts)
			return false
		}
		return true
	})
}

// fallback proves what can be of ${x:-word}, where x is not set.
func (x *expansion) fallback(p *syntax.ParamExp) {
	if p.Exp == nil || p.Exp.Word == nil || p.Param == nil {
		x.lost()
		return
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		for _, part := range p.Exp.Word.Parts {
			if l, ok := part.(*syntax.Lit); ok {
				x.write(l.Value, false)
				continue
			}
			x.lost()
		}
	default:
		x.lost()
	}
}

// subst follows the commands within a word.
func (x *expansion) subst(stmts []*syntax.Stmt, why string) {
	x.d.unclear("%s", why)
	x.inner(stmts)
}

func (x *expansion) inner(stmts []*syntax.Stmt) {
	s := state{}
	if x.d.s != nil {
		s = *x.d.s
	}
	x.r.stmts(stmts, s)
}

func (x *expansion) process(p *syntax.ProcSubst) {
	if p.Op != syntax.CmdIn {
		x.subst(p.Stmts, "a process substitution is not followed")
		x.lost()
		return
	}
	x.inner(p.Stmts)
	x.pipe = true
}

// arithmetic takes sums of digits; anything else can assign, or run commands.
func (x *expansion) arithmetic(p *syntax.ArithmExp) {
	syntax.Walk(p.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, *syntax.Word:
			return true
		case *syntax.Lit:
			if strings.Trim(n.Value, "0123456789") == "" {
				return true
			}
		}
		x.d.unclear("arithmetic is only followed over digits")
		return false
	})
	x.within(p)
	x.lost()
}

// ansi decodes the common escapes of $'...'.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'x':
			n, digits := 0, 0
			for digits < 2 && i+1 < len(text) {
				h := strings.IndexByte("0123456789abcdef", text[i+1]|0x20)
				if h < 0 {
					break
				}
				n, digits, i = n*16+h, digits+1, i+1
			}
			b.WriteByte(byte(n))
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 0
			for digits := 0; digits < 3 && i < len(text) && text[i] >= '0' && text[i] <= '7'; digits++ {
				n, i = n*8+int(text[i]-'0'), i+1
			}
			i--
			b.WriteByte(byte(n))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
