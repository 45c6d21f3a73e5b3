package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An expansion is one word while it is put together.
type expansion struct {
	r       *run
	d       *deed
	text    strings.Builder
	pattern strings.Builder
	known   bool
	glob    bool
	pipe    bool
	output  string // that it is a pipe of
	gone    bool   // it has a variable without quotes
	quotes  bool   // it has quotes
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
	if x.r.lang == syntax.LangPOSIX && strings.HasSuffix(text, "$") {
		x.d.unclear("%s may be a quote to some shells", text)
	}
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
